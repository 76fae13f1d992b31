//! Tile lists: four rows i against as many listed particles j as fit a vector, so that few lanes are out of
//! range.
//!
//! Records of the particles of a segment are loaded into its frame, as are their reactions. Both stay in the
//! nearest caches and are addressed by the entries of the list.

use super::cluster_shifts::ClusterShifts;
use super::pipeline::PairConstants;
use super::segment::Segment;
use super::{Shared, Side};
use crate::neighbors::{CLUSTER, CLUSTERS, ENTRIES, ENTRY_SCALE, GROUP, TileList};
use crate::pair::law::{Cutoff, PairLaw, Parity, Reduction};
use crate::pair::reaction_buffer::{
    MAX_REACTION_QUADS, ReactionBuffer, reaction_cluster_values, reaction_cluster_vectors,
};
use crate::pair::record::{PARTICLES, QUAD, quads};
use crate::pair::sums::ChunkSums;
use crate::simd::real::Real;
use crate::simd::{Lanes, Scalar};
use fearless_simd::Simd;

const _: () = assert!(
    ENTRIES / ENTRY_SCALE <= PARTICLES && ENTRY_SCALE == QUAD,
    "a segment and a padding cluster fit the records, and entries are record offsets"
);

/// Lanes with elements `T`.
type R<T, S> = <T as Scalar>::Lanes<S>;

/// Whether tiles support a law: one common cutoff, and sums that are all even or odd. Half lists of such laws
/// are swept as tiles only.
pub const fn supports_tiles<L: PairLaw>() -> bool {
    let mut supports = matches!(L::CUTOFF, Cutoff::Common) && L::SUMS.len() <= MAX_REACTION_QUADS * QUAD;
    let mut k = 0;
    while k < L::SUMS.len() {
        supports = supports
            && matches!(L::SUMS[k].reduction, Reduction::Sum)
            && !matches!(L::SUMS[k].parity, Parity::Neither);
        k += 1;
    }
    supports
}

/// Sums of a chunk's super-clusters, with their reactions.
#[inline(always)]
pub(super) fn sums<L: PairLaw, T: Scalar, S: Simd>(
    simd: S,
    shared: &Shared<L, T>,
    list: &TileList,
    side: Option<Side>,
    sums: &mut ChunkSums<T>,
) {
    let clusters = shared.reaction_rows.start / CLUSTER..shared.reaction_rows.end.div_ceil(CLUSTER);
    let (mut shifts, mut buffer) =
        (ClusterShifts::<T>::new(), ReactionBuffer::<T>::records(L::SUMS.len(), clusters));
    let (mut records, mut reactions) = (T::take_records(), T::take_records());
    let mut begins = Vec::new();
    let pairs = PairConstants::<L, R<T, S>> {
        reach: R::<T, S>::literal(simd, shared.packed.largest * shared.packed.largest),
        parameters: shared.law.parameters::<R<T, S>>(simd),
    };
    let packed = &shared.packed;
    for group in list.groups(sums.super_clusters.clone()) {
        let members = list.members(group);
        let mut swept = [false; GROUP];
        for (swept, super_cluster) in swept.iter_mut().zip(members.clone()) {
            let own = sums.super_clusters.contains(&super_cluster);
            *swept = own && shared.swept(list.clusters(), side, super_cluster);
            if *swept {
                // Allocate even without pairs: the rows get outputs.
                buffer.begin(super_cluster * CLUSTERS);
            }
        }
        for tiles in list.segments(group) {
            let numbers = tiles.members.start as usize..tiles.members.end as usize;
            if !swept[numbers.clone()].contains(&true) {
                continue;
            }
            let segment_members = members.start + numbers.start..members.start + numbers.end;
            shifts.compute_for(packed, segment_members, tiles.clusters, true);
            begins.clear();
            begins.extend(tiles.clusters.iter().map(|cluster| buffer.begin(*cluster as usize) as u32));
            load_records::<L, T, S>(simd, shared, tiles.clusters, &shifts, &mut records);
            load_reactions::<L, T, S>(simd, &begins, &mut buffer, &mut reactions);
            let (shifts, first) = (&shifts, members.start);
            let segment = Segment {
                shared,
                tiles,
                shifts,
                first,
                records: &records,
                reactions: &mut reactions,
                buffer: &mut buffer,
            };
            match shifts.needs_images {
                false => segment.sweep_outlined::<S, false>(simd, pairs, swept, sums),
                true => segment.sweep_outlined::<S, true>(simd, pairs, swept, sums),
            }
            store_reactions::<L, T, S>(simd, &begins, &mut reactions, &mut buffer);
        }
    }
    sums.reactions = Some(buffer);
    T::return_records(records);
    T::return_records(reactions);
}

