//! Per-particle lists: the neighbors of a particle are gathered, a vector at a time.

use super::{Shared, add_masked, identity_sums, reaction, vec3_from_fn};
use crate::neighbors::{CLUSTER, ParticleList, SUPER_CLUSTER};
use crate::pair::law::{Columns, Cutoff, PairLaw, Parity};
use crate::pair::pack::GEOMETRY;
use crate::pair::sums::ChunkSums;
use crate::simd::real::Real;
use crate::simd::{Lanes, Scalar};
use fearless_simd::Simd;

/// Column of gathered values.
#[inline(always)]
fn gather<R: Lanes>(token: R::Token, values: &[R::Scalar], column: usize) -> R {
    let lanes = R::ROWS * CLUSTER;
    R::load(token, &values[column * lanes..][..lanes])
}

/// Sums of a chunk's particles.
#[inline(always)]
pub(super) fn sums<L: PairLaw, T: Scalar, S: Simd>(
    simd: S,
    shared: &Shared<L, T>,
    list: &ParticleList,
    position: &[&[f64]; 3],
    sums: &mut ChunkSums<T>,
) {
    type R<T, S> = <T as Scalar>::Lanes<S>;
    let lanes = R::<T, S>::ROWS * CLUSTER;
    let packed = &shared.packed;
    let columns = L::Prepared::<R<T, S>>::COUNT + 1;
    // The squared radius is the column in front of the inputs.
    let first = GEOMETRY - 1;
    let parameters = shared.law.parameters::<R<T, S>>(simd);
    let no_pairs = identity_sums::<L, R<T, S>>(simd);
    let common = R::<T, S>::literal(simd, packed.largest * packed.largest);
    let mut separation = vec![T::default(); 3 * lanes];
    let mut gathered = vec![T::default(); columns * lanes];
    let begin = (sums.super_clusters.start * SUPER_CLUSTER).max(shared.owned.start);
    let end = (sums.super_clusters.end * SUPER_CLUSTER).min(shared.owned.end);
    for row in (begin..end).filter(|&row| shared.rows.wanted(row..row + 1)) {
        let i = L::Prepared::<R<T, S>>::from_columns(
            #[inline(always)]
            |c| R::<T, S>::literal(simd, packed.value(row, GEOMETRY + c).to_f64()),
        );
        let reach_i = R::<T, S>::literal(simd, packed.value(row, first).to_f64());
        let mut totals = no_pairs;
        let neighbors = list.neighbors(row);
        sums.add_work(row, 1, neighbors.len().next_multiple_of(lanes));
        for batch in neighbors.chunks(lanes) {
            separation.fill(T::from_f64(f64::NAN));
            for (lane, &j) in batch.iter().enumerate() {
                for d in 0..3 {
                    let (x, period) = (position[d], packed.periods[d]);
                    let r = x[row] - x[j as usize];
                    let r = if period > 0.0 { r - period * (r / period).round_ties_even() } else { r };
                    separation[d * lanes + lane] = T::from_f64(r);
                }
                for c in 0..columns {
                    gathered[c * lanes + lane] = packed.value(j as usize, first + c);
                }
            }
            let r = vec3_from_fn(
                #[inline(always)]
                |d| gather::<R<T, S>>(simd, &separation, d),
            );
            let r2 = r.dot(r);
            let reach_j = gather::<R<T, S>>(simd, &gathered, 0);
            let reach = match L::CUTOFF {
                Cutoff::Own => reach_i,
                Cutoff::Either => Real::max(reach_i, reach_j),
                Cutoff::Common => common,
            };
            let mask = r2.less(reach);
            let mask_j = if L::CUTOFF == Cutoff::Own { r2.less(reach_j) } else { mask };
            let j = L::Prepared::<R<T, S>>::from_columns(
                #[inline(always)]
                |c| gather::<R<T, S>>(simd, &gathered, c + 1),
            );
            let contribution = L::interact::<R<T, S>>(simd, parameters, i, j, r, r2);
            totals = add_masked::<L, R<T, S>>(mask, contribution, totals);
            sums.lane_pairs += lanes as u64;
            if shared.symmetric {
                let reactions = reaction::<L, R<T, S>>(
                    simd,
                    mask_j,
                    contribution,
                    #[inline(always)]
                    || L::interact::<R<T, S>>(simd, parameters, j, i, -r, r2),
                );
                let reactions = reactions.to_columns();
                for (lane, &j) in
                    batch.iter().enumerate().filter(|(_, j)| shared.owned.contains(&(**j as usize)))
                {
                    let target = sums.blocks.cluster_mut(j as usize / CLUSTER);
                    for c in 0..L::SUMS.len() {
                        let (reduction, odd) = (L::SUMS[c].reduction, L::SUMS[c].parity == Parity::Odd);
                        let value = reactions.as_ref()[c].lanes()[lane].to_f64();
                        let total = &mut target[c * CLUSTER + j as usize % CLUSTER];
                        *total = reduction.join(*total, if odd { -value } else { value });
                    }
                }
            }
        }
        let totals = totals.to_columns();
        let target = sums.blocks.cluster_mut(row / CLUSTER);
        for c in 0..L::SUMS.len() {
            let reduction = L::SUMS[c].reduction;
            for half in 0..R::<T, S>::ROWS {
                let total = &mut target[c * CLUSTER + row % CLUSTER];
                *total = reduction.join(*total, totals.as_ref()[c].reduce_row(half, reduction));
            }
        }
    }
}
