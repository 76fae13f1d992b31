//! Where a chunk of a sweep leaves its sums, in double precision.

use super::law::Sum;
use crate::neighbors::{CLUSTER, SUPER_CLUSTER};
use std::ops::Range;

/// Sums per super-cluster, made when first touched: `[cluster][column][8]` each.
pub struct Blocks {
    sums: &'static [Sum],
    /// The first super-cluster that can be touched.
    first: usize,
    index: Vec<u32>,
    values: Vec<f64>,
}

const ABSENT: u32 = u32::MAX;

impl Blocks {
    /// None yet, of `super_clusters`.
    pub fn new(sums: &'static [Sum], super_clusters: Range<usize>) -> Self {
        Self {
            sums,
            first: super_clusters.start,
            index: vec![ABSENT; super_clusters.len()],
            values: Vec::new(),
        }
    }

    /// Make room for the sums of so many super-clusters, and no more.
    fn reserve(&mut self, super_clusters: usize) {
        self.values.reserve_exact(super_clusters * self.stride());
    }

    fn stride(&self) -> usize {
        self.sums.len() * SUPER_CLUSTER
    }

    /// The columns of a cluster, to add to.
    #[inline(always)]
    pub fn cluster_mut(&mut self, cluster: usize) -> &mut [f64] {
        let clusters = SUPER_CLUSTER / CLUSTER;
        let place = cluster / clusters - self.first;
        if self.index[place] == ABSENT {
            self.make(place);
        }
        let width = self.sums.len() * CLUSTER;
        let begin = self.index[place] as usize * self.stride() + cluster % clusters * width;
        &mut self.values[begin..begin + width]
    }

    /// Sums of no pairs for a cluster's super-cluster, if it has none yet.
    pub fn touch(&mut self, cluster: usize) {
        self.cluster_mut(cluster);
    }

    #[cold]
    fn make(&mut self, place: usize) {
        self.index[place] = (self.values.len() / self.stride()) as u32;
        let begin = self.values.len();
        self.values.resize(begin + self.stride(), 0.0);
        for (column, values) in self.values[begin..].chunks_exact_mut(CLUSTER).enumerate() {
            values.fill(self.sums[column % self.sums.len()].reduction.identity());
        }
    }

    /// The sums of a super-cluster, if any was touched.
    pub fn super_cluster(&self, super_cluster: usize) -> Option<&[f64]> {
        match self.index.get(super_cluster.wrapping_sub(self.first)) {
            Some(&block) if block != ABSENT => {
                let begin = block as usize * self.stride();
                Some(&self.values[begin..begin + self.stride()])
            }
            _ => None,
        }
    }
}

/// What a chunk of super-clusters gives.
pub struct ChunkSums {
    /// Its super-clusters.
    pub super_clusters: Range<usize>,
    /// Sums and, on symmetric lists, reactions on other particles.
    pub blocks: Blocks,
    /// Lane pairs per row spent on the chunk's rows.
    pub work: Vec<f64>,
    /// Lane pairs evaluated at least to their distance.
    pub lane_pairs: u64,
}

impl ChunkSums {
    /// Nothing yet; `swept` of the super-clusters have sums, `touched` are those that sums or reactions go to.
    pub fn new(
        sums: &'static [Sum],
        super_clusters: Range<usize>,
        swept: usize,
        touched: Range<usize>,
    ) -> Self {
        let work = vec![0.0; super_clusters.len() * SUPER_CLUSTER];
        let mut blocks = Blocks::new(sums, touched);
        blocks.reserve(swept);
        Self { super_clusters, blocks, work, lane_pairs: 0 }
    }

    /// Count work for rows from one on.
    #[inline(always)]
    pub fn add_work(&mut self, first: usize, rows: usize, lane_pairs: usize) {
        let first = first - self.super_clusters.start * SUPER_CLUSTER;
        self.work[first..first + rows].iter_mut().for_each(|work| *work += lane_pairs as f64);
    }
}
