//! Convolutions of periodic meshes by Fourier transforms, over all ranks.
//!
//! [`FourierGrid`] distributes the mesh and its waves over the ranks; [`Convolution`] transforms, multiplies
//! each wave by its influence and transforms back. Transforms are of whole lines: real ones along z, complex
//! ones along y, then along x. Between them the mesh is transposed over the ranks, so that each line is on
//! one rank.
//!
//! # How it is fast
//! - A vector holds the same point of many lines, so butterflies need no shuffles.
//! - Transforms are in place. They leave waves in the order of their reversed digits, which the next loop
//!   takes into account: there is no pass that only reorders.
//! - A plane of constant x is transformed along z and y while it is in the cache of its core; the
//!   transform along x, the influence and the inverse transform along x are one pass over memory.
//!
//! Each line has the same operations wherever it is, so that results are bitwise independent of the number
//! of ranks and threads.

mod butterfly;
mod convolution;
mod grid;
mod layout;
mod lines;
mod planes;
mod real;
#[cfg(test)]
mod tests;
#[doc(hidden)]
mod transposition;
mod waves;

pub use convolution::Convolution;
pub use grid::FourierGrid;
pub use lines::fast_points;

use crate::simd::Scalar;
use fearless_simd::prelude::*;
use fearless_simd::{Simd, f32x4, f32x16, f64x4, f64x8};

/// Values of a mesh: `f32` or `f64`.
pub trait FourierScalar: Scalar {
    /// Number of lines that are transformed at once: the lanes of a vector.
    const LANES: usize;

    /// Transposes a block of `LANES` rows of `LANES` values: `store` gets each column, a row per lane.
    /// `rows` and `store` must be `#[inline(always)]`.
    fn transpose<'r, S: Simd>(
        simd: S,
        rows: impl Fn(usize) -> &'r [Self],
        store: impl FnMut(usize, Self::Lanes<S>),
    );
}

/// Four values, from `column` on, of each of four consecutive rows.
#[inline(always)]
fn single_quads<S: Simd>(simd: S, rows: &[&[f32; 16]; 16], first: usize, column: usize) -> f32x16<S> {
    let a = f32x4::from_slice(simd, &rows[first][column..column + 4]);
    let b = f32x4::from_slice(simd, &rows[first + 1][column..column + 4]);
    let c = f32x4::from_slice(simd, &rows[first + 2][column..column + 4]);
    let d = f32x4::from_slice(simd, &rows[first + 3][column..column + 4]);
    a.combine(b).combine(c.combine(d))
}

/// Four values, from `column` on, of each of two consecutive rows.
#[inline(always)]
fn double_quads<S: Simd>(simd: S, rows: &[&[f64; 8]; 8], first: usize, column: usize) -> f64x8<S> {
    let a = f64x4::from_slice(simd, &rows[first][column..column + 4]);
    a.combine(f64x4::from_slice(simd, &rows[first + 1][column..column + 4]))
}

macro_rules! mesh_scalar {
    ($scalar:ident, $lanes:ident, $quads:ident, $count:literal) => {
        impl FourierScalar for $scalar {
            const LANES: usize = $count;

            #[inline(always)]
            fn transpose<'r, S: Simd>(
                simd: S,
                row: impl Fn(usize) -> &'r [$scalar],
                mut store: impl FnMut(usize, $lanes<S>),
            ) {
                let mut rows = [&[0.0; $count]; $count];
                for k in 0..$count {
                    match row(k).first_chunk() {
                        Some(row) => rows[k] = row,
                        None => unreachable!("rows have as many values as a vector"),
                    }
                }
                for column in (0..$count).step_by(4) {
                    let (a, b) = ($quads(simd, &rows, 0, column), $quads(simd, &rows, $count / 4, column));
                    let (c, d) = (
                        $quads(simd, &rows, $count / 2, column),
                        $quads(simd, &rows, 3 * $count / 4, column),
                    );
                    let (even, odd) = (a.unzip_low(b), a.unzip_high(b));
                    let (more_even, more_odd) = (c.unzip_low(d), c.unzip_high(d));
                    store(column, even.unzip_low(more_even));
                    store(column + 1, odd.unzip_low(more_odd));
                    store(column + 2, even.unzip_high(more_even));
                    store(column + 3, odd.unzip_high(more_odd));
                }
            }
        }
    };
}
mesh_scalar!(f32, f32x16, single_quads, 16);
mesh_scalar!(f64, f64x8, double_quads, 8);
