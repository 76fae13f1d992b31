//! Half lists of laws that tiles do not support: a gas with `symmetric = true`, whose radii are those of the
//! particles and whose heating rate is neither even nor odd.
//!
//! The list of a super-cluster is decoded once; then each vector of rows i is swept against its candidate
//! entries, eight particles j at a time.

use super::candidates::{Candidates, segments};
use super::{
    Shared, Side, add_masked, broadcast_rows, identity_sums, join_sums, lift, masked_sums, minimum_image,
    reaction, repeat_rows, self_pairs, two_sided, vec3_from_fn,
};
use crate::neighbors::{CLUSTER, CLUSTERS, ClusterList};
use crate::pair::law::{Columns, Cutoff, PairLaw};
use crate::pair::pack::GEOMETRY;
use crate::pair::reaction_buffer::ReactionBuffer;
use crate::pair::sums::ChunkSums;
use crate::simd::real::Real;
use crate::simd::{Lanes, Scalar};
use fearless_simd::Simd;

/// Vectors of rows whose totals are reduced together.
const VECTORS_AT_ONCE: usize = 4;

/// Lanes with elements `T`.
type R<T, S> = <T as Scalar>::Lanes<S>;

/// Whether to branch on vectors without pairs in range: if a law costs more than a branch misprediction.
const fn skips_empty_vectors<L: PairLaw, T: Scalar, S: Simd>() -> bool {
    L::SUMS.len() > 5 || size_of::<R<T, S>>() > size_of::<S::f32s>()
}

/// Data of an entry.
struct ListedCluster<T> {
    /// Shift into the super-cluster's frame.
    shift: [T; 3],
    /// The cluster.
    cluster: u32,
    /// Offset of its reactions.
    reaction_begin: u32,
    /// Mask of the lanes that are pairs.
    pairs: u32,
}

/// Every lane.
const ALL_LANES: u32 = u32::MAX;

/// Sums of a chunk's super-clusters, with their reactions.
#[inline(always)]
pub(super) fn sums<L: PairLaw, T: Scalar, S: Simd>(
    simd: S,
    shared: &Shared<L, T>,
    list: &ClusterList,
    side: Option<Side>,
    sums: &mut ChunkSums<T>,
) {
    let clusters = shared.reaction_rows.start / CLUSTER..shared.reaction_rows.end.div_ceil(CLUSTER);
    let (mut candidates, mut listed_clusters) = (Candidates::<T>::new(R::<T, S>::ROWS), Vec::new());
    let mut buffer = ReactionBuffer::<T>::new(L::SUMS.iter().map(|sum| sum.reduction.identity()), clusters);
    for super_cluster in sums.super_clusters.clone() {
        if !shared.swept(list, side, super_cluster) {
            continue;
        }
        for entries in segments(candidates.shifts.decode(list, super_cluster)) {
            candidates.place::<S>(simd, &shared.packed, super_cluster, entries, true);
            listed_clusters.clear();
            listed_clusters.extend(candidates.shifts.clusters.iter().zip(&candidates.shifts.shifts).map(
                |(&cluster, shift)| ListedCluster {
                    shift: *shift,
                    cluster,
                    reaction_begin: buffer.begin(cluster as usize) as u32,
                    pairs: ALL_LANES,
                },
            ));
            for cluster in super_cluster * CLUSTERS..(super_cluster + 1) * CLUSTERS {
                let first = cluster * CLUSTER;
                if shared.rows.wanted(first..first + CLUSTER) {
                    cluster_sums::<L, T, S>(
                        simd,
                        shared,
                        cluster,
                        &candidates,
                        &mut listed_clusters,
                        buffer.vectors_mut(),
                        sums,
                    );
                }
            }
        }
    }
    buffer.for_each_cluster(
        #[inline(always)]
        |cluster, vectors| {
            let columns = sums.blocks.cluster_mut(cluster).as_chunks_mut::<CLUSTER>().0;
            for ((sum, vector), totals) in L::SUMS.iter().zip(vectors).zip(columns) {
                R::<T, S>::reduce_to_double(simd, vector.as_ref(), sum.reduction, totals);
            }
        },
    );
}

/// Sums of a cluster over its entries, with their reactions.
#[inline(always)]
fn cluster_sums<L: PairLaw, T: Scalar, S: Simd>(
    simd: S,
    shared: &Shared<L, T>,
    cluster: usize,
    candidates: &Candidates<T>,
    listed_clusters: &mut [ListedCluster<T>],
    reactions: &mut [T::Vector],
    sums: &mut ChunkSums<T>,
) {
    let rows = R::<T, S>::ROWS;
    let self_entry = candidates.shifts.self_entry(cluster);
    for begin in (0..CLUSTER).step_by(VECTORS_AT_ONCE * rows) {
        let mut totals = [identity_sums::<L, R<T, S>>(simd); VECTORS_AT_ONCE];
        for (k, totals) in totals.iter_mut().enumerate() {
            let first = begin + k * rows;
            if let Some(self_entry) = self_entry {
                listed_clusters[self_entry].pairs = self_pairs(first, rows, true) as u32;
            }
            let tested;
            (*totals, tested) =
                row_sums::<L, T, S>(simd, shared, cluster, first, candidates, listed_clusters, reactions);
            sums.add_work(cluster * CLUSTER + first, rows, tested * CLUSTER);
            sums.lane_pairs += (tested * rows * CLUSTER) as u64;
        }
        let target = sums.blocks.cluster_mut(cluster);
        for (c, target) in target.chunks_exact_mut(CLUSTER).enumerate() {
            let reduction = L::SUMS[c].reduction;
            let mut column = [R::<T, S>::literal(simd, 0.0); VECTORS_AT_ONCE];
            for (column, totals) in column.iter_mut().zip(&totals) {
                *column = totals.to_columns().as_ref()[c];
            }
            let joined = R::<T, S>::reduce_rows(column, reduction);
            let target = &mut target[begin..begin + VECTORS_AT_ONCE * rows];
            for (total, value) in target.iter_mut().zip(joined.lanes()) {
                *total = reduction.join(*total, value.to_f64());
            }
        }
    }
    if let Some(self_entry) = self_entry {
        listed_clusters[self_entry].pairs = ALL_LANES;
    }
}

