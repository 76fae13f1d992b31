//! Lanes in single precision: two particles i against eight particles j, or four against four.

use super::{Lanes, add_columns, columns_of_quads, wide};
use crate::pair::law::{Parity, Reduction, Sum};
use crate::pair::record::{QUAD, Records, SINGLE};
use fearless_simd::prelude::*;
use fearless_simd::{Simd, f32x4, f32x8, f32x16, f64x8, u8x64};

impl<S: Simd> Lanes for f32x16<S> {
    type Scalar = f32;
    const ROWS: usize = 2;
    #[inline(always)]
    fn meeting(row: usize, particle: usize) -> usize {
        4 * particle + row
    }
    #[inline(always)]
    fn every(token: S, value: f32) -> Self {
        Self::splat(token, value)
    }
    #[inline(always)]
    fn read_quads<const NUMBER: usize>(
        token: S,
        records: &Records<[f32; SINGLE]>,
        starts: &[u16],
    ) -> [Self; QUAD] {
        columns_of_quads!(
            four::<S, NUMBER>(token, records, &starts[..4]),
            four::<S, NUMBER>(token, records, &starts[4..8]),
            four::<S, NUMBER>(token, records, &starts[8..12]),
            four::<S, NUMBER>(token, records, &starts[12..16])
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
    fn repeat(token: S, values: &[f32]) -> Self {
        let half = f32x8::from_slice(token, values);
        half.combine(half)
    }
    #[inline(always)]
    fn join_wide(token: S, values: &[f32], reduction: Reduction, totals: &mut [f64]) {
        let had = f64x8::from_slice(token, totals);
        let (first, second) = f32x16::from_slice(token, values).split();
        reduction.join(reduction.join(had, wide(first)), wide(second)).store_slice(totals);
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
    fn spread(token: S, values: &[f32], first: usize) -> Self {
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
    fn fours(token: S, values: &[f32]) -> Self {
        four_times(f32x4::from_slice(token, values))
    }
    #[inline(always)]
    fn rows_of_quads(token: S, records: &[f32], quads: usize, number: usize) -> [Self; QUAD] {
        let [a, b, c, d] = turned(
            f32x4::from_slice(token, &records[number * QUAD..][..QUAD]),
            f32x4::from_slice(token, &records[(quads + number) * QUAD..][..QUAD]),
            f32x4::from_slice(token, &records[(2 * quads + number) * QUAD..][..QUAD]),
            f32x4::from_slice(token, &records[(3 * quads + number) * QUAD..][..QUAD]),
        );
        [four_times(a), four_times(b), four_times(c), four_times(d)]
    }
    #[inline(always)]
    fn particles_of_quads(
        token: S,
        records: &[f32],
        first: usize,
        quads: usize,
        number: usize,
    ) -> [Self; QUAD] {
        let quad =
            |k: usize| f32x4::from_slice(token, &records[((first + k) * quads + number) * QUAD..][..QUAD]);
        spread_quads(quad(0), quad(1), quad(2), quad(3))
    }
    #[inline(always)]
    fn meet_quads(
        token: S,
        records: &Records<[f32; SINGLE]>,
        begins: &[usize],
        number: usize,
    ) -> [Self; QUAD] {
        let a = f32x4::from_slice(token, &records.values[begins[0] + number * QUAD..][..QUAD]);
        let b = f32x4::from_slice(token, &records.values[begins[1] + number * QUAD..][..QUAD]);
        let c = f32x4::from_slice(token, &records.values[begins[2] + number * QUAD..][..QUAD]);
        let d = f32x4::from_slice(token, &records.values[begins[3] + number * QUAD..][..QUAD]);
        spread_quads(a, b, c, d)
    }
    #[inline(always)]
    fn give_quads(
        [a, b, c, d]: [Self; QUAD],
        records: &mut Records<[f32; SINGLE]>,
        begins: &[usize],
        number: usize,
    ) {
        let token = a.simd;
        let (odd, upper) = (Self::mask(token, 0xaaaa), Self::mask(token, 0xcccc));
        let swapped = u8x64::from_slice(token, &SWAPPED);
        // a01 b01 a23 b23, and those of c and d
        let ab = odd.select(b, a) + odd.select(a, b).swizzle_dyn_within_blocks(swapped);
        let cd = odd.select(d, c) + odd.select(c, d).swizzle_dyn_within_blocks(swapped);
        let sums = upper.select(cd, ab) + ab.slide_within_blocks::<2>(cd);
        let (low, high) = sums.split();
        let ((a, b), (c, d)) = (low.split(), high.split());
        let given = [a, b, c, d];
        for group in 0..4 {
            let quad = &mut records.values[begins[group] + number * QUAD..][..QUAD];
            (f32x4::from_slice(token, quad) + given[group]).store_slice(quad);
        }
    }
    #[inline(always)]
    fn give_rows([a, b, c, d]: [Self; QUAD], records: &mut [f32], quads: usize, number: usize) {
        let rows = turned(rows_joined(a), rows_joined(b), rows_joined(c), rows_joined(d));
        for k in 0..QUAD {
            let quad = &mut records[(k * quads + number) * QUAD..][..QUAD];
            (f32x4::from_slice(a.simd, quad) + rows[k]).store_slice(quad);
        }
    }
    #[inline(always)]
    fn join_quads<'a>(token: S, quads: impl Fn(usize) -> &'a [f32], sums: &[Sum], totals: &mut [f64]) {
        let (a, b) = (Self::from_slice(token, quads(0)), Self::from_slice(token, quads(1)));
        let [a, b, c, d] = columns_of_quads!(a, b, a, b);
        let columns = [wide(a.split().0), wide(b.split().0), wide(c.split().0), wide(d.split().0)];
        add_columns(columns, sums, totals);
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
    fn halve(self, other: Self, reduction: Reduction) -> Self {
        reduction.join(self.unzip_low(other), self.unzip_high(other))
    }
    #[inline(always)]
    fn join_into(self, sum: Sum, target: &mut [f32]) {
        let had = Self::from_slice(self.simd, target);
        let joined = match (sum.reduction, sum.parity) {
            (Reduction::Sum, Parity::Odd) => had - self,
            (reduction, _) => reduction.join(had, self),
        };
        joined.store_slice(target);
    }
}

/// Four lanes in every four.
#[inline(always)]
fn four_times<S: Simd>(four: f32x4<S>) -> f32x16<S> {
    let eight = four.combine(four);
    eight.combine(eight)
}

/// Lanes 4 g + k of all g added up.
#[inline(always)]
fn rows_joined<S: Simd>(lanes: f32x16<S>) -> f32x4<S> {
    let (low, high) = lanes.split();
    let (low, high) = (low + high).split();
    low + high
}

/// Four rows of four as four columns.
#[inline(always)]
fn turned<S: Simd>(a: f32x4<S>, b: f32x4<S>, c: f32x4<S>, d: f32x4<S>) -> [f32x4<S>; QUAD] {
    let (low, high) = ((a.zip_low(c), b.zip_low(d)), (a.zip_high(c), b.zip_high(d)));
    [low.0.zip_low(low.1), low.0.zip_high(low.1), high.0.zip_low(high.1), high.0.zip_high(high.1)]
}

/// The columns of four quads, each value in four lanes.
#[inline(always)]
fn spread_quads<S: Simd>(a: f32x4<S>, b: f32x4<S>, c: f32x4<S>, d: f32x4<S>) -> [f32x16<S>; QUAD] {
    let four = a.combine(b).combine(c.combine(d));
    [
        four.swizzle_dyn_within_blocks(u8x64::from_slice(a.simd, &SPREAD[0])),
        four.swizzle_dyn_within_blocks(u8x64::from_slice(a.simd, &SPREAD[1])),
        four.swizzle_dyn_within_blocks(u8x64::from_slice(a.simd, &SPREAD[2])),
        four.swizzle_dyn_within_blocks(u8x64::from_slice(a.simd, &SPREAD[3])),
    ]
}

/// By column of a quad the bytes that each four lanes take of theirs: that column, four times.
const SPREAD: [[u8; 64]; QUAD] = {
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

/// The bytes that each two lanes take of theirs: those of the other lane.
const SWAPPED: [u8; 64] = {
    let mut bytes = [0; 64];
    let mut k = 0;
    while k < 64 {
        bytes[k] = (k % 16) as u8 ^ 4;
        k += 1;
    }
    bytes
};

/// A quad of a record.
#[inline(always)]
fn quad_f32<S: Simd, const NUMBER: usize>(
    token: S,
    records: &Records<[f32; SINGLE]>,
    start: u16,
) -> f32x4<S> {
    f32x4::from_slice(token, &records.values[2 * start as usize + NUMBER * QUAD..][..QUAD])
}

/// A quad of each of four records.
#[inline(always)]
fn four<S: Simd, const NUMBER: usize>(
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
