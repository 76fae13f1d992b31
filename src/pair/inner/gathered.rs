//! Full lists: the neighbors in range of each particle are found first, and then gathered, as many at a time as there are
//! lanes, so that a law is evaluated for pairs in range alone.

use super::found::{Found, GEOMETRIES, bring};
use super::near::{Near, segments};
use super::{Shared, Side, collected, lift, nearest, nothing, vector};
use crate::neighbors::{CLUSTER, CLUSTERS, ClusterList};
use crate::pair::aligned::Aligned;
use crate::pair::lane::{Lanes, Scalar, vectorize};
use crate::pair::law::{Columns, Cutoff, PairLaw};
use crate::pair::pack::{GEOMETRY, Packed};
use crate::pair::real::Real;
use crate::pair::record::{OFFSETS, QUAD, QUADS, quads, stride};
use crate::pair::sums::ChunkSums;
use crate::pair::vec3::Vec3;
use fearless_simd::Simd;

/// Lanes of the type T.
type R<T, S> = <T as Scalar>::Lanes<S>;

/// A segment of a super-cluster's list.
struct Segment<'a, L, T: Scalar> {
    shared: &'a Shared<'a, L, T>,
    near: &'a Near<T>,
    /// Per entry the geometry of eight particles, in columns.
    offsets: &'a [T],
    /// Per particle what pairs need of it, in one piece.
    records: &'a T::Records,
}

/// The sums of a chunk's super-clusters.
#[inline(always)]
pub(super) fn sums<L: PairLaw, T: Scalar, S: Simd>(
    simd: S,
    shared: &Shared<L, T>,
    list: &ClusterList,
    side: Option<Side>,
    sums: &mut ChunkSums<T>,
) {
    let (mut near, mut offsets, mut totals) =
        (Near::<T>::new(R::<T, S>::ROWS), Aligned::new(0), Aligned::new(0));
    let mut found = Found::new(stride::<T>(quads::<L>()));
    let mut records = T::take_records();
    totals.resize(const { L::SUMS.len() * CLUSTER * R::<T, S>::COUNT });
    for super_cluster in sums.super_clusters.clone() {
        if !shared.swept(list, side, super_cluster) {
            continue;
        }
        for entries in segments(near.placed.decode(list, super_cluster)) {
            near.place::<S>(simd, &shared.packed, super_cluster, entries, false);
            bring::<T, S>(simd, &shared.packed, &near.placed, &mut offsets);
            write_records::<L, T, S>(simd, &shared.packed, &near, &offsets, &mut records);
            let segment = Segment { shared, near: &near, offsets: &offsets, records: &records };
            for cluster in super_cluster * CLUSTERS..(super_cluster + 1) * CLUSTERS {
                let first = cluster * CLUSTER;
                if shared.rows.wanted(first..first + CLUSTER) {
                    segment.cluster_sums(simd, cluster, &mut found, &mut totals, sums);
                }
            }
        }
    }
    T::keep_records(records);
}

