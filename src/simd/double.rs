//! Double-precision lanes (8): one particle i against eight particles j, or a tile of four rows against two
//! particles.

use super::{Lanes, accumulate_columns, columns_of_quads};
use crate::simd::records::{DOUBLE, QUAD, Records};
use crate::simd::reduction::{Parity, Reduction, Sum};
use fearless_simd::prelude::*;
use fearless_simd::{Simd, f64x2, f64x4, f64x8};

impl<S: Simd> Lanes for f64x8<S> {
    type Scalar = f64;
    const ROWS: usize = 1;
    // Rows 0 and 1 of both particles, then rows 2 and 3 of both: sums over the rows then end up as quads.
    #[inline(always)]
    fn tile_lane(row: usize, particle: usize) -> usize {
        row / 2 * 4 + particle * 2 + row % 2
    }
    #[inline(always)]
    fn broadcast(token: S, value: f64) -> Self {
        Self::splat(token, value)
    }
    #[inline(always)]
    fn gather_quads<const NUMBER: usize>(
        token: S,
        records: &Records<[f64; DOUBLE]>,
        starts: &[u16],
    ) -> [Self; QUAD] {
        columns_of_quads!(
            gather_two::<S, NUMBER>(token, records, &starts[..2]),
            gather_two::<S, NUMBER>(token, records, &starts[2..4]),
            gather_two::<S, NUMBER>(token, records, &starts[4..6]),
            gather_two::<S, NUMBER>(token, records, &starts[6..8])
        )
    }
    #[inline(always)]
    fn mask(token: S, bits: u64) -> Self::Mask {
        SimdMask::from_bitmask(token, bits)
    }
    #[inline(always)]
    fn load(token: S, values: &[f64]) -> Self {
        Self::from_slice(token, values)
    }
    #[inline(always)]
    fn repeat_rows(token: S, values: &[f64]) -> Self {
        Self::from_slice(token, values)
    }
    #[inline(always)]
    fn reduce_to_double(token: S, values: &[f64], reduction: Reduction, totals: &mut [f64]) {
        reduction.join(f64x8::from_slice(token, totals), Self::from_slice(token, values)).store_slice(totals);
    }
    #[inline(always)]
    fn shift(token: S, values: &[f64], by: f64, shifted: &mut [f64]) {
        (f64x8::from_slice(token, values) + f64x8::splat(token, by)).store_slice(shifted);
    }
    #[inline(always)]
    fn scale_narrow(_: S, values: &[f64], factor: f64, scaled: &mut [f32]) {
        values.iter().zip(scaled).for_each(|(value, scaled)| *scaled = (value * factor) as f32);
    }
    #[inline(always)]
    fn broadcast_rows(token: S, values: &[f64], first: usize) -> Self {
        Self::splat(token, values[first])
    }
    #[inline(always)]
    fn write_quads(token: S, columns: [&[f64]; QUAD], records: &mut [f64], quads: usize, number: usize) {
        let (a, b) = (Self::from_slice(token, columns[0]), Self::from_slice(token, columns[1]));
        let (c, d) = (Self::from_slice(token, columns[2]), Self::from_slice(token, columns[3]));
        let (low, high) = ((a.zip_low(c), b.zip_low(d)), (a.zip_high(c), b.zip_high(d)));
        let pairs =
            [low.0.zip_low(low.1), low.0.zip_high(low.1), high.0.zip_low(high.1), high.0.zip_high(high.1)];
        for k in 0..QUAD {
            let (even, odd) = pairs[k].split();
            even.store_slice(&mut records[(2 * k * quads + number) * QUAD..][..QUAD]);
            odd.store_slice(&mut records[((2 * k + 1) * quads + number) * QUAD..][..QUAD]);
        }
    }
    #[inline(always)]
    fn repeat_quad(token: S, values: &[f64]) -> Self {
        let four = f64x4::from_slice(token, values);
        four.combine(four)
    }
    #[inline(always)]
    fn load_row_quads(token: S, records: &[f64], quads: usize, number: usize) -> [Self; QUAD] {
        let [a, b, c, d] = transpose(
            f64x4::from_slice(token, &records[number * QUAD..][..QUAD]),
            f64x4::from_slice(token, &records[(quads + number) * QUAD..][..QUAD]),
            f64x4::from_slice(token, &records[(2 * quads + number) * QUAD..][..QUAD]),
            f64x4::from_slice(token, &records[(3 * quads + number) * QUAD..][..QUAD]),
        );
        [repeat_pairs(a), repeat_pairs(b), repeat_pairs(c), repeat_pairs(d)]
    }
    #[inline(always)]
    fn load_particle_quads(
        token: S,
        records: &[f64],
        first: usize,
        quads: usize,
        number: usize,
    ) -> [Self; QUAD] {
        let quad = |k: usize| &records[((first + k) * quads + number) * QUAD..][..QUAD];
        broadcast_quads(token, quad(0), quad(1))
    }
    #[inline(always)]
    fn gather_particle_quads(
        token: S,
        records: &Records<[f64; DOUBLE]>,
        begins: &[usize],
        number: usize,
    ) -> [Self; QUAD] {
        let a = &records.values[begins[0] + number * QUAD..][..QUAD];
        let b = &records.values[begins[1] + number * QUAD..][..QUAD];
        broadcast_quads(token, a, b)
    }
    #[inline(always)]
    fn scatter_add_quads(
        [a, b, c, d]: [Self; QUAD],
        records: &mut Records<[f64; DOUBLE]>,
        begins: &[usize],
        number: usize,
    ) {
        let token = a.simd;
        let odd = Self::mask(token, 0xaa);
        // Columns a and b summed over rows 0 and 1, per particle, then over rows 2 and 3. `cd` is the same of
        // c and d.
        let ab = odd.select(b, a) + swap_adjacent(odd.select(a, b));
        let cd = odd.select(d, c) + swap_adjacent(odd.select(c, d));
        let ((a, b), (c, d)) = (sum_particles_halves(ab), sum_particles_halves(cd));
        let sums_of_particle = [a.combine(c), b.combine(d)];
        for group in 0..2 {
            let quad = &mut records.values[begins[group] + number * QUAD..][..QUAD];
            (f64x4::from_slice(token, quad) + sums_of_particle[group]).store_slice(quad);
        }
    }
    #[inline(always)]
    fn add_row_quads([a, b, c, d]: [Self; QUAD], records: &mut [f64], quads: usize, number: usize) {
        let rows = transpose(sum_particles(a), sum_particles(b), sum_particles(c), sum_particles(d));
        for k in 0..QUAD {
            let quad = &mut records[(k * quads + number) * QUAD..][..QUAD];
            (f64x4::from_slice(a.simd, quad) + rows[k]).store_slice(quad);
        }
    }
    #[inline(always)]
    fn reduce_quads<'a>(token: S, quads: impl Fn(usize) -> &'a [f64], sums: &[Sum], totals: &mut [f64]) {
        let columns = columns_of_quads!(
            Self::from_slice(token, quads(0)),
            Self::from_slice(token, quads(1)),
            Self::from_slice(token, quads(2)),
            Self::from_slice(token, quads(3))
        );
        accumulate_columns(columns, sums, totals);
    }
    #[inline(always)]
    fn bits(mask: Self::Mask) -> u64 {
        mask.to_bitmask()
    }
    #[inline(always)]
    fn store(self, values: &mut [f64]) {
        self.store_slice(values);
    }
    #[inline(always)]
    fn lanes(&self) -> &[f64] {
        self.as_slice()
    }
    #[inline(always)]
    fn join_adjacent(self, other: Self, reduction: Reduction) -> Self {
        reduction.join(self.unzip_low(other), self.unzip_high(other))
    }
    #[inline(always)]
    fn accumulate_into(self, sum: Sum, target: &mut [f64]) {
        let previous = Self::from_slice(self.simd, target);
        let joined = match (sum.reduction, sum.parity) {
            (Reduction::Sum, Parity::Odd) => previous - self,
            (reduction, _) => reduction.join(previous, self),
        };
        joined.store_slice(target);
    }
}

