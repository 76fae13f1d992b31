//! Lanes as the sweep uses them: rows of particles i against eight particles j, and the choice of instructions.

mod dispatch;
mod double;
mod frame;
mod single;

pub use dispatch::{Instructions, Task, dispatch, widest};
pub use frame::{aligned, vectorize};

use super::kept::Kept;
use super::law::{Reduction, Sum};
use super::real::Real;
use super::record::{DOUBLE, QUAD, Records, SINGLE};
use crate::neighbors::CLUSTER;
use bytemuck::{Pod, Zeroable};
use fearless_simd::prelude::*;
use fearless_simd::{Simd, f32x8, f32x16, f64x8};
use std::cell::Cell;

/// The storage type of a lane.
pub trait Scalar: Pod + Send + Sync + Default + PartialOrd + std::ops::Add<Output = Self> {
    /// The lanes of this type.
    type Lanes<S: Simd>: Lanes<Scalar = Self, Token = S>;
    /// Run a task on the baseline of x86-64, where there are no single-precision lanes: vectors of sixteen would be
    /// four there, and compiling every law for them would take longer than for all others together.
    #[cfg(target_arch = "x86_64")]
    fn baseline<T: Task>(simd: fearless_simd::x86::Sse2, task: T) -> T::Output;
    /// A vector that is stored, at the begin of a line of the cache.
    type Vector: Pod + Send + Sync + AsRef<[Self]> + AsMut<[Self]>;
    /// The same number in all of a vector.
    fn vector(value: f64) -> Self::Vector;
    /// What sweeps leave for those that follow.
    fn kept() -> &'static Kept<Self>;
    /// Room for records.
    type Records;
    /// Records of this thread, so that they are not made for every chunk of a sweep.
    fn take_records() -> Box<Self::Records>;
    /// Records for the thread's next chunk.
    fn keep_records(records: Box<Self::Records>);
    /// The records' values.
    fn values_mut(records: &mut Self::Records) -> &mut [Self];
    /// Rounded from double precision.
    fn from_f64(value: f64) -> Self;
    /// Exactly.
    fn to_f64(self) -> f64;
}

thread_local! {
    static SINGLE_RECORDS: Cell<Vec<Box<Records<[f32; SINGLE]>>>> = const { Cell::new(Vec::new()) };
    static DOUBLE_RECORDS: Cell<Vec<Box<Records<[f64; DOUBLE]>>>> = const { Cell::new(Vec::new()) };
}

static KEPT_SINGLE: Kept<f32> = Kept::new();
static KEPT_DOUBLE: Kept<f64> = Kept::new();

impl Scalar for f32 {
    type Lanes<S: Simd> = f32x16<S>;
    #[cfg(target_arch = "x86_64")]
    fn baseline<T: Task>(_: fearless_simd::x86::Sse2, _: T) -> T::Output {
        unreachable!("single-precision lanes without AVX2, see Instructions::have_single")
    }
    type Vector = Stored<[f32; 16]>;
    fn vector(value: f64) -> Self::Vector {
        Stored([value as f32; 16])
    }
    fn kept() -> &'static Kept<Self> {
        &KEPT_SINGLE
    }
    type Records = Records<[f32; SINGLE]>;
    fn take_records() -> Box<Self::Records> {
        let mut kept = SINGLE_RECORDS.take();
        let records = kept.pop();
        SINGLE_RECORDS.set(kept);
        records.unwrap_or_else(|| Box::new(Records { values: [0.0; SINGLE] }))
    }
    fn keep_records(records: Box<Self::Records>) {
        let mut kept = SINGLE_RECORDS.take();
        kept.push(records);
        SINGLE_RECORDS.set(kept);
    }
    fn values_mut(records: &mut Self::Records) -> &mut [Self] {
        &mut records.values
    }
    #[inline(always)]
    fn from_f64(value: f64) -> Self {
        value as f32
    }
    #[inline(always)]
    fn to_f64(self) -> f64 {
        f64::from(self)
    }
}