/// Loads the records of a segment's clusters into its frame, and appends one of a padding particle out of
/// range.
#[inline(always)]
fn load_records<L: PairLaw, T: Scalar, S: Simd>(
    simd: S,
    shared: &Shared<L, T>,
    clusters: &[u32],
    shifts: &ClusterShifts<T>,
    records: &mut T::Records,
) {
    let values = T::values_mut(records);
    let length = const { CLUSTER * QUAD * quads::<L>() };
    let (count, groups) = const { (R::<T, S>::COUNT, R::<T, S>::COUNT / QUAD) };
    for ((cluster, [x, y, z]), to) in clusters.iter().zip(&shifts.shifts).zip(values.chunks_exact_mut(length))
    {
        let from = &shared.packed.block(*cluster as usize)[..length];
        let shift = R::<T, S>::repeat_quad(simd, &[*x, *y, *z, T::default()]);
        for (vector, (from, to)) in from.chunks_exact(count).zip(to.chunks_exact_mut(count)).enumerate() {
            // Lanes of a record's first quad, which has the offsets.
            let mut lanes = 0;
            for group in 0..groups {
                if (vector * groups + group).is_multiple_of(const { quads::<L>() }) {
                    lanes |= 0xf << (group * QUAD);
                }
            }
            let mut own = R::<T, S>::load(simd, from);
            if lanes == (1 << count) - 1 {
                own = own + shift;
            } else if lanes != 0 {
                own = R::<T, S>::select(R::<T, S>::mask(simd, lanes), own + shift, own);
            }
            own.store(to);
        }
    }
    let padding = &mut values[clusters.len() * length..][..QUAD * quads::<L>()];
    padding.fill(T::default());
    padding[0] = T::from_f64(f64::NAN);
}

/// Loads the reactions of a segment's clusters; `begins` are the offsets of their vectors.
#[inline(always)]
fn load_reactions<L: PairLaw, T: Scalar, S: Simd>(
    simd: S,
    begins: &[u32],
    buffer: &mut ReactionBuffer<T>,
    reactions: &mut T::Records,
) {
    let values = T::values_mut(reactions);
    for (begin, values) in begins.iter().zip(values.chunks_exact_mut(reaction_cluster_values::<L>())) {
        let vectors = &buffer.vectors_mut()[*begin as usize..][..reaction_cluster_vectors::<L, T, S>()];
        for (vector, values) in vectors.iter().zip(values.chunks_exact_mut(R::<T, S>::COUNT)) {
            R::<T, S>::load(simd, vector.as_ref()).store(values);
        }
    }
}

/// Stores the reactions back.
#[inline(always)]
fn store_reactions<L: PairLaw, T: Scalar, S: Simd>(
    simd: S,
    begins: &[u32],
    reactions: &mut T::Records,
    buffer: &mut ReactionBuffer<T>,
) {
    let values = T::values_mut(reactions);
    for (begin, values) in begins.iter().zip(values.chunks_exact(reaction_cluster_values::<L>())) {
        let vectors = &mut buffer.vectors_mut()[*begin as usize..][..reaction_cluster_vectors::<L, T, S>()];
        for (vector, values) in vectors.iter_mut().zip(values.chunks_exact(R::<T, S>::COUNT)) {
            R::<T, S>::load(simd, values).store(vector.as_mut());
        }
    }
}
