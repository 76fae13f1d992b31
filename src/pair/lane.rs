//! Lanes as the sweep uses them: rows of particles i against eight particles j, and the choice of instructions.

use super::law::{Parity, Reduction, Sum};
use super::real::Real;
use super::record::{DOUBLE, QUAD, Records, SINGLE};
use crate::neighbors::CLUSTER;
use fearless_simd::prelude::*;
use fearless_simd::{Level, Simd, f32x4, f32x8, f32x16, f64x4, f64x8};
use std::cell::Cell;

/// The storage type of a lane.
pub trait Scalar: Copy + Send + Sync + Default + PartialOrd + 'static {
    /// The lanes of this type.
    type Lanes<S: Simd>: Lanes<Scalar = Self, Token = S>;
    /// Run a task on the baseline of x86-64, where there are no single-precision lanes: vectors of sixteen would be
    /// four there, and compiling every law for them would take longer than for all others together.
    #[cfg(target_arch = "x86_64")]
    fn baseline<T: Task>(simd: fearless_simd::x86::Sse2, task: T) -> T::Output;
    /// A vector that is stored, at the begin of a line of the cache.
    type Vector: Copy + Send + AsRef<[Self]> + AsMut<[Self]>;
    /// The same number in all of a vector.
    fn vector(value: f64) -> Self::Vector;
    /// This thread's vectors, so that memory is not asked for in every sweep.
    fn take_vectors() -> Vec<Self::Vector>;
    /// Vectors for the thread's next chunk.
    fn keep_vectors(vectors: Vec<Self::Vector>);
    /// Room for records.
    type Records;
    /// This thread's records, so that they are not made for every chunk of a sweep.
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
    static SINGLE_RECORDS: Cell<Option<Box<Records<[f32; SINGLE]>>>> = const { Cell::new(None) };
    static SINGLE_VECTORS: Cell<Vec<Stored<[f32; 16]>>> = const { Cell::new(Vec::new()) };
    static DOUBLE_VECTORS: Cell<Vec<Stored<[f64; 8]>>> = const { Cell::new(Vec::new()) };
    static DOUBLE_RECORDS: Cell<Option<Box<Records<[f64; DOUBLE]>>>> = const { Cell::new(None) };
}

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
    fn take_vectors() -> Vec<Self::Vector> {
        SINGLE_VECTORS.take()
    }
    fn keep_vectors(vectors: Vec<Self::Vector>) {
        SINGLE_VECTORS.set(vectors);
    }
    type Records = Records<[f32; SINGLE]>;
    fn take_records() -> Box<Self::Records> {
        SINGLE_RECORDS.take().unwrap_or_else(|| Box::new(Records { values: [0.0; SINGLE] }))
    }
    fn keep_records(records: Box<Self::Records>) {
        SINGLE_RECORDS.set(Some(records));
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
        simd.vectorize(
            #[inline(always)]
            || task.run(simd),
        )
    }
    type Vector = Stored<[f64; 8]>;
    fn vector(value: f64) -> Self::Vector {
        Stored([value; 8])
    }
    fn take_vectors() -> Vec<Self::Vector> {
        DOUBLE_VECTORS.take()
    }
    fn keep_vectors(vectors: Vec<Self::Vector>) {
        DOUBLE_VECTORS.set(vectors);
    }
    type Records = Records<[f64; DOUBLE]>;
    fn take_records() -> Box<Self::Records> {
        DOUBLE_RECORDS.take().unwrap_or_else(|| Box::new(Records { values: [0.0; DOUBLE] }))
    }
    fn keep_records(records: Box<Self::Records>) {
        DOUBLE_RECORDS.set(Some(records));
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
#[derive(Clone, Copy)]
#[repr(align(64))]
pub struct Stored<A>(A);

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

/// A quad of a record.
#[inline(always)]
fn quad_f32<S: Simd, const NUMBER: usize>(
    token: S,
    records: &Records<[f32; SINGLE]>,
    start: u16,
) -> f32x4<S> {
    f32x4::from_slice(token, &records.values[2 * start as usize + NUMBER * QUAD..][..QUAD])
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

/// A quad of each of two records.
#[inline(always)]
fn two<S: Simd, const NUMBER: usize>(token: S, records: &Records<[f64; DOUBLE]>, starts: &[u16]) -> f64x8<S> {
    let a = quad_f64::<S, NUMBER>(token, records, starts[0]);
    let b = quad_f64::<S, NUMBER>(token, records, starts[1]);
    a.combine(b)
}

/// The same numbers in double precision.
#[inline(always)]
fn wide<S: Simd>(values: f32x8<S>) -> f64x8<S> {
    let (low, high) = values.widen();
    low.combine(high)
}

impl<S: Simd> Lanes for f32x16<S> {
    type Scalar = f32;
    const ROWS: usize = 2;
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

impl<S: Simd> Lanes for f64x8<S> {
    type Scalar = f64;
    const ROWS: usize = 1;
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

/// The instruction sets that a sweep exists for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Instructions {
    /// The best of those below that this processor has.
    Best,
    /// At most AVX2 with FMA.
    Avx2,
    /// What every processor of the architecture has: SSE2, NEON.
    Baseline,
}

/// Work in lanes that is compiled for every instruction set.
pub trait Task {
    /// Its result.
    type Output;
    /// What its lanes store.
    type Scalar: Scalar;
    /// Do it; `#[inline(always)]`, or it loses the instructions.
    fn run<S: Simd>(self, simd: S) -> Self::Output;
}

impl Instructions {
    /// Whether single-precision lanes are compiled for them. Not for the x86-64 baseline: processors without AVX2 run
    /// mixed precision in doubles.
    pub fn have_single(self) -> bool {
        #[cfg(target_arch = "x86_64")]
        return self != Instructions::Baseline && Level::new().as_avx2().is_some();
        #[cfg(not(target_arch = "x86_64"))]
        true
    }
}

/// The name of the best instructions that this processor has and lanes are compiled for.
pub fn widest() -> &'static str {
    let level = Level::new();
    #[cfg(target_arch = "x86_64")]
    {
        if level.as_avx512().is_some() {
            return "AVX-512";
        }
        if level.as_avx2().is_some() {
            return "AVX2";
        }
    }
    let _ = level;
    "baseline"
}

/// Run the task with the instructions asked for, or fewer where the processor lacks them. Only three variants are
/// compiled: AVX-512, AVX2 and the baseline.
pub fn dispatch<T: Task>(instructions: Instructions, task: T) -> T::Output {
    let level = Level::new();
    #[cfg(target_arch = "x86_64")]
    {
        if let (Instructions::Best, Some(simd)) = (instructions, level.as_avx512()) {
            return simd.vectorize(
                #[inline(always)]
                || task.run(simd),
            );
        }
        if let (Instructions::Best | Instructions::Avx2, Some(simd)) = (instructions, level.as_avx2()) {
            return simd.vectorize(
                #[inline(always)]
                || task.run(simd),
            );
        }
        match level.as_sse2() {
            Some(simd) => T::Scalar::baseline(simd, task),
            None => unreachable!("x86-64 has SSE2"),
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        let _ = instructions;
        fearless_simd::dispatch!(level, simd => task.run(simd))
    }
}
