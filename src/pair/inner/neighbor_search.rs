//! Search of the particles in range of some rows, by distances to whole clusters; independent of the law.

use super::candidates::{Candidates, SEGMENT};
use super::cluster_shifts::ClusterShifts;
use super::{broadcast_rows, lift, minimum_image, repeat_rows, self_pairs, vec3_from_fn};
use crate::neighbors::CLUSTER;
use crate::pair::law::Cutoff;
use crate::pair::pack::{GEOMETRY, PackedInput};
use crate::pair::record::PARTICLES;
use crate::parallel::Aligned;
use crate::simd::real::Real;
use crate::simd::vec3::Vec3;
use crate::simd::{Lanes, Scalar, vectorize};
use fearless_simd::prelude::*;
use fearless_simd::{Simd, u16x8};

/// Lanes with elements `T`.
type R<T, S> = <T as Scalar>::Lanes<S>;

/// Values of an entry's geometry: offsets and squared radii of eight particles.
pub(super) const ENTRY_GEOMETRY: usize = GEOMETRY * CLUSTER;

/// Maximum number of rows in a vector.
pub(super) const MAX_ROWS: usize = 2;

const _: () = assert!(SEGMENT * CLUSTER <= PARTICLES, "the particles of a segment exceed the records");

/// Loads the geometry of a segment's clusters: per entry, columns x, y, z of eight particles relative to the
/// frame's center, and their squared radii.
pub(super) fn load_geometry<T: Scalar, S: Simd>(
    simd: S,
    packed: &PackedInput<T>,
    shifts: &ClusterShifts<T>,
    offsets: &mut Aligned<T>,
) {
    // Independent of the law, so it is compiled once.
    vectorize(
        simd,
        #[inline(always)]
        || {
            offsets.resize(shifts.clusters.len() * ENTRY_GEOMETRY);
            let records = offsets.as_chunks_mut::<ENTRY_GEOMETRY>().0;
            for ((cluster, shift), record) in shifts.clusters.iter().zip(&shifts.shifts).zip(records) {
                let own = &packed.block(*cluster as usize)[..ENTRY_GEOMETRY];
                for d in 0..3 {
                    let column = d * CLUSTER..(d + 1) * CLUSTER;
                    T::Lanes::<S>::shift(simd, &own[column.clone()], shift[d], &mut record[column]);
                }
                record[3 * CLUSTER..].copy_from_slice(&own[3 * CLUSTER..]);
            }
        },
    );
}

/// Neighbors in range of a vector of rows, as offsets of their records.
pub(super) struct NeighborSearch {
    /// Record offsets per row, with space for further vectors of stores.
    starts: [[u16; PARTICLES + 2 * CLUSTER]; MAX_ROWS],
    /// Number of neighbors per row.
    counts: [usize; MAX_ROWS],
    /// Distance of consecutive records, in units of 8 bytes.
    stride: u16,
    /// Per 8-bit pattern, the record offsets of its set bits relative to the first of the eight records.
    places: [[u16; CLUSTER]; 256],
}

impl NeighborSearch {
    /// Empty, for records `stride` units apart.
    pub fn new(stride: u16) -> Self {
        let mut places = [[0; CLUSTER]; 256];
        for (bits, places) in places.iter_mut().enumerate() {
            let set = (0..CLUSTER).filter(|place| bits >> place & 1 == 1);
            places.iter_mut().zip(set).for_each(|(start, place)| *start = place as u16 * stride);
        }
        NeighborSearch {
            starts: [[0; PARTICLES + 2 * CLUSTER]; MAX_ROWS],
            counts: [0; MAX_ROWS],
            stride,
            places,
        }
    }

    /// Record offsets of a row's neighbors, and their number. The slice continues with valid offsets.
    #[inline(always)]
    pub fn neighbors(&self, row: usize) -> (&[u16], usize) {
        (&self.starts[row], self.counts[row])
    }

