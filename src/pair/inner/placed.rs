//! What a super-cluster's list names, decoded once: where the clusters are in the super-cluster's frame.

use crate::neighbors::{CLUSTERS, ClusterList, Entry};
use crate::pair::lane::Scalar;
use crate::pair::pack::{Packed, Shift};
use std::ops::Range;

/// Entries that have a bit in a word.
const WORD: usize = u64::BITS as usize;

/// Some of the clusters that a super-cluster's list names.
pub(super) struct Placed<T> {
    /// All clusters that a list names.
    listed: Vec<Entry>,
    /// Those of them that are placed.
    pub clusters: Vec<u32>,
    /// What brings each into the super-cluster's frame.
    pub shifts: Vec<[T; 3]>,
    /// Per word its entries whose pairs' nearest images must be looked for.
    pub ambiguous: Vec<u64>,
    /// Whether there are such.
    pub images: bool,
    /// What brings each of the super-clusters that are the frame's into it.
    pub members: Vec<[T; 3]>,
    /// The first cluster of these.
    first: usize,
    /// Per cluster of these the number of its own entry, or the largest number.
    pub itself: Vec<usize>,
}

impl<T: Scalar> Placed<T> {
    /// Nothing yet.
    pub fn new() -> Self {
        Placed {
            listed: Vec::new(),
            clusters: Vec::new(),
            shifts: Vec::new(),
            ambiguous: Vec::new(),
            images: false,
            members: Vec::new(),
            first: 0,
            itself: Vec::new(),
        }
    }

    /// Decode the list of a super-cluster; returns the number of its entries.
    #[inline(always)]
    pub fn decode(&mut self, list: &ClusterList, super_cluster: usize) -> usize {
        list.decode(super_cluster, &mut self.listed);
        self.listed.len()
    }

    /// Find where entries of a decoded list, from one to before another, are in the super-cluster's frame, of a list that may be
    /// symmetric. Returns how far from the frame's center, or their own, particles may be.
    #[inline(always)]
    pub fn place(
        &mut self,
        packed: &Packed<T>,
        super_cluster: usize,
        (begin, end): (usize, usize),
        symmetric: bool,
    ) -> f64 {
        let mut clusters = std::mem::take(&mut self.clusters);
        clusters.clear();
        clusters.extend(self.listed[begin..end].iter().map(|entry| entry.cluster));
        let farthest = self.place_clusters(packed, super_cluster..super_cluster + 1, &clusters, symmetric);
        self.clusters = clusters;
        farthest
    }

    /// The same of sorted clusters, which are not kept, in the frame of some super-clusters.
    #[inline(always)]
    pub fn place_clusters(
        &mut self,
        packed: &Packed<T>,
        members: Range<usize>,
        clusters: &[u32],
        symmetric: bool,
    ) -> f64 {
        self.shifts.clear();
        self.ambiguous.clear();
        self.ambiguous.resize(clusters.len().div_ceil(WORD), 0);
        self.itself.clear();
        self.itself.resize(members.len() * CLUSTERS, usize::MAX);
        self.first = members.start * CLUSTERS;
        let frame = packed.frame(members.clone(), symmetric);
        let mut farthest = frame.extent().into_iter().fold(0.0, f64::max);
        let mut number = 0;
        for clusters in clusters.chunk_by(|a, b| *a as usize / CLUSTERS == *b as usize / CLUSTERS) {
            let other = clusters[0] as usize / CLUSTERS;
            if members.contains(&other) {
                for (k, cluster) in clusters.iter().enumerate() {
                    self.itself[*cluster as usize - self.first] = number + k;
                }
            }
            if let Some(shift) = packed.common_shift(&frame, other) {
                farthest = farthest.max(packed.farthest(other, &shift));
                let lanes = lanes(&shift);
                self.shifts.resize(number + clusters.len(), lanes);
            } else {
                for (cluster, number) in clusters.iter().zip(number..) {
                    let shift = packed.own_shift(&frame, *cluster as usize);
                    self.ambiguous[number / WORD] |= u64::from(shift.ambiguous) << (number % WORD);
                    farthest = farthest.max(packed.farthest(other, &shift));
                    self.shifts.push(lanes(&shift));
                }
            }
            number += clusters.len();
        }
        self.images = self.ambiguous.iter().any(|&word| word != 0);
        self.members.clear();
        for member in members {
            let shift = packed.any_shift(&frame, member);
            self.images |= shift.ambiguous && member * CLUSTERS != self.first;
            self.members.push(lanes(&shift));
        }
        farthest
    }

    /// The number of a cluster's own entry, if there is one.
    #[inline(always)]
    pub fn itself(&self, cluster: usize) -> Option<usize> {
        Some(self.itself[cluster - self.first]).filter(|own| *own != usize::MAX)
    }

    /// The entries of a word that need more than the usual: the cluster itself, and those that are ambiguous.
    #[inline(always)]
    pub fn special(&self, cluster: usize, word: usize) -> u64 {
        let own = self.itself[cluster - self.first];
        let itself = if own / WORD == word { 1 << (own % WORD) } else { 0 };
        self.ambiguous[word] | itself
    }

    /// Whether the nearest images of an entry's pairs must be looked for.
    #[inline(always)]
    pub fn is_ambiguous(&self, number: usize) -> bool {
        self.ambiguous[number / WORD] >> (number % WORD) & 1 == 1
    }
}

/// A shift in the lanes' type.
#[inline(always)]
fn lanes<T: Scalar>(shift: &Shift) -> [T; 3] {
    let [x, y, z] = shift.by;
    [T::from_f64(x), T::from_f64(y), T::from_f64(z)]
}