impl Scalar for f64 {
    type Lanes<S: Simd> = f64x8<S>;
    #[cfg(target_arch = "x86_64")]
    fn baseline<T: Task>(simd: fearless_simd::x86::Sse2, task: T) -> T::Output {
        vectorize(
            simd,
            #[inline(always)]
            || task.run(simd),
        )
    }
    type Vector = Stored<[f64; 8]>;
    fn vector(value: f64) -> Self::Vector {
        Stored([value; 8])
    }
    fn kept() -> &'static Kept<Self> {
        &KEPT_DOUBLE
    }
    type Records = Records<[f64; DOUBLE]>;
    fn take_records() -> Box<Self::Records> {
        let mut kept = DOUBLE_RECORDS.take();
        let records = kept.pop();
        DOUBLE_RECORDS.set(kept);
        records.unwrap_or_else(|| Box::new(Records { values: [0.0; DOUBLE] }))
    }
    fn keep_records(records: Box<Self::Records>) {
        let mut kept = DOUBLE_RECORDS.take();
        kept.push(records);
        DOUBLE_RECORDS.set(kept);
    }
    fn values_mut(records: &mut Self::Records) -> &mut [Self] {
        &mut records.values
    }
    #[inline(always)]
    fn from_f64(value: f64) -> Self {
        value
    }
    #[inline(always)]
    fn to_f64(self) -> f64 {
        self
    }
}

/// The lanes of a vector, in a line of the cache.
#[derive(Clone, Copy, Zeroable)]
#[repr(C, align(64))]
pub struct Stored<A>(A);

const _: () = assert!(size_of::<Stored<[f32; 16]>>() == 64 && size_of::<Stored<[f64; 8]>>() == 64);
// SAFETY: they fill their line, see above.
unsafe impl Pod for Stored<[f32; 16]> {}
// SAFETY: the same.
unsafe impl Pod for Stored<[f64; 8]> {}

impl<T, const N: usize> AsRef<[T]> for Stored<[T; N]> {
    #[inline(always)]
    fn as_ref(&self) -> &[T] {
        &self.0
    }
}

impl<T, const N: usize> AsMut<[T]> for Stored<[T; N]> {
    #[inline(always)]
    fn as_mut(&mut self) -> &mut [T] {
        &mut self.0
    }
}

