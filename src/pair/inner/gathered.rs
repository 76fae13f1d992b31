//! Sums of a particle over neighbors in range, whose records are gathered, a vector at a time.

use super::pipeline::Rows;
use super::{add_masked, identity_sums, lift, minimum_image};
use crate::neighbors::CLUSTER;
use crate::pair::law::{Columns, PairLaw};
use crate::pair::record::{OFFSETS, QUAD, QUADS, quads};
use crate::simd::real::Real;
use crate::simd::vec3::Vec3;
use crate::simd::{Lanes, Scalar};
use fearless_simd::Simd;

/// Lanes with elements `T`.
type R<T, S> = <T as Scalar>::Lanes<S>;

/// Periods and their inverses, 0 if open.
pub(super) type Images = [[f64; 3]; 2];

/// Totals of a particle, broadcast in `i`, over `count` neighbors, whose records begin at `starts`. With
/// `images`, pairs are at their minimum images.
#[inline(always)]
pub(super) fn gathered_sums<L: PairLaw, T: Scalar, S: Simd>(
    simd: S,
    law: &L,
    i: &Rows<L, R<T, S>>,
    records: &T::Records,
    (starts, count): (&[u16], usize),
    images: Option<Images>,
) -> L::Sums<R<T, S>> {
    let parameters = law.parameters::<R<T, S>>(simd);
    let lanes = const { R::<T, S>::COUNT };
    let mut totals = identity_sums::<L, R<T, S>>(simd);
    let mut left = count;
    for starts in starts[..count.next_multiple_of(lanes)].chunks_exact(lanes) {
        let mut columns = [[R::<T, S>::literal(simd, 0.0); QUAD]; QUADS];
        read_quad::<L, T, S, 0>(simd, records, starts, &mut columns);
        read_quad::<L, T, S, 1>(simd, records, starts, &mut columns);
        read_quad::<L, T, S, 2>(simd, records, starts, &mut columns);
        read_quad::<L, T, S, 3>(simd, records, starts, &mut columns);
        read_quad::<L, T, S, 4>(simd, records, starts, &mut columns);
        read_quad::<L, T, S, 5>(simd, records, starts, &mut columns);
        read_quad::<L, T, S, 6>(simd, records, starts, &mut columns);
        read_quad::<L, T, S, 7>(simd, records, starts, &mut columns);
        let [x, y, z, _] = columns[0];
        let mut r = i.position - Vec3 { x, y, z };
        if let Some([periods, frequency]) = images {
            r = minimum_image(r, lift(simd, periods), lift(simd, frequency));
        }
        let j = L::Prepared::<R<T, S>>::from_columns(
            #[inline(always)]
            |c| columns[(OFFSETS + c) / QUAD][(OFFSETS + c) % QUAD],
        );
        let contribution = L::interact::<R<T, S>>(simd, parameters, i.prepared, j, r, r.dot(r));
        let bits = u64::MAX >> (u64::BITS as usize - left.min(lanes));
        totals = add_masked::<L, R<T, S>>(R::<T, S>::mask(simd, bits), contribution, totals);
        left = left.saturating_sub(lanes);
    }
    totals
}

/// Gathers quad `NUMBER` if the law's records have it.
#[inline(always)]
fn read_quad<L: PairLaw, T: Scalar, S: Simd, const NUMBER: usize>(
    simd: S,
    records: &T::Records,
    starts: &[u16],
    columns: &mut [[R<T, S>; QUAD]; QUADS],
) {
    if const { NUMBER < quads::<L>() } {
        columns[NUMBER] = R::<T, S>::gather_quads::<NUMBER>(simd, records, starts);
    }
}

/// Reduces the totals of eight particles, stored as `[column][particle]` vectors. Passes the eight values of
/// each column to `take`.
#[inline(always)]
pub(super) fn reduce_eight<L: PairLaw, T: Scalar, S: Simd>(
    simd: S,
    totals: &[T],
    mut take: impl FnMut(usize, &[T]),
) {
    let lanes = const { R::<T, S>::COUNT };
    for (c, totals) in totals.chunks_exact(CLUSTER * lanes).enumerate() {
        let mut column = [R::<T, S>::literal(simd, 0.0); CLUSTER];
        for (column, totals) in column.iter_mut().zip(totals.chunks_exact(lanes)) {
            *column = R::<T, S>::load(simd, totals);
        }
        take(c, R::<T, S>::reduce_vectors(column, L::SUMS[c].reduction).lanes());
    }
}
