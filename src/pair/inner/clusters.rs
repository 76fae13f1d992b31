//! Half lists, clusters against clusters: per super-cluster its list is decoded once, then some rows of particles i at a time meet those
//! of its entries that come within their reach, eight j at a time.

use super::near::{Near, segments};
use super::{
    Shared, Side, collected, joined, lift, masked, nearest, nothing, reaction, repeat, self_pairs, spread,
    two_sided, vector,
};
use crate::neighbors::{CLUSTER, CLUSTERS, ClusterList};
use crate::pair::given::Given;
use crate::pair::lane::{Lanes, Scalar};
use crate::pair::law::{Columns, Cutoff, PairLaw};
use crate::pair::pack::GEOMETRY;
use crate::pair::real::Real;
use crate::pair::sums::ChunkSums;
use fearless_simd::Simd;

/// Vectors of rows whose totals are joined together.
const JOINED: usize = 4;

/// Lanes of the type T.
type R<T, S> = <T as Scalar>::Lanes<S>;

/// Whether pairs out of reach are worth a branch: where a law costs more than a wrong guess.
const fn branches<L: PairLaw, T: Scalar, S: Simd>() -> bool {
    L::SUMS.len() > 5 || size_of::<R<T, S>>() > size_of::<S::f32s>()
}

/// What rows need of an entry.
struct Other<T> {
    /// What brings it into the super-cluster's frame.
    shift: [T; 3],
    /// The cluster.
    cluster: u32,
    /// Where what it is given begins.
    given: u32,
    /// The lanes that are pairs of the rows.
    pairs: u32,
}

/// Every lane.
const ALL: u32 = u32::MAX;

/// The sums of a chunk's super-clusters, with their reactions.
#[inline(always)]
pub(super) fn sums<L: PairLaw, T: Scalar, S: Simd>(
    simd: S,
    shared: &Shared<L, T>,
    list: &ClusterList,
    side: Option<Side>,
    sums: &mut ChunkSums<T>,
) {
    let clusters = shared.given.start / CLUSTER..shared.given.end.div_ceil(CLUSTER);
    let (mut near, mut others) = (Near::<T>::new(R::<T, S>::ROWS), Vec::new());
    let mut given = Given::<T>::new(L::SUMS.iter().map(|sum| sum.reduction.identity()), clusters);
    for super_cluster in sums.super_clusters.clone() {
        if !shared.swept(list, side, super_cluster) {
            continue;
        }
        for entries in segments(near.placed.decode(list, super_cluster)) {
            near.place::<S>(simd, &shared.packed, super_cluster, entries, true);
            others.clear();
            others.extend(near.placed.clusters.iter().zip(&near.placed.shifts).map(|(&cluster, shift)| {
                Other { shift: *shift, cluster, given: given.begin(cluster as usize) as u32, pairs: ALL }
            }));
            for cluster in super_cluster * CLUSTERS..(super_cluster + 1) * CLUSTERS {
                let first = cluster * CLUSTER;
                if shared.rows.wanted(first..first + CLUSTER) {
                    cluster_sums::<L, T, S>(
                        simd,
                        shared,
                        cluster,
                        &near,
                        &mut others,
                        given.vectors_mut(),
                        sums,
                    );
                }
            }
        }
    }
    given.take(
        #[inline(always)]
        |cluster, vectors| {
            let columns = sums.blocks.cluster_mut(cluster).as_chunks_mut::<CLUSTER>().0;
            for ((sum, vector), totals) in L::SUMS.iter().zip(vectors).zip(columns) {
                R::<T, S>::join_wide(simd, vector.as_ref(), sum.reduction, totals);
            }
        },
    );
}

/// A cluster's sums over its entries, with their reactions.
#[inline(always)]
fn cluster_sums<L: PairLaw, T: Scalar, S: Simd>(
    simd: S,
    shared: &Shared<L, T>,
    cluster: usize,
    near: &Near<T>,
    others: &mut [Other<T>],
    given: &mut [T::Vector],
    sums: &mut ChunkSums<T>,
) {
    let rows = R::<T, S>::ROWS;
    let itself = near.placed.itself(cluster);
    for begin in (0..CLUSTER).step_by(JOINED * rows) {
        let mut totals = [nothing::<L, R<T, S>>(simd); JOINED];
        for (k, totals) in totals.iter_mut().enumerate() {
            let first = begin + k * rows;
            if let Some(itself) = itself {
                others[itself].pairs = self_pairs(first, rows, true) as u32;
            }
            let met;
            (*totals, met) = row_sums::<L, T, S>(simd, shared, cluster, first, near, others, given);
            sums.add_work(cluster * CLUSTER + first, rows, met * CLUSTER);
            sums.lane_pairs += (met * rows * CLUSTER) as u64;
        }
        let target = sums.blocks.cluster_mut(cluster);
        for (c, target) in target.chunks_exact_mut(CLUSTER).enumerate() {
            let reduction = L::SUMS[c].reduction;
            let mut column = [R::<T, S>::literal(simd, 0.0); JOINED];
            for (column, totals) in column.iter_mut().zip(&totals) {
                *column = totals.to_columns().as_ref()[c];
            }
            let joined = R::<T, S>::rows(column, reduction);
            let target = &mut target[begin..begin + JOINED * rows];
            for (total, value) in target.iter_mut().zip(joined.lanes()) {
                *total = reduction.join(*total, value.to_f64());
            }
        }
    }
    if let Some(itself) = itself {
        others[itself].pairs = ALL;
    }
}