/// Lanes of `ROWS` particles i times eight particles j.
pub trait Lanes: Real {
    /// What a lane stores.
    type Scalar: Scalar;
    /// How many lanes.
    const COUNT: usize = Self::ROWS * CLUSTER;
    /// The same value in all of them.
    fn every(token: Self::Token, value: Self::Scalar) -> Self;
    /// A mask from bits, lane 0 lowest.
    fn mask(token: Self::Token, bits: u64) -> Self::Mask;
    /// A quad of columns of as many records: lane k takes that number `NUMBER` of the record that begins at `starts[k]`.
    fn read_quads<const NUMBER: usize>(
        token: Self::Token,
        records: &<Self::Scalar as Scalar>::Records,
        starts: &[u16],
    ) -> [Self; QUAD];
    /// Rows: particles i side by side.
    const ROWS: usize;
    /// Lane k takes `values[k]`; there are `ROWS * 8`.
    fn load(token: Self::Token, values: &[Self::Scalar]) -> Self;
    /// Every row takes the same eight values.
    fn repeat(token: Self::Token, values: &[Self::Scalar]) -> Self;
    /// Row k takes `values[first + k]` in all of its lanes.
    fn spread(token: Self::Token, values: &[Self::Scalar], first: usize) -> Self;
    /// The quad `number` of eight records, each of `quads`, from its columns.
    fn write_quads(
        token: Self::Token,
        columns: [&[Self::Scalar]; QUAD],
        records: &mut [Self::Scalar],
        quads: usize,
        number: usize,
    );
    /// Lane 4 g + k takes `values[k]` of four.
    fn fours(token: Self::Token, values: &[Self::Scalar]) -> Self;
    /// The lane where row k of a tile, of four, meets particle g of as many as there are lanes for.
    fn meeting(row: usize, particle: usize) -> usize;
    /// A quad of columns of four records, each of `quads`: all lanes of row k of a tile take number `number` of record k.
    fn rows_of_quads(
        token: Self::Token,
        records: &[Self::Scalar],
        quads: usize,
        number: usize,
    ) -> [Self; QUAD];
    /// The same of as many records as a tile meets at once, from the record `first` on: all lanes of particle g take that of record
    /// `first + g`.
    fn particles_of_quads(
        token: Self::Token,
        records: &[Self::Scalar],
        first: usize,
        quads: usize,
        number: usize,
    ) -> [Self; QUAD];
    /// A quad of columns of as many records as a tile meets at once: all lanes of particle g take that number `number` of the record
    /// that begins at `begins[g]`.
    fn meet_quads(
        token: Self::Token,
        records: &<Self::Scalar as Scalar>::Records,
        begins: &[usize],
        number: usize,
    ) -> [Self; QUAD];
    /// Add to the quad `number` of the record that begins at `begins[g]` what the lanes of particle g add up to.
    fn give_quads(
        columns: [Self; QUAD],
        records: &mut <Self::Scalar as Scalar>::Records,
        begins: &[usize],
        number: usize,
    );
    /// Add to the quad `number` of four records, each of `quads`: to that of record k what the lanes of row k add up to.
    fn give_rows(columns: [Self; QUAD], records: &mut [Self::Scalar], quads: usize, number: usize);
    /// Add the columns of eight quads, which follow each other in vectors by their numbers, to as many totals of eight; odd sums are
    /// taken away.
    fn join_quads<'a>(
        token: Self::Token,
        quads: impl Fn(usize) -> &'a [Self::Scalar],
        sums: &[Sum],
        totals: &mut [f64],
    );
    /// The mask as bits, lane 0 lowest.
    fn bits(mask: Self::Mask) -> u64;
    /// Eight values plus one.
    fn shift(token: Self::Token, values: &[Self::Scalar], by: Self::Scalar, shifted: &mut [Self::Scalar]);
    /// Eight values times one, in single precision.
    fn scale_narrow(token: Self::Token, values: &[Self::Scalar], factor: f64, scaled: &mut [f32]);
    /// Join the rows of a vector that was stored with eight totals in double precision.
    fn join_wide(token: Self::Token, values: &[Self::Scalar], reduction: Reduction, totals: &mut [f64]);
    /// Written to as many values as there are lanes.
    fn store(self, values: &mut [Self::Scalar]);
    /// The lanes.
    fn lanes(&self) -> &[Self::Scalar];

    /// Neighboring lanes joined: those of `self` fill the first half, those of `other` the second.
    fn halve(self, other: Self, reduction: Reduction) -> Self;
    /// Joined with the vector that the target has; odd sums are taken away.
    fn join_into(self, sum: Sum, target: &mut [Self::Scalar]);

    /// The lanes of each row joined: row k of vector g comes to lane `g * ROWS + k`; G is 1, 2 or 4.
    #[inline(always)]
    fn rows<const G: usize>(mut values: [Self; G], reduction: Reduction) -> Self {
        let mut count = G;
        for _ in 0..3 {
            if count > 1 {
                count /= 2;
                for k in 0..count {
                    values[k] = values[2 * k].halve(values[2 * k + 1], reduction);
                }
            } else {
                values[0] = values[0].halve(values[0], reduction);
            }
        }
        values[0]
    }

    /// All lanes of each of eight vectors joined: those of vector k come to lane k.
    #[inline(always)]
    fn vectors(mut values: [Self; CLUSTER], reduction: Reduction) -> Self {
        for count in [4, 2, 1] {
            for k in 0..count {
                values[k] = values[2 * k].halve(values[2 * k + 1], reduction);
            }
        }
        for _ in 0..Self::ROWS.ilog2() {
            values[0] = values[0].halve(values[0], reduction);
        }
        values[0]
    }

    /// One row joined, in double precision.
    #[inline(always)]
    fn row(self, row: usize, reduction: Reduction) -> f64 {
        let lanes = &self.lanes()[row * CLUSTER..][..CLUSTER];
        lanes.iter().fold(reduction.identity(), |joined, lane| reduction.join(joined, lane.to_f64()))
    }
}

/// From four vectors of four records after each other to four vectors of a column.
macro_rules! columns_of_quads {
    ($a:expr, $b:expr, $c:expr, $d:expr) => {{
        let (a, b, c, d) = ($a, $b, $c, $d);
        let (even, odd) = ((a.unzip_low(b), c.unzip_low(d)), (a.unzip_high(b), c.unzip_high(d)));
        [even.0.unzip_low(even.1), odd.0.unzip_low(odd.1), even.0.unzip_high(even.1), odd.0.unzip_high(odd.1)]
    }};
}
use columns_of_quads;

/// Add columns to totals of eight, or take them away.
#[inline(always)]
fn add_columns<S: Simd>(columns: [f64x8<S>; QUAD], sums: &[Sum], totals: &mut [f64]) {
    let totals = totals.as_chunks_mut::<CLUSTER>().0;
    for k in 0..sums.len().min(totals.len()) {
        columns[k].join_into(sums[k], &mut totals[k]);
    }
}

/// The same numbers in double precision.
#[inline(always)]
fn wide<S: Simd>(values: f32x8<S>) -> f64x8<S> {
    let (low, high) = values.widen();
    low.combine(high)
}
