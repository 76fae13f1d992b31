//! SIMD lanes of the sweeps, and runtime dispatch to an instruction set.
//!
//! [`Lanes`] is a vector of `ROWS` particles i times eight particles j; [`Scalar`] is its element type, `f32`
//! or `f64`. [`dispatch`] runs a [`Task`] with the best instructions of the processor.

mod double;
mod instructions;
pub mod piecewise;
pub(crate) mod prefetch;
pub mod real;
pub mod records;
pub mod reduction;
pub(crate) mod rsqrt;
mod single;
mod stack;
pub mod vec3;

pub use instructions::{Instructions, Task, dispatch, widest};
pub use stack::{aligned, vectorize};

use bytemuck::{Pod, Zeroable};
use fearless_simd::prelude::*;
use fearless_simd::{Simd, f32x8, f32x16, f64x8};
use real::Real;
use records::{DOUBLE, QUAD, Records, SINGLE};
use reduction::{Reduction, Sum};
use std::cell::Cell;

/// Arithmetic of a pass. State and accumulated outputs are always in double precision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Precision {
    /// Single-precision lanes (16) on offsets from double-precision frames.
    Mixed,
    /// Double-precision lanes (8).
    Double,
}

/// Particles j in a vector: one cluster.
pub const COLUMNS: usize = 8;

/// A type family over the element types of lanes, see [`Scalar::select`].
pub trait PerScalar {
    /// The type for lanes with elements `T`.
    type Of<T: Scalar>;
}

/// Element type of lanes: `f32` or `f64`.
pub trait Scalar: Pod + Send + Sync + Default + PartialOrd + std::ops::Add<Output = Self> {
    /// Lanes with elements of this type.
    type Lanes<S: Simd>: Lanes<Scalar = Self, Token = S>;
    /// Runs a task on the x86-64 baseline. Single-precision lanes do not exist there: 16 lanes would take
    /// four SSE vectors, and compiling every law for them would take longer than everything else.
    #[cfg(target_arch = "x86_64")]
    fn baseline<T: Task>(simd: fearless_simd::x86::Sse2, task: T) -> T::Output;
    /// A vector in memory, aligned to a cache line.
    type Vector: Pod + Send + Sync + AsRef<[Self]> + AsMut<[Self]>;
    /// Broadcasts a value, rounded to this type.
    fn vector(value: f64) -> Self::Vector;
    /// Selects the value for this type.
    fn select<F: PerScalar>(single: F::Of<f32>, double: F::Of<f64>) -> F::Of<Self>;
    /// Array of particle records.
    type Records;
    /// Takes records from the thread's pool, which avoids an allocation per chunk of a sweep.
    fn take_records() -> Box<Self::Records>;
    /// Returns records to the thread's pool.
    fn return_records(records: Box<Self::Records>);
    /// Values of the records.
    fn values_mut(records: &mut Self::Records) -> &mut [Self];
    /// Rounds from double precision.
    fn from_f64(value: f64) -> Self;
    /// Converts exactly.
    fn to_f64(self) -> f64;
}

thread_local! {
    static SINGLE_RECORDS: Cell<Vec<Box<Records<[f32; SINGLE]>>>> = const { Cell::new(Vec::new()) };
    static DOUBLE_RECORDS: Cell<Vec<Box<Records<[f64; DOUBLE]>>>> = const { Cell::new(Vec::new()) };
}

