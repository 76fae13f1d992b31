//! Single-precision lanes (16): two particles i against eight particles j, or a tile of four rows against
//! four particles.

use super::{Lanes, accumulate_columns, columns_of_quads, widened};
use crate::simd::records::{QUAD, Records, SINGLE};
use crate::simd::reduction::{Parity, Reduction, Sum};
use fearless_simd::prelude::*;
use fearless_simd::{Simd, f32x4, f32x8, f32x16, f64x8, u8x64};

impl<S: Simd> Lanes for f32x16<S> {
    type Scalar = f32;
    const ROWS: usize = 2;
    #[inline(always)]
    fn tile_lane(row: usize, particle: usize) -> usize {
        4 * particle + row
    }
    #[inline(always)]
    fn broadcast(token: S, value: f32) -> Self {
        Self::splat(token, value)
    }
    #[inline(always)]
    fn gather_quads<const NUMBER: usize>(
        token: S,
        records: &Records<[f32; SINGLE]>,
        starts: &[u16],
    ) -> [Self; QUAD] {
        columns_of_quads!(
            gather_four::<S, NUMBER>(token, records, &starts[..4]),
            gather_four::<S, NUMBER>(token, records, &starts[4..8]),
            gather_four::<S, NUMBER>(token, records, &starts[8..12]),
            gather_four::<S, NUMBER>(token, records, &starts[12..16])
        )
    }
    #[inline(always)]
    fn mask(token: S, bits: u64) -> Self::Mask {
        SimdMask::from_bitmask(token, bits)
    }
    #[inline(always)]
    fn load(token: S, values: &[f32]) -> Self {
        Self::from_slice(token, values)
    }
    #[inline(always)]
    fn repeat_rows(token: S, values: &[f32]) -> Self {
        let half = f32x8::from_slice(token, values);
        half.combine(half)
    }
    #[inline(always)]
    fn reduce_to_double(token: S, values: &[f32], reduction: Reduction, totals: &mut [f64]) {
        let previous = f64x8::from_slice(token, totals);
        let (first, second) = f32x16::from_slice(token, values).split();
        reduction.join(reduction.join(previous, widened(first)), widened(second)).store_slice(totals);
    }
    #[inline(always)]
    fn shift(token: S, values: &[f32], by: f32, shifted: &mut [f32]) {
        (f32x8::from_slice(token, values) + f32x8::splat(token, by)).store_slice(shifted);
    }
    #[inline(always)]
    fn scale_narrow(token: S, values: &[f32], factor: f64, scaled: &mut [f32]) {
        (f32x8::from_slice(token, values) * f32x8::splat(token, factor as f32)).store_slice(scaled);
    }
    #[inline(always)]
    fn broadcast_rows(token: S, values: &[f32], first: usize) -> Self {
        f32x8::splat(token, values[first]).combine(f32x8::splat(token, values[first + 1]))
    }
    #[inline(always)]
    fn write_quads(token: S, columns: [&[f32]; QUAD], records: &mut [f32], quads: usize, number: usize) {
        let (a, b) = (f32x8::from_slice(token, columns[0]), f32x8::from_slice(token, columns[1]));
        let (c, d) = (f32x8::from_slice(token, columns[2]), f32x8::from_slice(token, columns[3]));
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
    fn repeat_quad(token: S, values: &[f32]) -> Self {
        repeat_four_times(f32x4::from_slice(token, values))
    }
    #[inline(always)]
    fn load_row_quads(token: S, records: &[f32], quads: usize, number: usize) -> [Self; QUAD] {
        let [a, b, c, d] = transpose(
            f32x4::from_slice(token, &records[number * QUAD..][..QUAD]),
            f32x4::from_slice(token, &records[(quads + number) * QUAD..][..QUAD]),
            f32x4::from_slice(token, &records[(2 * quads + number) * QUAD..][..QUAD]),
            f32x4::from_slice(token, &records[(3 * quads + number) * QUAD..][..QUAD]),
        );
        [repeat_four_times(a), repeat_four_times(b), repeat_four_times(c), repeat_four_times(d)]
    }
    #[inline(always)]
    fn load_particle_quads(
        token: S,
        records: &[f32],
        first: usize,
        quads: usize,
        number: usize,
    ) -> [Self; QUAD] {
        let quad =
            |k: usize| f32x4::from_slice(token, &records[((first + k) * quads + number) * QUAD..][..QUAD]);
        broadcast_quads(quad(0), quad(1), quad(2), quad(3))
    }
    #[inline(always)]
    fn gather_particle_quads(
        token: S,
        records: &Records<[f32; SINGLE]>,
        begins: &[usize],
        number: usize,
    ) -> [Self; QUAD] {
        let a = f32x4::from_slice(token, &records.values[begins[0] + number * QUAD..][..QUAD]);
        let b = f32x4::from_slice(token, &records.values[begins[1] + number * QUAD..][..QUAD]);
        let c = f32x4::from_slice(token, &records.values[begins[2] + number * QUAD..][..QUAD]);
        let d = f32x4::from_slice(token, &records.values[begins[3] + number * QUAD..][..QUAD]);
        broadcast_quads(a, b, c, d)
    }
    #[inline(always)]
    fn scatter_add_quads(
        [a, b, c, d]: [Self; QUAD],
        records: &mut Records<[f32; SINGLE]>,
        begins: &[usize],
        number: usize,
    ) {
        let token = a.simd;
        let (odd, upper) = (Self::mask(token, 0xaaaa), Self::mask(token, 0xcccc));
        let swap = u8x64::from_slice(token, &SWAP_BYTES);
        // Lanes a01 b01 a23 b23 of each particle (columns a, b; sums of rows 0 and 1, 2 and 3); `cd` is the
        // same of c and d.
        let ab = odd.select(b, a) + odd.select(a, b).swizzle_dyn_within_blocks(swap);
        let cd = odd.select(d, c) + odd.select(c, d).swizzle_dyn_within_blocks(swap);
        let sums = upper.select(cd, ab) + ab.slide_within_blocks::<2>(cd);
        let (low, high) = sums.split();
        let ((a, b), (c, d)) = (low.split(), high.split());
        let sums_of_particle = [a, b, c, d];
        for group in 0..4 {
            let quad = &mut records.values[begins[group] + number * QUAD..][..QUAD];
            (f32x4::from_slice(token, quad) + sums_of_particle[group]).store_slice(quad);
        }
    }
    #[inline(always)]
    fn add_row_quads([a, b, c, d]: [Self; QUAD], records: &mut [f32], quads: usize, number: usize) {
        let rows = transpose(sum_particles(a), sum_particles(b), sum_particles(c), sum_particles(d));
        for k in 0..QUAD {
            let quad = &mut records[(k * quads + number) * QUAD..][..QUAD];
            (f32x4::from_slice(a.simd, quad) + rows[k]).store_slice(quad);
        }
    }
    #[inline(always)]
    fn reduce_quads<'a>(token: S, quads: impl Fn(usize) -> &'a [f32], sums: &[Sum], totals: &mut [f64]) {
        let (a, b) = (Self::from_slice(token, quads(0)), Self::from_slice(token, quads(1)));
        let [a, b, c, d] = columns_of_quads!(a, b, a, b);
        let columns =
            [widened(a.split().0), widened(b.split().0), widened(c.split().0), widened(d.split().0)];
        accumulate_columns(columns, sums, totals);
    }
    #[inline(always)]
    fn bits(mask: Self::Mask) -> u64 {
        mask.to_bitmask()
    }
    #[inline(always)]
    fn store(self, values: &mut [f32]) {
        self.store_slice(values);
    }
    #[inline(always)]
    fn lanes(&self) -> &[f32] {
        self.as_slice()
    }
    #[inline(always)]
    fn join_adjacent(self, other: Self, reduction: Reduction) -> Self {
        reduction.join(self.unzip_low(other), self.unzip_high(other))
    }
    #[inline(always)]
    fn accumulate_into(self, sum: Sum, target: &mut [f32]) {
        let previous = Self::from_slice(self.simd, target);
        let joined = match (sum.reduction, sum.parity) {
            (Reduction::Sum, Parity::Odd) => previous - self,
            (reduction, _) => reduction.join(previous, self),
        };
        joined.store_slice(target);
    }
}

