//! Full lists: the neighbors in range of each particle are found first, then gathered, so that the law is
//! evaluated for pairs in range alone.

use super::candidates::{Candidates, segments};
use super::gathered::{gathered_sums, reduce_eight};
use super::neighbor_search::{ENTRY_GEOMETRY, NeighborSearch, load_geometry};
use super::pipeline::Rows;
use super::{Shared, Side, identity_sums, vec3_from_fn};
use crate::neighbors::{CLUSTER, CLUSTERS, ClusterList};
use crate::pair::law::{Columns, Cutoff, PairLaw};
use crate::pair::pack::{GEOMETRY, PackedInput};
use crate::pair::record::{OFFSETS, QUAD, quads, stride};
use crate::pair::sums::ChunkSums;
use crate::parallel::Aligned;
use crate::simd::{Lanes, Scalar, vectorize};
use fearless_simd::Simd;

/// Lanes with elements `T`.
type R<T, S> = <T as Scalar>::Lanes<S>;

/// A segment of a super-cluster's list.
struct Segment<'a, L, T: Scalar> {
    shared: &'a Shared<'a, L, T>,
    candidates: &'a Candidates<T>,
    /// Per entry, the geometry of eight particles in columns.
    offsets: &'a [T],
    /// Record of each particle.
    records: &'a T::Records,
}

/// Sums of a chunk's super-clusters.
#[inline(always)]
pub(super) fn sums<L: PairLaw, T: Scalar, S: Simd>(
    simd: S,
    shared: &Shared<L, T>,
    list: &ClusterList,
    side: Option<Side>,
    sums: &mut ChunkSums<T>,
) {
    let (mut candidates, mut offsets, mut totals) =
        (Candidates::<T>::new(R::<T, S>::ROWS), Aligned::new(0), Aligned::new(0));
    let mut search = NeighborSearch::new(stride::<T>(quads::<L>()));
    let mut records = T::take_records();
    totals.resize(const { L::SUMS.len() * CLUSTER * R::<T, S>::COUNT });
    for super_cluster in sums.super_clusters.clone() {
        if !shared.swept(list, side, super_cluster) {
            continue;
        }
        for entries in segments(candidates.shifts.decode(list, super_cluster)) {
            candidates.place::<S>(simd, &shared.packed, super_cluster, entries, false);
            load_geometry::<T, S>(simd, &shared.packed, &candidates.shifts, &mut offsets);
            write_records::<L, T, S>(simd, &shared.packed, &candidates, &offsets, &mut records);
            let segment = Segment { shared, candidates: &candidates, offsets: &offsets, records: &records };
            for cluster in super_cluster * CLUSTERS..(super_cluster + 1) * CLUSTERS {
                let first = cluster * CLUSTER;
                if shared.rows.wanted(first..first + CLUSTER) {
                    segment.cluster_sums(simd, cluster, &mut search, &mut totals, sums);
                }
            }
        }
    }
    T::return_records(records);
}

/// Writes the records of a segment's particles.
#[inline(always)]
fn write_records<L: PairLaw, T: Scalar, S: Simd>(
    simd: S,
    packed: &PackedInput<T>,
    candidates: &Candidates<T>,
    offsets: &[T],
    records: &mut T::Records,
) {
    let nothing = [T::default(); CLUSTER];
    let entries = candidates.shifts.clusters.iter().zip(offsets.as_chunks::<ENTRY_GEOMETRY>().0);
    let records = T::values_mut(records).chunks_exact_mut(const { CLUSTER * QUAD * quads::<L>() });
    for ((cluster, offsets), records) in entries.zip(records) {
        let block = packed.block(*cluster as usize);
        for quad in 0..const { quads::<L>() } {
            let mut four: [&[T]; QUAD] = [&nothing; QUAD];
            for (k, four) in four.iter_mut().enumerate() {
                // Records omit the squared radius, which columns have between offsets and inputs.
                let (from, c) = match quad * QUAD + k {
                    c if c < OFFSETS => (offsets.as_slice(), c),
                    c => (block, c - OFFSETS + GEOMETRY),
                };
                if let Some(column) = from.get(c * CLUSTER..(c + 1) * CLUSTER) {
                    *four = column;
                }
            }
            R::<T, S>::write_quads(simd, four, records, const { quads::<L>() }, quad);
        }
    }
}