/// The totals of as many rows of a cluster as a vector has, from the row `first` on, and how many entries they met. What
/// these get is added to their reactions.
#[inline(always)]
fn row_sums<L: PairLaw, T: Scalar, S: Simd>(
    simd: S,
    shared: &Shared<L, T>,
    cluster: usize,
    first: usize,
    near: &Near<T>,
    others: &[Other<T>],
    reactions: &mut [T::Vector],
) -> (L::Sums<R<T, S>>, usize) {
    let packed = &shared.packed;
    let block = packed.block(cluster);
    let parameters = shared.law.parameters::<R<T, S>>(simd);
    let common = R::<T, S>::literal(simd, packed.largest * packed.largest);
    let reach_i = if L::CUTOFF == Cutoff::Common {
        common
    } else {
        spread::<R<T, S>>(simd, block, GEOMETRY - 1, first)
    };
    let position = vector(
        #[inline(always)]
        |d| spread::<R<T, S>>(simd, block, d, first),
    );
    let i = L::Prepared::<R<T, S>>::from_columns(
        #[inline(always)]
        |c| spread::<R<T, S>>(simd, block, GEOMETRY + c, first),
    );
    let mut totals = nothing::<L, R<T, S>>(simd);
    let mut met = 0;
    for (word, &entries) in near.met(cluster, first).iter().enumerate() {
        let mut left = entries;
        met += left.count_ones() as usize;
        while left != 0 {
            let bit = left.trailing_zeros();
            left &= left - 1;
            let other = &others[word * u64::BITS as usize + bit as usize];
            let block_j = packed.block(other.cluster as usize);
            let shift = vector(
                #[inline(always)]
                |d| R::<T, S>::every(simd, other.shift[d]),
            );
            let r = vector(
                #[inline(always)]
                |d| repeat::<R<T, S>>(simd, block_j, d),
            );
            let mut r = (position - shift) - r;
            if near.placed.images {
                r = nearest(r, lift(simd, packed.periods), lift(simd, packed.frequency));
            }
            let r2 = r.dot(r);
            let reach_j = if L::CUTOFF == Cutoff::Common {
                common
            } else {
                repeat::<R<T, S>>(simd, block_j, GEOMETRY - 1)
            };
            let reach = match L::CUTOFF {
                Cutoff::Common => common,
                Cutoff::Own => reach_i,
                Cutoff::Either => Real::max(reach_i, reach_j),
            };
            let pairs = R::<T, S>::mask(simd, u64::from(other.pairs));
            let mask = r2.less(reach) & pairs;
            let mask_j = if L::CUTOFF == Cutoff::Own { r2.less(reach_j) & pairs } else { mask };
            if const { branches::<L, T, S>() } && R::<T, S>::bits(mask | mask_j) == 0 {
                continue;
            }
            let j = L::Prepared::<R<T, S>>::from_columns(
                #[inline(always)]
                |c| repeat::<R<T, S>>(simd, block_j, GEOMETRY + c),
            );
            let given = L::interact::<R<T, S>>(simd, parameters, i, j, r, r2);
            if const { !two_sided(L::SUMS) } {
                // both sides take the same
                totals = joined::<L, R<T, S>>(totals, masked::<L, R<T, S>>(simd, mask, given));
            } else {
                totals = collected::<L, R<T, S>>(mask, given, totals);
            }
            let back = reaction::<L, R<T, S>>(
                simd,
                mask_j,
                given,
                #[inline(always)]
                || L::interact::<R<T, S>>(simd, parameters, j, i, -r, r2),
            );
            let begin = other.given as usize;
            let reactions = &mut reactions[begin..begin + L::SUMS.len()];
            for (c, reaction) in reactions.iter_mut().enumerate() {
                back.to_columns().as_ref()[c].join_into(L::SUMS[c], reaction.as_mut());
            }
        }
    }
    (totals, met)
}