impl Scalar for f32 {
    type Lanes<S: Simd> = f32x16<S>;
    #[cfg(target_arch = "x86_64")]
    fn baseline<T: Task>(_: fearless_simd::x86::Sse2, _: T) -> T::Output {
        unreachable!("single-precision lanes without AVX2, see Instructions::have_single")
    }
    type Vector = AlignedVector<[f32; 16]>;
    fn vector(value: f64) -> Self::Vector {
        AlignedVector([value as f32; 16])
    }
    fn select<F: PerScalar>(single: F::Of<f32>, _: F::Of<f64>) -> F::Of<Self> {
        single
    }
    type Records = Records<[f32; SINGLE]>;
    fn take_records() -> Box<Self::Records> {
        let mut pool = SINGLE_RECORDS.take();
        let records = pool.pop();
        SINGLE_RECORDS.set(pool);
        records.unwrap_or_else(|| Box::new(Records { values: [0.0; SINGLE] }))
    }
    fn return_records(records: Box<Self::Records>) {
        let mut pool = SINGLE_RECORDS.take();
        pool.push(records);
        SINGLE_RECORDS.set(pool);
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
    type Vector = AlignedVector<[f64; 8]>;
    fn vector(value: f64) -> Self::Vector {
        AlignedVector([value; 8])
    }
    fn select<F: PerScalar>(_: F::Of<f32>, double: F::Of<f64>) -> F::Of<Self> {
        double
    }
    type Records = Records<[f64; DOUBLE]>;
    fn take_records() -> Box<Self::Records> {
        let mut pool = DOUBLE_RECORDS.take();
        let records = pool.pop();
        DOUBLE_RECORDS.set(pool);
        records.unwrap_or_else(|| Box::new(Records { values: [0.0; DOUBLE] }))
    }
    fn return_records(records: Box<Self::Records>) {
        let mut pool = DOUBLE_RECORDS.take();
        pool.push(records);
        DOUBLE_RECORDS.set(pool);
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

/// Vector in memory, one cache line.
#[derive(Clone, Copy, Zeroable)]
#[repr(C, align(64))]
pub struct AlignedVector<A>(A);

const _: () =
    assert!(size_of::<AlignedVector<[f32; 16]>>() == 64 && size_of::<AlignedVector<[f64; 8]>>() == 64);
// SAFETY: the array fills the cache line (asserted above), so there is no padding.
unsafe impl Pod for AlignedVector<[f32; 16]> {}
// SAFETY: as above.
unsafe impl Pod for AlignedVector<[f64; 8]> {}

impl<T, const N: usize> AsRef<[T]> for AlignedVector<[T; N]> {
    #[inline(always)]
    fn as_ref(&self) -> &[T] {
        &self.0
    }
}

impl<T, const N: usize> AsMut<[T]> for AlignedVector<[T; N]> {
    #[inline(always)]
    fn as_mut(&mut self) -> &mut [T] {
        &mut self.0
    }
}

/// Lanes of `ROWS` particles i times eight particles j.
///
/// Over tiles, the same lanes are four rows times `COUNT / 4` particles j. A record consists of quads of four
/// values, see [`records`].
pub trait Lanes: Real {
    /// Element type.
    type Scalar: Scalar;
    /// Number of lanes.
    const COUNT: usize = Self::ROWS * COLUMNS;
    /// Broadcasts a value to all lanes.
    fn broadcast(token: Self::Token, value: Self::Scalar) -> Self;
    /// Mask from bits, lane 0 lowest.
    fn mask(token: Self::Token, bits: u64) -> Self::Mask;
    /// Gathers quad `NUMBER` of `COUNT` records as four columns: lane k is from the record that begins at
    /// `starts[k]`, in units of 8 bytes.
    fn gather_quads<const NUMBER: usize>(
        token: Self::Token,
        records: &<Self::Scalar as Scalar>::Records,
        starts: &[u16],
    ) -> [Self; QUAD];
    /// Particles i in a vector.
    const ROWS: usize;
    /// Loads `COUNT` values.
    fn load(token: Self::Token, values: &[Self::Scalar]) -> Self;
    /// Loads eight values and repeats them in every row.
    fn repeat_rows(token: Self::Token, values: &[Self::Scalar]) -> Self;
    /// Broadcasts `values[first + k]` to all lanes of row k.
    fn broadcast_rows(token: Self::Token, values: &[Self::Scalar], first: usize) -> Self;
    /// Writes quad `number` of eight records of `quads` quads each from four columns of eight values.
    fn write_quads(
        token: Self::Token,
        columns: [&[Self::Scalar]; QUAD],
        records: &mut [Self::Scalar],
        quads: usize,
        number: usize,
    );
    /// Loads four values and repeats them in every group of four lanes: lane 4g + k is `values[k]`.
    fn repeat_quad(token: Self::Token, values: &[Self::Scalar]) -> Self;
    /// Lane of the pair of a tile's row `row` (0 to 3) and its particle j number `particle`.
    fn tile_lane(row: usize, particle: usize) -> usize;
    /// Loads quad `number` of four records of `quads` quads each as four columns. The value of record k is in
    /// all lanes of tile row k.
    fn load_row_quads(
        token: Self::Token,
        records: &[Self::Scalar],
        quads: usize,
        number: usize,
    ) -> [Self; QUAD];
    /// Loads quad `number` of `COUNT / 4` consecutive records, from record `first` on, as four columns. The
    /// value of record `first + g` is in all lanes of particle g.
    fn load_particle_quads(
        token: Self::Token,
        records: &[Self::Scalar],
        first: usize,
        quads: usize,
        number: usize,
    ) -> [Self; QUAD];
    /// Gathers quad `number` of `COUNT / 4` records as four columns. The value of the record that begins at
    /// `begins[g]` is in all lanes of particle g.
    fn gather_particle_quads(
        token: Self::Token,
        records: &<Self::Scalar as Scalar>::Records,
        begins: &[usize],
        number: usize,
    ) -> [Self; QUAD];
    /// Sums four columns over the rows of a tile and adds the sums of particle g to quad `number` of the
    /// record that begins at `begins[g]`.
    fn scatter_add_quads(
        columns: [Self; QUAD],
        records: &mut <Self::Scalar as Scalar>::Records,
        begins: &[usize],
        number: usize,
    );
    /// Sums four columns over the particles of a tile and adds the sums of row k to quad `number` of record
    /// k, of `quads` quads each.
    fn add_row_quads(columns: [Self; QUAD], records: &mut [Self::Scalar], quads: usize, number: usize);
    /// Transposes eight quads, stored in consecutive vectors, and joins their columns with rows of eight
    /// totals. Odd sums are subtracted.
    fn reduce_quads<'a>(
        token: Self::Token,
        quads: impl Fn(usize) -> &'a [Self::Scalar],
        sums: &[Sum],
        totals: &mut [f64],
    );
    /// Bits of the mask, lane 0 lowest.
    fn bits(mask: Self::Mask) -> u64;
    /// Adds `by` to eight values.
    fn shift(token: Self::Token, values: &[Self::Scalar], by: Self::Scalar, shifted: &mut [Self::Scalar]);
    /// Multiplies eight values by `factor`, in single precision.
    fn scale_narrow(token: Self::Token, values: &[Self::Scalar], factor: f64, scaled: &mut [f32]);
    /// Joins the rows of a stored vector with eight totals in double precision.
    fn reduce_to_double(
        token: Self::Token,
        values: &[Self::Scalar],
        reduction: Reduction,
        totals: &mut [f64],
    );
    /// Stores `COUNT` values.
    fn store(self, values: &mut [Self::Scalar]);
    /// The lanes as a slice.
    fn lanes(&self) -> &[Self::Scalar];

    /// Joins adjacent lanes. Results from `self` fill the first half, those from `other` the second.
    fn join_adjacent(self, other: Self, reduction: Reduction) -> Self;
    /// Joins the vector with the one in `target`. Odd sums are subtracted.
    fn accumulate_into(self, sum: Sum, target: &mut [Self::Scalar]);

    /// Reduces each row to one lane: row k of vector g ends in lane `g * ROWS + k`. `G` is 1, 2 or 4.
    #[inline(always)]
    fn reduce_rows<const G: usize>(mut values: [Self; G], reduction: Reduction) -> Self {
        let mut count = G;
        for _ in 0..3 {
            if count > 1 {
                count /= 2;
                for k in 0..count {
                    values[k] = values[2 * k].join_adjacent(values[2 * k + 1], reduction);
                }
            } else {
                values[0] = values[0].join_adjacent(values[0], reduction);
            }
        }
        values[0]
    }

    /// Reduces each of eight vectors to one lane: vector k ends in lane k.
    #[inline(always)]
    fn reduce_vectors(mut values: [Self; COLUMNS], reduction: Reduction) -> Self {
        for count in [4, 2, 1] {
            for k in 0..count {
                values[k] = values[2 * k].join_adjacent(values[2 * k + 1], reduction);
            }
        }
        for _ in 0..Self::ROWS.ilog2() {
            values[0] = values[0].join_adjacent(values[0], reduction);
        }
        values[0]
    }

    /// Reduces one row in double precision.
    #[inline(always)]
    fn reduce_row(self, row: usize, reduction: Reduction) -> f64 {
        let lanes = &self.lanes()[row * COLUMNS..][..COLUMNS];
        lanes.iter().fold(reduction.identity(), |joined, lane| reduction.join(joined, lane.to_f64()))
    }
}

/// Transposes the quads of consecutive records in four vectors to four columns.
macro_rules! columns_of_quads {
    ($a:expr, $b:expr, $c:expr, $d:expr) => {{
        let (a, b, c, d) = ($a, $b, $c, $d);
        let (even, odd) = ((a.unzip_low(b), c.unzip_low(d)), (a.unzip_high(b), c.unzip_high(d)));
        [even.0.unzip_low(even.1), odd.0.unzip_low(odd.1), even.0.unzip_high(even.1), odd.0.unzip_high(odd.1)]
    }};
}
use columns_of_quads;

/// Joins columns with rows of eight totals. Odd sums are subtracted.
#[inline(always)]
fn accumulate_columns<S: Simd>(columns: [f64x8<S>; QUAD], sums: &[Sum], totals: &mut [f64]) {
    let totals = totals.as_chunks_mut::<COLUMNS>().0;
    for k in 0..sums.len().min(totals.len()) {
        columns[k].accumulate_into(sums[k], &mut totals[k]);
    }
}

/// Converts to double precision.
#[inline(always)]
fn widened<S: Simd>(values: f32x8<S>) -> f64x8<S> {
    let (low, high) = values.widen();
    low.combine(high)
}
