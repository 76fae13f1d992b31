//! What a super-cluster's list names, decoded once: the clusters in the super-cluster's frame, and which of them some rows
//! have to meet.

use crate::neighbors::{CLUSTER, ClusterList, Entry, SUPER_CLUSTER};
use crate::pair::aligned::Aligned;
use crate::pair::lane::{Lanes, Scalar};
use crate::pair::law::{Cutoff, Sum};
use crate::pair::pack::{Bounds, GEOMETRY, Packed, Shift};
use fearless_simd::prelude::*;
use fearless_simd::{Simd, f32x8, f32x16};

/// Clusters in a super-cluster.
pub(super) const CLUSTERS: usize = SUPER_CLUSTER / CLUSTER;

/// Entries whose bounds are tested at a time.
const TESTED: usize = 16;

/// Columns of the bounds of an entry.
const COLUMNS: usize = 7;

/// Values of the bounds of a block of entries.
const BLOCK: usize = COLUMNS * TESTED;

/// Entries that have a bit in a word.
const WORD: usize = u64::BITS as usize;

/// Reactions that have vectors of their own, at most.
const MANY: usize = 5;

/// Above the relative error of the distance of two boxes, of coordinates up to 1.
const MARGIN: f32 = 2e-6;

/// Entries that are in the super-cluster's frame at a time, at most: they stay in the second cache.
pub(super) const SEGMENT: usize = 4 * WORD;

/// Values of an entry's geometry: offsets and squared radii of eight particles.
pub(super) const GEOMETRIES: usize = GEOMETRY * CLUSTER;

/// The clusters that a super-cluster's list names, a segment of them at a time.
pub(super) struct Near {
    /// All entries of the list.
    listed: Vec<Entry>,
    /// Those of the segment.
    pub entries: Vec<Entry>,
    /// Words of bits, one per entry.
    pub words: usize,
    /// Per word its entries whose pairs' nearest images must be looked for.
    pub ambiguous: Vec<u64>,
    /// Whether there are such.
    pub images: bool,
    /// Per member of the super-cluster the number of its own entry, if there is one.
    itself: [usize; CLUSTERS],
    /// Per member of the super-cluster and word its entries.
    members: Vec<u64>,
    /// Bounds of the entries in the super-cluster's frame, `[block][column][16]`; of those that are missing in the last
    /// block, [`Bounds::NOTHING`].
    bounds: Aligned<f32>,
    /// The super-cluster's own rows in the unit of the bounds.
    rows: [[f32; SUPER_CLUSTER]; 3],
    /// What distances of bounds may be wrong by.
    margin: f32,
}

/// Values of each reaction in the record of an entry: a vector as the rows give it. Where these would be too many for the
/// nearest cache, the rows are joined.
pub(super) const fn reaction_of<T: Scalar, S: Simd>(reactions: usize) -> usize {
    if reactions > MANY { CLUSTER } else { T::Lanes::<S>::ROWS * CLUSTER }
}

/// Values in the record of an entry with so many reactions.
pub(super) const fn record_of<T: Scalar, S: Simd>(reactions: usize) -> usize {
    GEOMETRIES + reactions * reaction_of::<T, S>(reactions)
}

/// The bounds of some rows.
#[derive(Clone, Copy)]
pub(super) struct RowBounds<S: Simd> {
    lower: [f32x16<S>; 3],
    upper: [f32x16<S>; 3],
    reach: f32x16<S>,
}

impl Near {
    pub fn new() -> Self {
        Near {
            listed: Vec::new(),
            entries: Vec::new(),
            words: 0,
            ambiguous: Vec::new(),
            images: false,
            itself: [usize::MAX; CLUSTERS],
            members: Vec::new(),
            bounds: Aligned::new(0),
            rows: [[0.0; SUPER_CLUSTER]; 3],
            margin: 0.0,
        }
    }

    /// Decode the list of a super-cluster; returns the number of its segments.
    #[inline(always)]
    pub fn decode(&mut self, list: &ClusterList, super_cluster: usize) -> usize {
        list.decode(super_cluster, &mut self.listed);
        self.listed.len().div_ceil(SEGMENT).max(1)
    }

    /// Bring the clusters of a segment into the super-cluster's frame.
    ///
    /// `records` has per entry x, y, z of eight particles from the super-cluster's centre and their squared radii; then, on
    /// half lists, per sum a vector of what these particles are given, nothing yet. They are in one array, so that
    /// no offset is read at an address that looks like that of a reaction just written.
    pub fn bring<T: Scalar, S: Simd>(
        &mut self,
        simd: S,
        packed: &Packed<T>,
        super_cluster: usize,
        segment: usize,
        reactions: Option<&[Sum]>,
        records: &mut Aligned<T>,
    ) {
        // a function that no law is part of, so that it is compiled once for all
        simd.vectorize(
            #[inline(always)]
            || self.bring_in(simd, packed, super_cluster, segment, reactions, records),
        );
    }