/// Repeats the first pair of four values, then the second pair: the row lanes of a tile.
#[inline(always)]
fn repeat_pairs<S: Simd>(four: f64x4<S>) -> f64x8<S> {
    let (first, last) = four.split();
    first.combine(first).combine(last.combine(last))
}

/// Adds the two halves. Returns the two lanes of each particle of a tile.
#[inline(always)]
fn sum_particles_halves<S: Simd>(lanes: f64x8<S>) -> (f64x2<S>, f64x2<S>) {
    let (low, high) = lanes.split();
    (low + high).split()
}

/// Sums over both particles of a tile: one lane per row.
#[inline(always)]
fn sum_particles<S: Simd>(lanes: f64x8<S>) -> f64x4<S> {
    let (low, high) = lanes.split();
    let ((a, b), (c, d)) = (low.split(), high.split());
    (a + b).combine(c + d)
}

/// Transposes a 4 x 4 block.
#[inline(always)]
fn transpose<S: Simd>(a: f64x4<S>, b: f64x4<S>, c: f64x4<S>, d: f64x4<S>) -> [f64x4<S>; QUAD] {
    let (low, high) = ((a.zip_low(c), b.zip_low(d)), (a.zip_high(c), b.zip_high(d)));
    [low.0.zip_low(low.1), low.0.zip_high(low.1), high.0.zip_low(high.1), high.0.zip_high(high.1)]
}

/// Columns of two quads: a value is broadcast to all lanes of its particle.
#[inline(always)]
fn broadcast_quads<S: Simd>(token: S, a: &[f64], b: &[f64]) -> [f64x8<S>; QUAD] {
    [
        broadcast_two(token, a[0], b[0]),
        broadcast_two(token, a[1], b[1]),
        broadcast_two(token, a[2], b[2]),
        broadcast_two(token, a[3], b[3]),
    ]
}

/// Broadcasts `a` to the lanes of the first particle of a tile and `b` to those of the second: two broadcast
/// loads, the second with a mask.
#[inline(always)]
fn broadcast_two<S: Simd>(token: S, a: f64, b: f64) -> f64x8<S> {
    f64x8::mask(token, 0xcc).select(f64x8::splat(token, b), f64x8::splat(token, a))
}

/// Swaps adjacent lanes.
#[inline(always)]
fn swap_adjacent<S: Simd>(values: f64x8<S>) -> f64x8<S> {
    let even = values.unzip_low(values);
    let odd = values.unzip_high(values);
    odd.zip_low(even)
}

/// Loads quad `NUMBER` of a record.
#[inline(always)]
fn quad_f64<S: Simd, const NUMBER: usize>(
    token: S,
    records: &Records<[f64; DOUBLE]>,
    start: u16,
) -> f64x4<S> {
    f64x4::from_slice(token, &records.values[start as usize + NUMBER * QUAD..][..QUAD])
}

/// Loads quad `NUMBER` of two records.
#[inline(always)]
fn gather_two<S: Simd, const NUMBER: usize>(
    token: S,
    records: &Records<[f64; DOUBLE]>,
    starts: &[u16],
) -> f64x8<S> {
    let a = quad_f64::<S, NUMBER>(token, records, starts[0]);
    let b = quad_f64::<S, NUMBER>(token, records, starts[1]);
    a.combine(b)
}
