//! Element type of meshes, with the vector operations that spreading and interpolation need beyond [`Lanes`].

use crate::far::mesh::window::MOST_ORDER;
use crate::simd::reduction::Reduction;
use crate::simd::{Lanes, Scalar};
use fearless_simd::prelude::*;
use fearless_simd::{Simd, f32x4, f32x8, f32x16, f64x4, f64x8};

/// Particles whose weights are computed together: one vector in single precision, two in double.
pub const GROUP: usize = 16;

/// Element type of a mesh: `f32` or `f64`.
///
/// Interpolation packs rows of a particle's mesh points into a vector. A part of the vector holds one row: 4
/// values at order 4, 8 values at higher orders.
pub trait SpreadScalar: Scalar {
    /// Values in a vector.
    const LANES: usize;

    /// Loads the quads of values at 0, `stride`, 2 `stride`, ...
    fn load_quads<T: Simd>(token: T, values: &[Self], stride: usize) -> Self::Lanes<T>;

    /// Repeats value j in all lanes of quad j.
    fn repeat_values<T: Simd>(token: T, values: &[Self]) -> Self::Lanes<T>;

    /// Transposes columns, one value per particle, to rows of eight values per particle. The row of particle
    /// k is stored at `k * stride`.
    fn transpose<T: Simd>(columns: [Self::Lanes<T>; MOST_ORDER], rows: &mut [Self], stride: usize);

    /// Loads the rows `first`, `first + 1`, ... of a particle into the parts of a vector. Row j begins at
    /// `j * stride`; rows beyond the order repeat the last one.
    fn load_rows<T: Simd, const ORDER: usize>(
        token: T,
        values: &[Self],
        stride: usize,
        first: usize,
    ) -> Self::Lanes<T>;

    /// Broadcasts `weights[j * GROUP]` to the part of row j, for the rows of [`SpreadScalar::load_rows`]. Parts
    /// beyond the order are zero.
    fn broadcast_to_rows<T: Simd, const ORDER: usize>(
        token: T,
        weights: &[Self],
        first: usize,
    ) -> Self::Lanes<T>;

    /// Repeats a row of eight values in every part.
    fn repeat_row<T: Simd, const ORDER: usize>(token: T, row: &[Self]) -> Self::Lanes<T>;

    /// Completes four sums per particle. The vector of a particle has `LANES / 4` terms of each sum.
    fn complete_sums<T: Simd>(terms: &[Self::Lanes<T>; GROUP], sums: &mut [[f64; GROUP]; 4]);
}

/// Rows in a vector.
pub const fn rows_per_vector<S: SpreadScalar>(order: usize) -> usize {
    if order <= 4 { S::LANES / 4 } else { S::LANES / 8 }
}

/// Interleaves pairs of vectors three times: a transposition of eight columns.
macro_rules! transposed {
    ($columns:expr) => {{
        let mut vectors = $columns;
        for _ in 0..3 {
            let [a, b, c, d, e, f, g, h] = vectors;
            vectors = [
                a.zip_low(e),
                a.zip_high(e),
                b.zip_low(f),
                b.zip_high(f),
                c.zip_low(g),
                c.zip_high(g),
                d.zip_low(h),
                d.zip_high(h),
            ];
        }
        vectors
    }};
}

/// Columns of quads in four vectors.
macro_rules! columns {
    ($a:expr, $b:expr, $c:expr, $d:expr) => {{
        let (even, odd) = (($a.unzip_low($b), $c.unzip_low($d)), ($a.unzip_high($b), $c.unzip_high($d)));
        [even.0.unzip_low(even.1), odd.0.unzip_low(odd.1), even.0.unzip_high(even.1), odd.0.unzip_high(odd.1)]
    }};
}

impl SpreadScalar for f32 {
    const LANES: usize = 16;

    #[inline(always)]
    fn load_quads<T: Simd>(token: T, values: &[f32], stride: usize) -> f32x16<T> {
        let values = &values[..3 * stride + 4];
        let a = f32x4::from_slice(token, &values[..4]);
        let b = f32x4::from_slice(token, &values[stride..][..4]);
        let c = f32x4::from_slice(token, &values[2 * stride..][..4]);
        let d = f32x4::from_slice(token, &values[3 * stride..][..4]);
        a.combine(b).combine(c.combine(d))
    }

    #[inline(always)]
    fn repeat_values<T: Simd>(token: T, values: &[f32]) -> f32x16<T> {
        let four = f32x4::from_slice(token, &values[..4]);
        let eight = four.zip_low(four).combine(four.zip_high(four));
        eight.zip_low(eight).combine(eight.zip_high(eight))
    }

    #[inline(always)]
    fn transpose<T: Simd>(columns: [f32x16<T>; MOST_ORDER], rows: &mut [f32], stride: usize) {
        let pairs = transposed!(columns);
        for k in 0..MOST_ORDER {
            let (even, odd) = pairs[k].split();
            even.store_slice(&mut rows[2 * k * stride..][..MOST_ORDER]);
            odd.store_slice(&mut rows[(2 * k + 1) * stride..][..MOST_ORDER]);
        }
    }