/// Repeats four values in every group of four lanes.
#[inline(always)]
fn repeat_four_times<S: Simd>(four: f32x4<S>) -> f32x16<S> {
    let eight = four.combine(four);
    eight.combine(eight)
}

/// Sums lanes 4g + k over g: over the particles of a tile.
#[inline(always)]
fn sum_particles<S: Simd>(lanes: f32x16<S>) -> f32x4<S> {
    let (low, high) = lanes.split();
    let (low, high) = (low + high).split();
    low + high
}

/// Transposes a 4 x 4 block.
#[inline(always)]
fn transpose<S: Simd>(a: f32x4<S>, b: f32x4<S>, c: f32x4<S>, d: f32x4<S>) -> [f32x4<S>; QUAD] {
    let (low, high) = ((a.zip_low(c), b.zip_low(d)), (a.zip_high(c), b.zip_high(d)));
    [low.0.zip_low(low.1), low.0.zip_high(low.1), high.0.zip_low(high.1), high.0.zip_high(high.1)]
}

/// Columns of four quads: a value is broadcast to the four lanes of its particle.
#[inline(always)]
fn broadcast_quads<S: Simd>(a: f32x4<S>, b: f32x4<S>, c: f32x4<S>, d: f32x4<S>) -> [f32x16<S>; QUAD] {
    let four = a.combine(b).combine(c.combine(d));
    [
        four.swizzle_dyn_within_blocks(u8x64::from_slice(a.simd, &BROADCAST_BYTES[0])),
        four.swizzle_dyn_within_blocks(u8x64::from_slice(a.simd, &BROADCAST_BYTES[1])),
        four.swizzle_dyn_within_blocks(u8x64::from_slice(a.simd, &BROADCAST_BYTES[2])),
        four.swizzle_dyn_within_blocks(u8x64::from_slice(a.simd, &BROADCAST_BYTES[3])),
    ]
}