impl<L: PairLaw, T: Scalar> Segment<'_, L, T> {
    /// Adds a cluster's sums over the segment. `totals` is scratch for a vector per sum and row.
    #[inline(always)]
    fn cluster_sums<S: Simd>(
        &self,
        simd: S,
        cluster: usize,
        search: &mut NeighborSearch,
        totals: &mut [T],
        sums: &mut ChunkSums<T>,
    ) {
        let (rows, lanes) = const { (R::<T, S>::ROWS, R::<T, S>::COUNT) };
        let chosen = &self.shared.rows;
        for first in (0..CLUSTER).step_by(rows) {
            let row = cluster * CLUSTER + first;
            let tested = match chosen.wanted(row..row + rows) {
                true => self.find(simd, cluster, first, search),
                false => 0,
            };
            sums.lane_pairs += (tested * rows * CLUSTER) as u64;
            for k in 0..rows {
                let mut own = identity_sums::<L, R<T, S>>(simd);
                if chosen.wanted(row + k..row + k + 1) {
                    let (starts, count) = search.neighbors(k);
                    own = self.row_sums(simd, cluster, first + k, starts, count);
                    let evaluated = count * (1 + L::INPUTS.len() + L::SUMS.len());
                    sums.add_work(row + k, 1, tested * CLUSTER + evaluated);
                }
                // All columns at once: an array of structs of vectors would be copied per column.
                let own = own.to_columns();
                for (c, &total) in own.as_ref().iter().enumerate() {
                    total.store(&mut totals[(c * CLUSTER + first + k) * lanes..][..lanes]);
                }
            }
        }
        let target = sums.blocks.cluster_mut(cluster);
        reduce_eight::<L, T, S>(
            simd,
            totals,
            #[inline(always)]
            |c, joined| {
                let reduction = L::SUMS[c].reduction;
                for (total, value) in target[c * CLUSTER..][..CLUSTER].iter_mut().zip(joined) {
                    *total = reduction.join(*total, value.to_f64());
                }
            },
        );
    }

    /// Finds the neighbors in range of a vector of rows. Returns the number of tested entries.
    #[inline(always)]
    fn find<S: Simd>(&self, simd: S, cluster: usize, first: usize, search: &mut NeighborSearch) -> usize {
        let (packed, candidates, offsets) = (&self.shared.packed, self.candidates, self.offsets);
        // Independent of the law, so they are compiled once.
        match const { L::CUTOFF } {
            Cutoff::Either => vectorize(
                simd,
                #[inline(always)]
                || search.find::<T, S, true>(simd, packed, cluster, first, candidates, offsets),
            ),
            Cutoff::Own | Cutoff::Common => vectorize(
                simd,
                #[inline(always)]
                || search.find::<T, S, false>(simd, packed, cluster, first, candidates, offsets),
            ),
        }
    }

    /// Totals of a row over `count` neighbors, whose records begin at `starts`.
    #[inline(always)]
    fn row_sums<S: Simd>(
        &self,
        simd: S,
        cluster: usize,
        row: usize,
        starts: &[u16],
        count: usize,
    ) -> L::Sums<R<T, S>> {
        let block = self.shared.packed.block(cluster);
        let packed = &self.shared.packed;
        let images = self.candidates.shifts.needs_images.then_some([packed.periods, packed.frequency]);
        let i = Rows {
            position: vec3_from_fn(
                #[inline(always)]
                |d| R::<T, S>::broadcast(simd, block[d * CLUSTER + row]),
            ),
            prepared: L::Prepared::<R<T, S>>::from_columns(
                #[inline(always)]
                |c| R::<T, S>::broadcast(simd, block[(GEOMETRY + c) * CLUSTER + row]),
            ),
        };
        gathered_sums::<L, T, S>(simd, self.shared.law, &i, self.records, (starts, count), images)
    }
}