    #[inline(always)]
    fn bring_in<T: Scalar, S: Simd>(
        &mut self,
        simd: S,
        packed: &Packed<T>,
        super_cluster: usize,
        segment: usize,
        reactions: Option<&[Sum]>,
        records: &mut Aligned<T>,
    ) {
        let begin = segment * SEGMENT;
        let end = self.listed.len().min(begin + SEGMENT);
        self.entries.clear();
        self.entries.extend_from_slice(&self.listed[begin..end]);
        let symmetric = reactions.is_some();
        let reactions = reactions.unwrap_or_default();
        let lanes = reaction_of::<T, S>(reactions.len());
        let width = record_of::<T, S>(reactions.len());
        self.make_room();
        records.resize(self.entries.len() * width);
        let records: &mut [T] = records;
        let scale = 1.0 / packed.unit;
        let frame = packed.frame(super_cluster, symmetric);
        let mut extent = f32x8::splat(simd, 0.0);
        let mut number = 0;
        for clusters in
            self.entries.chunk_by(|a, b| a.cluster as usize / CLUSTERS == b.cluster as usize / CLUSTERS)
        {
            let other = clusters[0].cluster as usize / CLUSTERS;
            let common = packed.common_shift(&frame, other);
            let mut shift = common.unwrap_or_default();
            let mut by = bounds_shift(simd, &shift, scale);
            for entry in clusters {
                let cluster = entry.cluster as usize;
                if common.is_none() {
                    shift = packed.own_shift(&frame, cluster);
                    by = bounds_shift(simd, &shift, scale);
                }
                if other == super_cluster {
                    self.itself[cluster % CLUSTERS] = number;
                }
                let own = &packed.block(cluster)[..GEOMETRIES];
                let record = &mut records[number * width..][..width];
                for d in 0..3 {
                    let column = d * CLUSTER..(d + 1) * CLUSTER;
                    T::Lanes::<S>::shift(simd, &own[column.clone()], shift.by[d], &mut record[column]);
                }
                record[3 * CLUSTER..GEOMETRIES].copy_from_slice(&own[3 * CLUSTER..]);
                for (c, sum) in reactions.iter().enumerate() {
                    let reaction = &mut record[GEOMETRIES + c * lanes..][..lanes];
                    T::Lanes::<S>::fill(simd, sum.reduction.identity(), reaction);
                }
                let values = packed.bounds(cluster).values;
                let mut bounds = f32x8::simd_from(simd, values) + by;
                if shift.ambiguous {
                    self.ambiguous[number / WORD] |= 1 << (number % WORD);
                    bounds = f32x8::simd_from(simd, Bounds::ANYTHING.values);
                } else if values[Bounds::LOWER] <= values[Bounds::UPPER] {
                    // with the shift, from where they were
                    extent = extent.max(bounds.max(-bounds) + by.max(-by));
                }
                let block = &mut self.bounds[number / TESTED * BLOCK..][..BLOCK];
                let bounds = bounds.as_slice();
                for c in 0..COLUMNS {
                    block[c * TESTED + number % TESTED] = bounds[c];
                }
                number += 1;
            }
        }
        let half = frame.extent().map(|extent| (extent * scale) as f32);
        let farthest = extent.as_slice().iter().chain(&half).fold(0.0f32, |a, &b| a.max(b));
        self.margin = MARGIN * farthest.min(f32::MAX);
        for k in 0..CLUSTERS {
            let own = packed.block(super_cluster * CLUSTERS + k);
            for d in 0..3 {
                let rows = &mut self.rows[d][k * CLUSTER..][..CLUSTER];
                T::Lanes::<S>::scale_narrow(simd, &own[d * CLUSTER..][..CLUSTER], scale, rows);
            }
        }
        self.images = self.ambiguous.iter().any(|&word| word != 0);
        self.spread_masks();
    }

    /// Arrays as long as the list of entries.
    fn make_room(&mut self) {
        let count = self.entries.len();
        self.words = count.div_ceil(WORD);
        self.itself = [usize::MAX; CLUSTERS];
        self.ambiguous.clear();
        self.ambiguous.resize(self.words, 0);
        self.bounds.resize(count.div_ceil(TESTED) * BLOCK);
        if let Some(last) = self.bounds.chunks_exact_mut(BLOCK).last() {
            for (column, value) in last.chunks_exact_mut(TESTED).zip(Bounds::NOTHING.values) {
                column.fill(value);
            }
        }
    }

