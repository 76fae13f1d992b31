//! Tiles: four particles i against as many single particles j as lanes take, all of them named by the list, so that few lanes
//! are out of range.
//!
//! What pairs need of the particles of a super-cluster's list is brought into its frame as a record each, and so is what these have
//! been given; both stay in the nearest caches, and are found by the numbers of the list.

use super::clusters;
use super::placed::Placed;
use super::segment::Segment;
use super::stages::AllPairs;
use super::{Shared, Side};
use crate::neighbors::{CLUSTER, CLUSTERS, ENTRIES, GROUP, TileList, VALUES};
use crate::pair::given::{GIVEN, Given, given_values, given_vectors};
use crate::pair::lane::{Lanes, Scalar};
use crate::pair::law::{Cutoff, PairLaw, Parity, Reduction};
use crate::pair::real::Real;
use crate::pair::record::{PARTICLES, QUAD, quads};
use crate::pair::sums::ChunkSums;
use fearless_simd::Simd;

const _: () = assert!(
    ENTRIES / VALUES <= PARTICLES && VALUES == QUAD,
    "a segment and one cluster more have records, whose begins are the entries"
);

/// Lanes of the type T.
type R<T, S> = <T as Scalar>::Lanes<S>;

/// Whether tiles serve a law: one cutoff, and sums that symmetry tells of both particles.
pub(super) const fn serve<L: PairLaw>() -> bool {
    let mut serve = matches!(L::CUTOFF, Cutoff::Common) && L::SUMS.len() <= GIVEN * QUAD;
    let mut k = 0;
    while k < L::SUMS.len() {
        serve = serve
            && matches!(L::SUMS[k].reduction, Reduction::Sum)
            && !matches!(L::SUMS[k].parity, Parity::Neither);
        k += 1;
    }
    serve
}

/// The sums of a chunk's super-clusters, with their reactions.
#[inline(always)]
pub(super) fn sums<L: PairLaw, T: Scalar, S: Simd>(
    simd: S,
    shared: &Shared<L, T>,
    list: &TileList,
    side: Option<Side>,
    sums: &mut ChunkSums<T>,
) {
    if const { !serve::<L>() } {
        return clusters::sums::<L, T, S>(simd, shared, list.clusters(), side, sums);
    }
    let clusters = shared.given.start / CLUSTER..shared.given.end.div_ceil(CLUSTER);
    let (mut placed, mut kept) = (Placed::<T>::new(), Given::<T>::records::<L>(clusters));
    let (mut records, mut given) = (T::take_records(), T::take_records());
    let mut begins = Vec::new();
    let pairs = AllPairs::<L, R<T, S>> {
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
                // sums of no pairs are sums too
                kept.begin(super_cluster * CLUSTERS);
            }
        }
        for tiles in list.segments(group) {
            let numbers = tiles.members.start as usize..tiles.members.end as usize;
            if !swept[numbers.clone()].contains(&true) {
                continue;
            }
            let of = members.start + numbers.start..members.start + numbers.end;
            placed.place_clusters(packed, of, tiles.clusters, true);
            begins.clear();
            begins.extend(tiles.clusters.iter().map(|cluster| kept.begin(*cluster as usize) as u32));
            bring::<L, T, S>(simd, shared, tiles.clusters, &placed, &mut records);
            bring_given::<L, T, S>(simd, &begins, &mut kept, &mut given);
            let (placed, first) = (&placed, members.start);
            let segment = Segment {
                shared,
                tiles,
                placed,
                first,
                records: &records,
                given: &mut given,
                kept: &mut kept,
            };
            match placed.images {
                false => segment.all_sums::<S, false>(simd, pairs, swept, sums),
                true => segment.all_sums::<S, true>(simd, pairs, swept, sums),
            }
            keep_given::<L, T, S>(simd, &begins, &mut given, &mut kept);
        }
    }
    sums.given = Some(kept);
    T::keep_records(records);
    T::keep_records(given);
}

/// Bring the records of the particles of a segment's clusters into the super-cluster's frame, and write behind them one of a
/// particle that is out of reach.
#[inline(always)]
fn bring<L: PairLaw, T: Scalar, S: Simd>(
    simd: S,
    shared: &Shared<L, T>,
    clusters: &[u32],
    placed: &Placed<T>,
    records: &mut T::Records,
) {
    let values = T::values_mut(records);
    let length = const { CLUSTER * QUAD * quads::<L>() };
    let (count, groups) = const { (R::<T, S>::COUNT, R::<T, S>::COUNT / QUAD) };
    for ((cluster, [x, y, z]), to) in clusters.iter().zip(&placed.shifts).zip(values.chunks_exact_mut(length))
    {
        let from = &shared.packed.block(*cluster as usize)[..length];
        let shift = R::<T, S>::fours(simd, &[*x, *y, *z, T::default()]);
        for (vector, (from, to)) in from.chunks_exact(count).zip(to.chunks_exact_mut(count)).enumerate() {
            // those of a record's first quad
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
    let behind = &mut values[clusters.len() * length..][..QUAD * quads::<L>()];
    behind.fill(T::default());
    behind[0] = T::from_f64(f64::NAN);
}

/// Bring what the particles of clusters have been given, whose vectors begin so.
#[inline(always)]
fn bring_given<L: PairLaw, T: Scalar, S: Simd>(
    simd: S,
    begins: &[u32],
    kept: &mut Given<T>,
    given: &mut T::Records,
) {
    let values = T::values_mut(given);
    for (begin, values) in begins.iter().zip(values.chunks_exact_mut(given_values::<L>())) {
        let vectors = &kept.vectors_mut()[*begin as usize..][..given_vectors::<L, T, S>()];
        for (vector, values) in vectors.iter().zip(values.chunks_exact_mut(R::<T, S>::COUNT)) {
            R::<T, S>::load(simd, vector.as_ref()).store(values);
        }
    }
}

/// Keep what they have been given since.
#[inline(always)]
fn keep_given<L: PairLaw, T: Scalar, S: Simd>(
    simd: S,
    begins: &[u32],
    given: &mut T::Records,
    kept: &mut Given<T>,
) {
    let values = T::values_mut(given);
    for (begin, values) in begins.iter().zip(values.chunks_exact(given_values::<L>())) {
        let vectors = &mut kept.vectors_mut()[*begin as usize..][..given_vectors::<L, T, S>()];
        for (vector, values) in vectors.iter_mut().zip(values.chunks_exact(R::<T, S>::COUNT)) {
            R::<T, S>::load(simd, values).store(vector.as_mut());
        }
    }
}
