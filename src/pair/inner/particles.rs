//! Particles against their own lists: the neighbors are gathered, as many as there are lanes at a time.

use super::{Shared, collected, nothing, reaction, vector};
use crate::neighbors::{CLUSTER, ParticleList, SUPER_CLUSTER};
use crate::pair::lane::{Lanes, Scalar};
use crate::pair::law::{Columns, Cutoff, PairLaw, Parity};
use crate::pair::pack::GEOMETRY;
use crate::pair::real::Real;
use crate::pair::sums::ChunkSums;
use fearless_simd::Simd;

/// One column of gathered values.
#[inline(always)]
fn gather<R: Lanes>(token: R::Token, values: &[R::Scalar], column: usize) -> R {
    let lanes = R::ROWS * CLUSTER;
    R::load(token, &values[column * lanes..][..lanes])
}

/// The sums of a chunk's particles.
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
    // the squared radius comes before the inputs
    let first = GEOMETRY - 1;
    let parameters = shared.law.parameters::<R<T, S>>(simd);
    let none = nothing::<L, R<T, S>>(simd);
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
        let mut totals = none;
        let neighbors = list.neighbors(row);
        sums.add_work(row, 1, neighbors.len().next_multiple_of(lanes));
        for some in neighbors.chunks(lanes) {
            separation.fill(T::from_f64(f64::NAN));
            for (lane, &j) in some.iter().enumerate() {
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
            let r = vector(
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
            let given = L::interact::<R<T, S>>(simd, parameters, i, j, r, r2);
            totals = collected::<L, R<T, S>>(mask, given, totals);
            sums.lane_pairs += lanes as u64;
            if shared.symmetric {
                let back = reaction::<L, R<T, S>>(
                    simd,
                    mask_j,
                    given,
                    #[inline(always)]
                    || L::interact::<R<T, S>>(simd, parameters, j, i, -r, r2),
                );
                let back = back.to_columns();
                for (lane, &j) in
                    some.iter().enumerate().filter(|(_, j)| shared.owned.contains(&(**j as usize)))
                {
                    let target = sums.blocks.cluster_mut(j as usize / CLUSTER);
                    for c in 0..L::SUMS.len() {
                        let (reduction, odd) = (L::SUMS[c].reduction, L::SUMS[c].parity == Parity::Odd);
                        let value = back.as_ref()[c].lanes()[lane].to_f64();
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
                *total = reduction.join(*total, totals.as_ref()[c].row(half, reduction));
            }
        }
    }
}