/// Per column of a quad, the byte shuffle within 16-byte blocks that repeats this column four times.
const BROADCAST_BYTES: [[u8; 64]; QUAD] = {
    let mut bytes = [[0; 64]; QUAD];
    let mut column = 0;
    while column < QUAD {
        let mut k = 0;
        while k < 64 {
            bytes[column][k] = (4 * column + k % 4) as u8;
            k += 1;
        }
        column += 1;
    }
    bytes
};

/// Byte shuffle within 16-byte blocks that swaps adjacent lanes.
const SWAP_BYTES: [u8; 64] = {
    let mut bytes = [0; 64];
    let mut k = 0;
    while k < 64 {
        bytes[k] = (k % 16) as u8 ^ 4;
        k += 1;
    }
    bytes
};

/// Loads quad `NUMBER` of a record.
#[inline(always)]
fn quad_f32<S: Simd, const NUMBER: usize>(
    token: S,
    records: &Records<[f32; SINGLE]>,
    start: u16,
) -> f32x4<S> {
    f32x4::from_slice(token, &records.values[2 * start as usize + NUMBER * QUAD..][..QUAD])
}

/// Loads quad `NUMBER` of four records.
#[inline(always)]
fn gather_four<S: Simd, const NUMBER: usize>(
    token: S,
    records: &Records<[f32; SINGLE]>,
    starts: &[u16],
) -> f32x16<S> {
    let a = quad_f32::<S, NUMBER>(token, records, starts[0]);
    let b = quad_f32::<S, NUMBER>(token, records, starts[1]);
    let c = quad_f32::<S, NUMBER>(token, records, starts[2]);
    let d = quad_f32::<S, NUMBER>(token, records, starts[3]);
    a.combine(b).combine(c.combine(d))
}