    #[inline(always)]
    fn load_rows<T: Simd, const ORDER: usize>(
        token: T,
        values: &[f32],
        stride: usize,
        first: usize,
    ) -> f32x16<T> {
        if ORDER <= 4 {
            Self::load_quads(token, values, stride)
        } else {
            let second = (first + 1).min(ORDER - 1);
            let low = f32x8::from_slice(token, &values[first * stride..][..8]);
            low.combine(f32x8::from_slice(token, &values[second * stride..][..8]))
        }
    }

    #[inline(always)]
    fn broadcast_to_rows<T: Simd, const ORDER: usize>(token: T, weights: &[f32], first: usize) -> f32x16<T> {
        if ORDER <= 4 {
            let a = f32x4::splat(token, weights[0]);
            let b = f32x4::splat(token, weights[GROUP]);
            let c = f32x4::splat(token, weights[2 * GROUP]);
            let d = f32x4::splat(token, weights[3 * GROUP]);
            a.combine(b).combine(c.combine(d))
        } else {
            let low = f32x8::splat(token, weights[first * GROUP]);
            let high = if first + 1 < ORDER { weights[(first + 1) * GROUP] } else { 0.0 };
            low.combine(f32x8::splat(token, high))
        }
    }

    #[inline(always)]
    fn repeat_row<T: Simd, const ORDER: usize>(token: T, row: &[f32]) -> f32x16<T> {
        if ORDER <= 4 {
            f32x16::block_splat(f32x4::from_slice(token, &row[..4]))
        } else {
            let row = f32x8::from_slice(token, &row[..8]);
            row.combine(row)
        }
    }

    #[inline(always)]
    fn complete_sums<T: Simd>(terms: &[f32x16<T>; GROUP], sums: &mut [[f64; GROUP]; 4]) {
        let mut quads = [terms[0]; 4];
        for k in 0..4 {
            let low = terms[4 * k].join_adjacent(terms[4 * k + 1], Reduction::Sum);
            let high = terms[4 * k + 2].join_adjacent(terms[4 * k + 3], Reduction::Sum);
            quads[k] = low.join_adjacent(high, Reduction::Sum);
        }
        let columns = columns!(quads[0], quads[1], quads[2], quads[3]);
        for k in 0..4 {
            let (low, high) = columns[k].widen();
            low.store_slice(&mut sums[k][..8]);
            high.store_slice(&mut sums[k][8..]);
        }
    }
}

impl SpreadScalar for f64 {
    const LANES: usize = 8;

    #[inline(always)]
    fn load_quads<T: Simd>(token: T, values: &[f64], stride: usize) -> f64x8<T> {
        let low = f64x4::from_slice(token, &values[..4]);
        low.combine(f64x4::from_slice(token, &values[stride..][..4]))
    }

    #[inline(always)]
    fn repeat_values<T: Simd>(token: T, values: &[f64]) -> f64x8<T> {
        f64x4::splat(token, values[0]).combine(f64x4::splat(token, values[1]))
    }

    #[inline(always)]
    fn transpose<T: Simd>(columns: [f64x8<T>; MOST_ORDER], rows: &mut [f64], stride: usize) {
        let of_particles = transposed!(columns);
        for k in 0..MOST_ORDER {
            of_particles[k].store_slice(&mut rows[k * stride..][..MOST_ORDER]);
        }
    }

    #[inline(always)]
    fn load_rows<T: Simd, const ORDER: usize>(
        token: T,
        values: &[f64],
        stride: usize,
        first: usize,
    ) -> f64x8<T> {
        if ORDER <= 4 {
            Self::load_quads(token, &values[first * stride..], stride)
        } else {
            f64x8::from_slice(token, &values[first * stride..][..8])
        }
    }

    #[inline(always)]
    fn broadcast_to_rows<T: Simd, const ORDER: usize>(token: T, weights: &[f64], first: usize) -> f64x8<T> {
        if ORDER <= 4 {
            let low = f64x4::splat(token, weights[first * GROUP]);
            low.combine(f64x4::splat(token, weights[(first + 1) * GROUP]))
        } else {
            f64x8::splat(token, weights[first * GROUP])
        }
    }

    #[inline(always)]
    fn repeat_row<T: Simd, const ORDER: usize>(token: T, row: &[f64]) -> f64x8<T> {
        if ORDER <= 4 {
            let row = f64x4::from_slice(token, &row[..4]);
            row.combine(row)
        } else {
            f64x8::from_slice(token, &row[..8])
        }
    }

    #[inline(always)]
    fn complete_sums<T: Simd>(terms: &[f64x8<T>; GROUP], sums: &mut [[f64; GROUP]; 4]) {
        for half in [0, 8] {
            let mut quads = [terms[0]; 4];
            for k in 0..4 {
                let terms = &terms[half + 2 * k..][..2];
                quads[k] = terms[0].join_adjacent(terms[1], Reduction::Sum);
            }
            let columns = columns!(quads[0], quads[1], quads[2], quads[3]);
            for k in 0..4 {
                columns[k].store_slice(&mut sums[k][half..][..8]);
            }
        }
    }
}
