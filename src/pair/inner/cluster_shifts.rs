//! The decoded list of a super-cluster, and the shifts of its clusters into the super-cluster's frame.

use crate::neighbors::{CLUSTERS, ClusterList, Entry};
use crate::pair::pack::{PackedInput, Shift};
use crate::simd::Scalar;
use std::ops::Range;

/// Entries per word of a mask.
const WORD: usize = u64::BITS as usize;

/// Decoded list, with the shifts of a segment of it.
pub(super) struct ClusterShifts<T> {
    /// All entries of the list.
    entries: Vec<Entry>,
    /// Clusters of the segment.
    pub clusters: Vec<u32>,
    /// Shift of each cluster into the frame.
    pub shifts: Vec<[T; 3]>,
    /// Mask of the entries whose pairs need minimum images.
    pub ambiguous: Vec<u64>,
    /// Whether any pairs need minimum images.
    pub needs_images: bool,
    /// Shift of each super-cluster of the frame into it.
    pub member_shifts: Vec<[T; 3]>,
    /// First cluster of these super-clusters.
    first_cluster: usize,
    /// Per cluster of these super-clusters, its entry in the segment; `usize::MAX` if it has none.
    pub self_entries: Vec<usize>,
}

impl<T: Scalar> ClusterShifts<T> {
    /// Empty.
    pub fn new() -> Self {
        ClusterShifts {
            entries: Vec::new(),
            clusters: Vec::new(),
            shifts: Vec::new(),
            ambiguous: Vec::new(),
            needs_images: false,
            member_shifts: Vec::new(),
            first_cluster: 0,
            self_entries: Vec::new(),
        }
    }

    /// Decodes the list of a super-cluster. Returns the number of entries.
    #[inline(always)]
    pub fn decode(&mut self, list: &ClusterList, super_cluster: usize) -> usize {
        list.decode(super_cluster, &mut self.entries);
        self.entries.len()
    }

    /// Finds the shifts of the entries `begin..end` of the decoded list into the super-cluster's frame.
    /// Returns a bound of the particles' offsets from the frame's center or their own. `symmetric`: the list
    /// may be a half list.
    #[inline(always)]
    pub fn compute(
        &mut self,
        packed: &PackedInput<T>,
        super_cluster: usize,
        (begin, end): (usize, usize),
        symmetric: bool,
    ) -> f64 {
        let mut clusters = std::mem::take(&mut self.clusters);
        clusters.clear();
        clusters.extend(self.entries[begin..end].iter().map(|entry| entry.cluster));
        let max_offset = self.compute_for(packed, super_cluster..super_cluster + 1, &clusters, symmetric);
        self.clusters = clusters;
        max_offset
    }

    /// The same for sorted clusters, which are not stored, in the joint frame of some super-clusters.
    #[inline(always)]
    pub fn compute_for(
        &mut self,
        packed: &PackedInput<T>,
        members: Range<usize>,
        clusters: &[u32],
        symmetric: bool,
    ) -> f64 {
        self.shifts.clear();
        self.ambiguous.clear();
        self.ambiguous.resize(clusters.len().div_ceil(WORD), 0);
        self.self_entries.clear();
        self.self_entries.resize(members.len() * CLUSTERS, usize::MAX);
        self.first_cluster = members.start * CLUSTERS;
        let frame = packed.frame(members.clone(), symmetric);
        let mut max_offset = frame.extent().into_iter().fold(0.0, f64::max);
        let mut number = 0;
        for clusters in clusters.chunk_by(|a, b| *a as usize / CLUSTERS == *b as usize / CLUSTERS) {
            let other = clusters[0] as usize / CLUSTERS;
            if members.contains(&other) {
                for (k, cluster) in clusters.iter().enumerate() {
                    self.self_entries[*cluster as usize - self.first_cluster] = number + k;
                }
            }
            if let Some(shift) = packed.common_shift(&frame, other) {
                max_offset = max_offset.max(packed.max_offset(other, &shift));
                let shift = to_lanes(&shift);
                self.shifts.resize(number + clusters.len(), shift);
            } else {
                for (cluster, number) in clusters.iter().zip(number..) {
                    let shift = packed.cluster_shift(&frame, *cluster as usize);
                    self.ambiguous[number / WORD] |= u64::from(shift.ambiguous) << (number % WORD);
                    max_offset = max_offset.max(packed.max_offset(other, &shift));
                    self.shifts.push(to_lanes(&shift));
                }
            }
            number += clusters.len();
        }
        self.needs_images = self.ambiguous.iter().any(|&word| word != 0);
        self.member_shifts.clear();
        for member in members {
            let shift = packed.super_cluster_shift(&frame, member);
            self.needs_images |= shift.ambiguous && member * CLUSTERS != self.first_cluster;
            self.member_shifts.push(to_lanes(&shift));
        }
        max_offset
    }

    /// Entry of a cluster of the frame, if it has one.
    #[inline(always)]
    pub fn self_entry(&self, cluster: usize) -> Option<usize> {
        Some(self.self_entries[cluster - self.first_cluster]).filter(|own| *own != usize::MAX)
    }

    /// Mask of a word's entries with special treatment: the cluster itself, and those that need minimum
    /// images.
    #[inline(always)]
    pub fn special_entries(&self, cluster: usize, word: usize) -> u64 {
        let own = self.self_entries[cluster - self.first_cluster];
        let own_bit = if own / WORD == word { 1 << (own % WORD) } else { 0 };
        self.ambiguous[word] | own_bit
    }

    /// Whether the pairs of an entry need minimum images.
    #[inline(always)]
    pub fn is_ambiguous(&self, number: usize) -> bool {
        self.ambiguous[number / WORD] >> (number % WORD) & 1 == 1
    }
}

/// Converts a shift to the lanes' type.
#[inline(always)]
fn to_lanes<T: Scalar>(shift: &Shift) -> [T; 3] {
    let [x, y, z] = shift.by;
    [T::from_f64(x), T::from_f64(y), T::from_f64(z)]
}