/// Write the records of the particles of a segment.
#[inline(always)]
fn write_records<L: PairLaw, T: Scalar, S: Simd>(
    simd: S,
    packed: &Packed<T>,
    near: &Near<T>,
    offsets: &[T],
    records: &mut T::Records,
) {
    let nothing = [T::default(); CLUSTER];
    let entries = near.placed.clusters.iter().zip(offsets.as_chunks::<GEOMETRIES>().0);
    let records = T::values_mut(records).chunks_exact_mut(const { CLUSTER * QUAD * quads::<L>() });
    for ((cluster, offsets), records) in entries.zip(records) {
        let block = packed.block(*cluster as usize);
        for quad in 0..const { quads::<L>() } {
            let mut four: [&[T]; QUAD] = [&nothing; QUAD];
            for (k, four) in four.iter_mut().enumerate() {
                // the squared radius, which stands between, has done its duty
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
    /// Add a cluster's sums over the segment. `totals` is room for a vector of each sum of each row.
    #[inline(always)]
    fn cluster_sums<S: Simd>(
        &self,
        simd: S,
        cluster: usize,
        found: &mut Found,
        totals: &mut [T],
        sums: &mut ChunkSums<T>,
    ) {
        let (rows, lanes) = const { (R::<T, S>::ROWS, R::<T, S>::COUNT) };
        let chosen = &self.shared.rows;
        for first in (0..CLUSTER).step_by(rows) {
            let row = cluster * CLUSTER + first;
            let met = match chosen.wanted(row..row + rows) {
                true => self.find(simd, cluster, first, found),
                false => 0,
            };
            sums.lane_pairs += (met * rows * CLUSTER) as u64;
            for k in 0..rows {
                let mut own = nothing::<L, R<T, S>>(simd);
                if chosen.wanted(row + k..row + k + 1) {
                    let (starts, count) = found.neighbors(k);
                    own = self.row_sums(simd, cluster, first + k, starts, count);
                    let evaluated = count * (1 + L::INPUTS.len() + L::SUMS.len());
                    sums.add_work(row + k, 1, met * CLUSTER + evaluated);
                }
                // all columns at once: an array of structs of vectors would be copied for each of them
                let own = own.to_columns();
                for (c, &total) in own.as_ref().iter().enumerate() {
                    total.store(&mut totals[(c * CLUSTER + first + k) * lanes..][..lanes]);
                }
            }
        }
        let target = sums.blocks.cluster_mut(cluster);
        for (c, target) in target.chunks_exact_mut(CLUSTER).enumerate() {
            let reduction = L::SUMS[c].reduction;
            let mut column = [R::<T, S>::literal(simd, 0.0); CLUSTER];
            for (k, column) in column.iter_mut().enumerate() {
                *column = R::<T, S>::load(simd, &totals[(c * CLUSTER + k) * lanes..][..lanes]);
            }
            let joined = R::<T, S>::vectors(column, reduction);
            for (total, value) in target.iter_mut().zip(joined.lanes()) {
                *total = reduction.join(*total, value.to_f64());
            }
        }
    }

    /// Find the neighbors in range of some rows; returns the number of entries that these met.
    #[inline(always)]
    fn find<S: Simd>(&self, simd: S, cluster: usize, first: usize, found: &mut Found) -> usize {
        let (packed, near, offsets) = (&self.shared.packed, self.near, self.offsets);
        // functions that no law is part of, so that they are compiled once for all
        match const { L::CUTOFF } {
            Cutoff::Either => vectorize(
                simd,
                #[inline(always)]
                || found.find::<T, S, true>(simd, packed, cluster, first, near, offsets),
            ),
            Cutoff::Own | Cutoff::Common => vectorize(
                simd,
                #[inline(always)]
                || found.find::<T, S, false>(simd, packed, cluster, first, near, offsets),
            ),
        }
    }

    /// The totals of a row over `count` neighbors, whose records begin at `starts`.
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
        let parameters = self.shared.law.parameters::<R<T, S>>(simd);
        let position = vector(
            #[inline(always)]
            |d| R::<T, S>::every(simd, block[d * CLUSTER + row]),
        );
        let i = L::Prepared::<R<T, S>>::from_columns(
            #[inline(always)]
            |c| R::<T, S>::every(simd, block[(GEOMETRY + c) * CLUSTER + row]),
        );
        let lanes = const { R::<T, S>::COUNT };
        let mut totals = nothing::<L, R<T, S>>(simd);
        let mut left = count;
        for starts in starts[..count.next_multiple_of(lanes)].chunks_exact(lanes) {
            let mut columns = [[R::<T, S>::literal(simd, 0.0); QUAD]; QUADS];
            read_quad::<L, T, S, 0>(simd, self.records, starts, &mut columns);
            read_quad::<L, T, S, 1>(simd, self.records, starts, &mut columns);
            read_quad::<L, T, S, 2>(simd, self.records, starts, &mut columns);
            read_quad::<L, T, S, 3>(simd, self.records, starts, &mut columns);
            read_quad::<L, T, S, 4>(simd, self.records, starts, &mut columns);
            read_quad::<L, T, S, 5>(simd, self.records, starts, &mut columns);
            read_quad::<L, T, S, 6>(simd, self.records, starts, &mut columns);
            read_quad::<L, T, S, 7>(simd, self.records, starts, &mut columns);
            let [x, y, z, _] = columns[0];
            let mut r = position - Vec3 { x, y, z };
            if self.near.placed.images {
                let packed = &self.shared.packed;
                r = nearest(r, lift(simd, packed.periods), lift(simd, packed.frequency));
            }
            let j = L::Prepared::<R<T, S>>::from_columns(
                #[inline(always)]
                |c| columns[(OFFSETS + c) / QUAD][(OFFSETS + c) % QUAD],
            );
            let given = L::interact::<R<T, S>>(simd, parameters, i, j, r, r.dot(r));
            let bits = u64::MAX >> (u64::BITS as usize - left.min(lanes));
            totals = collected::<L, R<T, S>>(R::<T, S>::mask(simd, bits), given, totals);
            left = left.saturating_sub(lanes);
        }
        totals
    }
}

/// Read a quad of columns, if the law's records have it.
#[inline(always)]
fn read_quad<L: PairLaw, T: Scalar, S: Simd, const NUMBER: usize>(
    simd: S,
    records: &T::Records,
    starts: &[u16],
    columns: &mut [[R<T, S>; QUAD]; QUADS],
) {
    if const { NUMBER < quads::<L>() } {
        columns[NUMBER] = R::<T, S>::read_quads::<NUMBER>(simd, records, starts);
    }
}
