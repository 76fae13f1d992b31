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
    /// All entries of the list.
    listed: Vec<Entry>,
    /// Those that are placed.
    pub entries: Vec<Entry>,
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
            entries: Vec::new(),
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

    /// Find where entries from one to before another are in the super-cluster's frame, of a list that may be symmetric. Returns
    /// how far from the frame's center, or their own, particles may be.
    #[inline(always)]
    pub fn place(
        &mut self,
        packed: &Packed<T>,
        super_cluster: usize,
        (begin, end): (usize, usize),
        symmetric: bool,
    ) -> f64 {
        self.clear();
        self.entries.extend_from_slice(&self.listed[begin..end]);
        self.ambiguous.resize(self.entries.len().div_ceil(WORD), 0);
        let frame = packed.frame(super_cluster, symmetric);
        let mut farthest = frame.extent().into_iter().fold(0.0, f64::max);
        let mut number = 0;
        for clusters in
            self.entries.chunk_by(|a, b| a.cluster as usize / CLUSTERS == b.cluster as usize / CLUSTERS)
        {
            let other = clusters[0].cluster as usize / CLUSTERS;
            if other == super_cluster {
                for (k, entry) in clusters.iter().enumerate() {
                    self.itself[entry.cluster as usize % CLUSTERS] = number + k;
                }
            }
            if let Some(shift) = packed.common_shift(&frame, other) {
                farthest = farthest.max(packed.farthest(other, &shift));
                let lanes = lanes(&shift);
                clusters.iter().for_each(|_| self.shifts.push(lanes));
            } else {
                for (entry, number) in clusters.iter().zip(number..) {
                    let shift = packed.own_shift(&frame, entry.cluster as usize);
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

    fn clear(&mut self) {
        self.entries.clear();
        self.shifts.clear();
        self.ambiguous.clear();
        self.itself = [usize::MAX; CLUSTERS];
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