/// Totals of a vector of rows of a cluster, from row `first` on, and the number of tested entries. Reactions
/// are accumulated in `reactions`.
#[inline(always)]
fn row_sums<L: PairLaw, T: Scalar, S: Simd>(
    simd: S,
    shared: &Shared<L, T>,
    cluster: usize,
    first: usize,
    candidates: &Candidates<T>,
    listed_clusters: &[ListedCluster<T>],
    reactions: &mut [T::Vector],
) -> (L::Sums<R<T, S>>, usize) {
    let packed = &shared.packed;
    let block = packed.block(cluster);
    let parameters = shared.law.parameters::<R<T, S>>(simd);
    let common = R::<T, S>::literal(simd, packed.largest * packed.largest);
    let reach_i = if L::CUTOFF == Cutoff::Common {
        common
    } else {
        broadcast_rows::<R<T, S>>(simd, block, GEOMETRY - 1, first)
    };
    let position = vec3_from_fn(
        #[inline(always)]
        |d| broadcast_rows::<R<T, S>>(simd, block, d, first),
    );
    let i = L::Prepared::<R<T, S>>::from_columns(
        #[inline(always)]
        |c| broadcast_rows::<R<T, S>>(simd, block, GEOMETRY + c, first),
    );
    let mut totals = identity_sums::<L, R<T, S>>(simd);
    let mut tested = 0;
    for (word, &entries) in candidates.words(cluster, first).iter().enumerate() {
        let mut left = entries;
        tested += left.count_ones() as usize;
        while left != 0 {
            let bit = left.trailing_zeros();
            left &= left - 1;
            let listed_cluster = &listed_clusters[word * u64::BITS as usize + bit as usize];
            let block_j = packed.block(listed_cluster.cluster as usize);
            let shift = vec3_from_fn(
                #[inline(always)]
                |d| R::<T, S>::broadcast(simd, listed_cluster.shift[d]),
            );
            let r = vec3_from_fn(
                #[inline(always)]
                |d| repeat_rows::<R<T, S>>(simd, block_j, d),
            );
            let mut r = (position - shift) - r;
            if candidates.shifts.needs_images {
                r = minimum_image(r, lift(simd, packed.periods), lift(simd, packed.frequency));
            }
            let r2 = r.dot(r);
            let reach_j = if L::CUTOFF == Cutoff::Common {
                common
            } else {
                repeat_rows::<R<T, S>>(simd, block_j, GEOMETRY - 1)
            };
            let reach = match L::CUTOFF {
                Cutoff::Common => common,
                Cutoff::Own => reach_i,
                Cutoff::Either => Real::max(reach_i, reach_j),
            };
            let pairs = R::<T, S>::mask(simd, u64::from(listed_cluster.pairs));
            let mask = r2.less(reach) & pairs;
            let mask_j = if L::CUTOFF == Cutoff::Own { r2.less(reach_j) & pairs } else { mask };
            if const { skips_empty_vectors::<L, T, S>() } && R::<T, S>::bits(mask | mask_j) == 0 {
                continue;
            }
            let j = L::Prepared::<R<T, S>>::from_columns(
                #[inline(always)]
                |c| repeat_rows::<R<T, S>>(simd, block_j, GEOMETRY + c),
            );
            let contribution = L::interact::<R<T, S>>(simd, parameters, i, j, r, r2);
            if const { !two_sided(L::SUMS) } {
                // One masked value serves both sides.
                totals = join_sums::<L, R<T, S>>(totals, masked_sums::<L, R<T, S>>(simd, mask, contribution));
            } else {
                totals = add_masked::<L, R<T, S>>(mask, contribution, totals);
            }
            let reaction_on_j = reaction::<L, R<T, S>>(
                simd,
                mask_j,
                contribution,
                #[inline(always)]
                || L::interact::<R<T, S>>(simd, parameters, j, i, -r, r2),
            );
            let begin = listed_cluster.reaction_begin as usize;
            let reactions = &mut reactions[begin..begin + L::SUMS.len()];
            for (c, reaction) in reactions.iter_mut().enumerate() {
                reaction_on_j.to_columns().as_ref()[c].accumulate_into(L::SUMS[c], reaction.as_mut());
            }
        }
    }
    (totals, tested)
}