    /// Finds the neighbors in range of a vector of rows, from row `first` of a cluster on. Returns the number
    /// of tested entries. With `EITHER`, the larger radius of both particles counts.
    #[inline(always)]
    pub fn find<T: Scalar, S: Simd, const EITHER: bool>(
        &mut self,
        simd: S,
        packed: &PackedInput<T>,
        cluster: usize,
        first: usize,
        candidates: &Candidates<T>,
        offsets: &[T],
    ) -> usize {
        let rows = const { R::<T, S>::ROWS };
        let block = packed.block(cluster);
        let reach = match packed.cutoff {
            Cutoff::Common => R::<T, S>::literal(simd, packed.largest * packed.largest),
            Cutoff::Own | Cutoff::Either => broadcast_rows::<R<T, S>>(simd, block, GEOMETRY - 1, first),
        };
        let position = vec3_from_fn(
            #[inline(always)]
            |d| broadcast_rows::<R<T, S>>(simd, block, d, first),
        );
        let others = R::<T, S>::mask(simd, self_pairs(first, rows, false));
        let offsets = offsets.as_chunks::<ENTRY_GEOMETRY>().0;
        let stride = self.block_stride();
        let (mut tested, mut counts) = (0, [0; MAX_ROWS]);
        for (word, &entries) in candidates.words(cluster, first).iter().enumerate() {
            let mut left = entries;
            tested += left.count_ones() as usize;
            let mut special = left & candidates.shifts.special_entries(cluster, word);
            left ^= special;
            let offsets = &offsets[word * u64::BITS as usize..];
            while special != 0 {
                let bit = special.trailing_zeros() as usize;
                special &= special - 1;
                let (mut r, reach) = separations::<T, S, EITHER>(simd, position, reach, &offsets[bit]);
                if candidates.shifts.is_ambiguous(word * u64::BITS as usize + bit) {
                    r = minimum_image(r, lift(simd, packed.periods), lift(simd, packed.frequency));
                }
                let number = word * u64::BITS as usize + bit;
                let mut mask = r.dot(r).less(reach);
                if candidates.shifts.clusters[number] as usize == cluster {
                    mask = mask & others;
                }
                self.append(simd, &mut counts, rows, R::<T, S>::bits(mask), number as u16 * stride);
            }
            while left != 0 {
                let bit = left.trailing_zeros() as usize;
                left &= left - 1;
                let (r, reach) = separations::<T, S, EITHER>(simd, position, reach, &offsets[bit]);
                let bits = R::<T, S>::bits(r.dot(r).less(reach));
                let number = word * u64::BITS as usize + bit;
                self.append(simd, &mut counts, rows, bits, number as u16 * stride);
            }
        }
        self.finish(rows, counts);
        tested
    }

    /// Ends a search for `rows` rows with these numbers of neighbors.
    #[inline(always)]
    pub fn finish(&mut self, rows: usize, counts: [usize; MAX_ROWS]) {
        for k in 0..rows {
            // Lanes beyond the last neighbor read the first record.
            self.starts[k][counts[k]..][..2 * CLUSTER].fill(0);
        }
        self.counts = counts;
    }

    /// Distance of the records of consecutive blocks of eight particles.
    #[inline(always)]
    pub fn block_stride(&self) -> u16 {
        CLUSTER as u16 * self.stride
    }

    /// Appends the neighbors of a block of eight particles whose bits are set.
    #[inline(always)]
    pub fn append<S: Simd>(
        &mut self,
        simd: S,
        counts: &mut [usize; MAX_ROWS],
        rows: usize,
        bits: u64,
        first: u16,
    ) {
        let first = u16x8::splat(simd, first);
        for k in 0..rows {
            let hits = (bits >> (k * CLUSTER)) as u8;
            let starts = first + u16x8::from_slice(simd, &self.places[hits as usize]);
            starts.store_slice(&mut self.starts[k][counts[k] % PARTICLES..][..CLUSTER]);
            counts[k] += hits.count_ones() as usize;
        }
    }
}

/// Separations of rows from an entry's particles, and the squared ranges of their pairs.
#[inline(always)]
fn separations<T: Scalar, S: Simd, const EITHER: bool>(
    simd: S,
    position: Vec3<R<T, S>>,
    reach: R<T, S>,
    offsets: &[T; ENTRY_GEOMETRY],
) -> (Vec3<R<T, S>>, R<T, S>) {
    let r = vec3_from_fn(
        #[inline(always)]
        |d| repeat_rows::<R<T, S>>(simd, offsets, d),
    );
    let reach =
        if EITHER { Real::max(reach, repeat_rows::<R<T, S>>(simd, offsets, GEOMETRY - 1)) } else { reach };
    (position - r, reach)
}
