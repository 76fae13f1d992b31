//! Lanes in double precision: one particle i against eight particles j, or four against two.

use super::{Lanes, add_columns, columns_of_quads};
use crate::pair::law::{Parity, Reduction, Sum};
use crate::pair::record::{DOUBLE, QUAD, Records};
use fearless_simd::prelude::*;
use fearless_simd::{Simd, f64x2, f64x4, f64x8};

impl<S: Simd> Lanes for f64x8<S> {
    type Scalar = f64;
    const ROWS: usize = 1;
    // rows 0 and 1 of one particle and of the other, then rows 2 and 3: sums of lanes then end as quads
    #[inline(always)]
    fn meeting(row: usize, particle: usize) -> usize {
        row / 2 * 4 + particle * 2 + row % 2
    }
    #[inline(always)]
    fn every(token: S, value: f64) -> Self {
        Self::splat(token, value)
    }
    #[inline(always)]
    fn read_quads<const NUMBER: usize>(
        token: S,
        records: &Records<[f64; DOUBLE]>,
        starts: &[u16],
    ) -> [Self; QUAD] {
        columns_of_quads!(
            two::<S, NUMBER>(token, records, &starts[..2]),
            two::<S, NUMBER>(token, records, &starts[2..4]),
            two::<S, NUMBER>(token, records, &starts[4..6]),
            two::<S, NUMBER>(token, records, &starts[6..8])
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
    fn repeat(token: S, values: &[f64]) -> Self {
        Self::from_slice(token, values)
    }
    #[inline(always)]
    fn join_wide(token: S, values: &[f64], reduction: Reduction, totals: &mut [f64]) {
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
    fn spread(token: S, values: &[f64], first: usize) -> Self {
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
    fn fours(token: S, values: &[f64]) -> Self {
        let four = f64x4::from_slice(token, values);
        four.combine(four)
    }
    #[inline(always)]
    fn rows_of_quads(token: S, records: &[f64], quads: usize, number: usize) -> [Self; QUAD] {
        let [a, b, c, d] = turned(
            f64x4::from_slice(token, &records[number * QUAD..][..QUAD]),
            f64x4::from_slice(token, &records[(quads + number) * QUAD..][..QUAD]),
            f64x4::from_slice(token, &records[(2 * quads + number) * QUAD..][..QUAD]),
            f64x4::from_slice(token, &records[(3 * quads + number) * QUAD..][..QUAD]),
        );
        [pairs_twice(a), pairs_twice(b), pairs_twice(c), pairs_twice(d)]
    }
    #[inline(always)]
    fn particles_of_quads(
        token: S,
        records: &[f64],
        first: usize,
        quads: usize,
        number: usize,
    ) -> [Self; QUAD] {
        let quad = |k: usize| &records[((first + k) * quads + number) * QUAD..][..QUAD];
        spread_quads(token, quad(0), quad(1))
    }
    #[inline(always)]
    fn meet_quads(
        token: S,
        records: &Records<[f64; DOUBLE]>,
        begins: &[usize],
        number: usize,
    ) -> [Self; QUAD] {
        let a = &records.values[begins[0] + number * QUAD..][..QUAD];
        let b = &records.values[begins[1] + number * QUAD..][..QUAD];
        spread_quads(token, a, b)
    }
    #[inline(always)]
    fn give_quads(
        [a, b, c, d]: [Self; QUAD],
        records: &mut Records<[f64; DOUBLE]>,
        begins: &[usize],
        number: usize,
    ) {
        let token = a.simd;
        let odd = Self::mask(token, 0xaa);
        // a b of rows 0 and 1, for one particle and the other; then of rows 2 and 3; and those of c and d
        let ab = odd.select(b, a) + swapped(odd.select(a, b));
        let cd = odd.select(d, c) + swapped(odd.select(c, d));
        let ((a, b), (c, d)) = (rows_joined(ab), rows_joined(cd));
        let given = [a.combine(c), b.combine(d)];
        for group in 0..2 {
            let quad = &mut records.values[begins[group] + number * QUAD..][..QUAD];
            (f64x4::from_slice(token, quad) + given[group]).store_slice(quad);
        }
    }
    #[inline(always)]
    fn give_rows([a, b, c, d]: [Self; QUAD], records: &mut [f64], quads: usize, number: usize) {
        let rows = turned(both_joined(a), both_joined(b), both_joined(c), both_joined(d));
        for k in 0..QUAD {
            let quad = &mut records[(k * quads + number) * QUAD..][..QUAD];
            (f64x4::from_slice(a.simd, quad) + rows[k]).store_slice(quad);
        }
    }
    #[inline(always)]
    fn join_quads<'a>(token: S, quads: impl Fn(usize) -> &'a [f64], sums: &[Sum], totals: &mut [f64]) {
        let columns = columns_of_quads!(
            Self::from_slice(token, quads(0)),
            Self::from_slice(token, quads(1)),
            Self::from_slice(token, quads(2)),
            Self::from_slice(token, quads(3))
        );
        add_columns(columns, sums, totals);
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
    fn halve(self, other: Self, reduction: Reduction) -> Self {
        reduction.join(self.unzip_low(other), self.unzip_high(other))
    }
    #[inline(always)]
    fn join_into(self, sum: Sum, target: &mut [f64]) {
        let had = Self::from_slice(self.simd, target);
        let joined = match (sum.reduction, sum.parity) {
            (Reduction::Sum, Parity::Odd) => had - self,
            (reduction, _) => reduction.join(had, self),
        };
        joined.store_slice(target);
    }
}

/// The first two of four values twice, then the others: rows of a tile.
#[inline(always)]
fn pairs_twice<S: Simd>(four: f64x4<S>) -> f64x8<S> {
    let (first, last) = four.split();
    first.combine(first).combine(last.combine(last))
}

/// The halves added up, two lanes for each of a tile's particles.
#[inline(always)]
fn rows_joined<S: Simd>(lanes: f64x8<S>) -> (f64x2<S>, f64x2<S>) {
    let (low, high) = lanes.split();
    (low + high).split()
}

/// What the rows of a tile have from both particles.
#[inline(always)]
fn both_joined<S: Simd>(lanes: f64x8<S>) -> f64x4<S> {
    let (low, high) = lanes.split();
    let ((a, b), (c, d)) = (low.split(), high.split());
    (a + b).combine(c + d)
}

/// Four rows of four as four columns.
#[inline(always)]
fn turned<S: Simd>(a: f64x4<S>, b: f64x4<S>, c: f64x4<S>, d: f64x4<S>) -> [f64x4<S>; QUAD] {
    let (low, high) = ((a.zip_low(c), b.zip_low(d)), (a.zip_high(c), b.zip_high(d)));
    [low.0.zip_low(low.1), low.0.zip_high(low.1), high.0.zip_low(high.1), high.0.zip_high(high.1)]
}

/// The columns of two quads, each value in the lanes of a particle of a tile.
#[inline(always)]
fn spread_quads<S: Simd>(token: S, a: &[f64], b: &[f64]) -> [f64x8<S>; QUAD] {
    [
        spread_two(token, a[0], b[0]),
        spread_two(token, a[1], b[1]),
        spread_two(token, a[2], b[2]),
        spread_two(token, a[3], b[3]),
    ]
}

/// A value in the lanes of one particle of a tile, another one in those of the other: a load that spreads a value, and one that does so
/// to half of the lanes.
#[inline(always)]
fn spread_two<S: Simd>(token: S, a: f64, b: f64) -> f64x8<S> {
    f64x8::mask(token, 0xcc).select(f64x8::splat(token, b), f64x8::splat(token, a))
}

/// Each two lanes the other way round.
#[inline(always)]
fn swapped<S: Simd>(values: f64x8<S>) -> f64x8<S> {
    let even = values.unzip_low(values);
    let odd = values.unzip_high(values);
    odd.zip_low(even)
}

/// A quad of a record.
#[inline(always)]
fn quad_f64<S: Simd, const NUMBER: usize>(
    token: S,
    records: &Records<[f64; DOUBLE]>,
    start: u16,
) -> f64x4<S> {
    f64x4::from_slice(token, &records.values[start as usize + NUMBER * QUAD..][..QUAD])
}

/// A quad of each of two records.
#[inline(always)]
fn two<S: Simd, const NUMBER: usize>(token: S, records: &Records<[f64; DOUBLE]>, starts: &[u16]) -> f64x8<S> {
    let a = quad_f64::<S, NUMBER>(token, records, starts[0]);
    let b = quad_f64::<S, NUMBER>(token, records, starts[1]);
    a.combine(b)
}