    /// From a mask of members per entry to masks of entries per member.
    fn spread_masks(&mut self) {
        self.members.clear();
        self.members.resize(CLUSTERS * self.words, 0);
        for (word, entries) in self.entries.chunks(WORD).enumerate() {
            for (eight, entries) in entries.chunks(8).enumerate() {
                let masks = entries.iter().enumerate();
                let masks = masks.fold(0u64, |masks, (k, entry)| masks | u64::from(entry.mask) << (8 * k));
                for (member, bits) in transposed(masks).to_le_bytes().into_iter().enumerate() {
                    self.members[member * self.words + word] |= u64::from(bits) << (8 * eight);
                }
            }
        }
    }

    /// The bounds of some rows of the super-cluster, from its `first` on, in its own frame.
    #[inline(always)]
    pub fn rows<T: Scalar, S: Simd>(
        &self,
        simd: S,
        packed: &Packed<T>,
        cluster: usize,
        first: usize,
    ) -> RowBounds<S> {
        let row = cluster % CLUSTERS * CLUSTER + first;
        let nothing = f32x16::splat(simd, 0.0);
        let reach = f32x16::splat(simd, packed.cluster_reach(cluster));
        let mut bounds = RowBounds { lower: [nothing; 3], upper: [nothing; 3], reach };
        for d in 0..3 {
            let (a, b) = (self.rows[d][row], self.rows[d][row + T::Lanes::<S>::ROWS - 1]);
            bounds.lower[d] = f32x16::splat(simd, if a < b { a } else { b });
            bounds.upper[d] = f32x16::splat(simd, if a < b { b } else { a });
        }
        bounds
    }

    /// The entries of a word that rows of a member have to meet: those listed, as far as their bounds come within reach.
    #[inline(always)]
    pub fn met<S: Simd, const BOTH: bool>(
        &self,
        simd: S,
        rows: &RowBounds<S>,
        member: usize,
        word: usize,
        cutoff: Cutoff,
    ) -> u64 {
        let mut near = 0;
        let bounds = &self.bounds[word * (WORD / TESTED) * BLOCK..];
        for k in 0..(bounds.len() / BLOCK).min(WORD / TESTED) {
            let block = &bounds[k * BLOCK..][..BLOCK];
            let mut square = f32x16::splat(simd, 0.0);
            for d in 0..3 {
                let lower = column(simd, block, Bounds::LOWER + d);
                let upper = column(simd, block, Bounds::UPPER + d);
                let gap = (lower - rows.upper[d]).max(rows.lower[d] - upper).max(0.0);
                square = gap.mul_add(gap, square);
            }
            let reach = match cutoff {
                Cutoff::Common => rows.reach,
                Cutoff::Own if !BOTH => rows.reach,
                Cutoff::Own | Cutoff::Either => rows.reach.max(column(simd, block, Bounds::REACH)),
            };
            let reach = reach + self.margin;
            near |= (!square.simd_gt(reach * reach)).to_bitmask() << (TESTED * k);
        }
        near & self.members[member * self.words + word]
    }

    /// The entries of a word that need more than the usual: the cluster itself, and those that are ambiguous.
    #[inline(always)]
    pub fn special(&self, cluster: usize, word: usize) -> u64 {
        let own = self.itself[cluster % CLUSTERS];
        let itself = if own / WORD == word { 1 << (own % WORD) } else { 0 };
        self.ambiguous[word] | itself
    }
}

/// What shifts bounds.
#[inline(always)]
fn bounds_shift<S: Simd>(simd: S, shift: &Shift, scale: f64) -> f32x8<S> {
    let mut by = [0.0; 8];
    for d in 0..3 {
        by[Bounds::LOWER + d] = (shift.by[d] * scale) as f32;
        by[Bounds::UPPER + d] = by[Bounds::LOWER + d];
    }
    f32x8::simd_from(simd, by)
}

/// One column of a block of bounds.
#[inline(always)]
fn column<S: Simd>(simd: S, block: &[f32], column: usize) -> f32x16<S> {
    f32x16::from_slice(simd, &block[column * TESTED..][..TESTED])
}

/// The transpose of eight bytes of eight bits (Hacker's Delight, section 7-3).
fn transposed(bits: u64) -> u64 {
    let swap = |x: u64, mask: u64, by: u32| {
        let t = (x ^ (x >> by)) & mask;
        x ^ t ^ (t << by)
    };
    let bits = swap(bits, 0x00aa_00aa_00aa_00aa, 7);
    let bits = swap(bits, 0x0000_cccc_0000_cccc, 14);
    swap(bits, 0x0000_0000_f0f0_f0f0, 28)
}

#[cfg(test)]
mod tests {
    use super::transposed;

    #[test]
    fn rows_of_bits_become_columns() {
        for row in 0..8 {
            for column in 0..8 {
                assert_eq!(transposed(1 << (8 * row + column)), 1 << (8 * column + row));
            }
        }
    }
}
