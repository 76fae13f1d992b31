//! What a super-cluster's list names, decoded once: where the clusters are in the super-cluster's frame.

use crate::neighbors::{CLUSTER, ClusterList, Entry, SUPER_CLUSTER};
use crate::pair::lane::Scalar;
use crate::pair::pack::{Packed, Shift};

/// Clusters in a super-cluster.
pub(super) const CLUSTERS: usize = SUPER_CLUSTER / CLUSTER;

/// Entries that have a bit in a word.
const WORD: usize = u64::BITS as usize;

/// Some of the clusters that a super-cluster's list names.
pub(super) struct Placed<T> {
    /// All clusters that a list names.
    listed: Vec<Entry>,
    /// Those that are placed.
    pub clusters: Vec<u32>,
    /// What brings each into the super-cluster's frame.
    pub shifts: Vec<[T; 3]>,
    /// Per word its entries whose pairs' nearest images must be looked for.
    pub ambiguous: Vec<u64>,
    /// Whether there are such.
    pub images: bool,
    /// Per member of the super-cluster the number of its own entry, or the largest number.
    pub itself: [usize; CLUSTERS],
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
            itself: [usize::MAX; CLUSTERS],
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
        self.clusters.clear();
        self.clusters.extend(self.listed[begin..end].iter().map(|entry| entry.cluster));
        self.place_in(packed, super_cluster, symmetric)
    }

    /// The same of sorted clusters of a symmetric list.
    #[inline(always)]
    pub fn place_clusters(&mut self, packed: &Packed<T>, super_cluster: usize, clusters: &[u32]) {
        self.clusters.clear();
        self.clusters.extend_from_slice(clusters);
        self.place_in(packed, super_cluster, true);
    }

    #[inline(always)]
    fn place_in(&mut self, packed: &Packed<T>, super_cluster: usize, symmetric: bool) -> f64 {
        self.shifts.clear();
        self.ambiguous.clear();
        self.ambiguous.resize(self.clusters.len().div_ceil(WORD), 0);
        self.itself = [usize::MAX; CLUSTERS];
        let frame = packed.frame(super_cluster, symmetric);
        let mut farthest = frame.extent().into_iter().fold(0.0, f64::max);
        let mut number = 0;
        for clusters in self.clusters.chunk_by(|a, b| *a as usize / CLUSTERS == *b as usize / CLUSTERS) {
            let other = clusters[0] as usize / CLUSTERS;
            if other == super_cluster {
                for (k, cluster) in clusters.iter().enumerate() {
                    self.itself[*cluster as usize % CLUSTERS] = number + k;
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
        farthest
    }

    /// The number of a cluster's own entry, if there is one.
    #[inline(always)]
    pub fn itself(&self, cluster: usize) -> Option<usize> {
        Some(self.itself[cluster % CLUSTERS]).filter(|own| *own != usize::MAX)
    }

    /// The entries of a word that need more than the usual: the cluster itself, and those that are ambiguous.
    #[inline(always)]
    pub fn special(&self, cluster: usize, word: usize) -> u64 {
        let own = self.itself[cluster % CLUSTERS];
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
