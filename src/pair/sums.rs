//! Where a chunk of a sweep leaves its sums: in double precision, or as quads of what its particles were given.

use super::given::Given;
use super::lane::Scalar;
use super::law::{PairLaw, Sum};
use crate::neighbors::{CLUSTER, CLUSTERS, SUPER_CLUSTER};
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
        let place = cluster / CLUSTERS - self.first;
        if self.index[place] == ABSENT {
            self.make(place);
        }
        let width = self.sums.len() * CLUSTER;
        let begin = self.index[place] as usize * self.stride() + cluster % CLUSTERS * width;
        &mut self.values[begin..begin + width]
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
pub struct ChunkSums<T: Scalar> {
    /// Its super-clusters.
    pub super_clusters: Range<usize>,
    /// Sums and, on symmetric lists, reactions on other particles.
    pub blocks: Blocks,
    /// The same, instead: per particle the quads of its sums, odd ones with the other sign.
    pub given: Option<Given<T>>,
    /// Lane pairs per row spent on the chunk's rows; empty where they are not counted.
    pub work: Vec<f64>,
    /// Lane pairs evaluated at least to their distance.
    pub lane_pairs: u64,
}

impl<T: Scalar> ChunkSums<T> {
    /// Nothing yet; `swept` of the super-clusters have sums, `touched` are those that sums or reactions go to.
    pub fn new(
        sums: &'static [Sum],
        super_clusters: Range<usize>,
        swept: usize,
        touched: Range<usize>,
    ) -> Self {
        let mut blocks = Blocks::new(sums, touched);
        blocks.reserve(swept);
        Self { super_clusters, blocks, given: None, work: Vec::new(), lane_pairs: 0 }
    }

    /// The vectors that a super-cluster was given, if any was.
    #[inline(always)]
    pub fn given(&self, super_cluster: usize) -> Option<&[T::Vector]> {
        self.given.as_ref()?.super_cluster(super_cluster)
    }

    /// Add what rows of one super-cluster, which this rank owns as these, were given elsewhere.
    pub fn add<L: PairLaw>(&mut self, rows: Range<usize>, records: &[T], owned: &Range<usize>) {
        let clusters = owned.start / CLUSTER..owned.end.div_ceil(CLUSTER);
        self.given.get_or_insert_with(|| Given::records::<L>(clusters)).add::<L>(rows, records);
    }

    /// Whether there is anything of a super-cluster.
    #[inline(always)]
    pub fn have(&self, super_cluster: usize) -> bool {
        self.given(super_cluster).is_some() || self.blocks.super_cluster(super_cluster).is_some()
    }

    /// Count work from now on.
    pub fn count_work(&mut self) {
        self.work = vec![0.0; self.super_clusters.len() * SUPER_CLUSTER];
    }

    /// Count work for rows from one on, if it is counted.
    #[inline(always)]
    pub fn add_work(&mut self, first: usize, rows: usize, lane_pairs: usize) {
        if self.work.is_empty() {
            return;
        }
        let first = first - self.super_clusters.start * SUPER_CLUSTER;
        self.work[first..first + rows].iter_mut().for_each(|work| *work += lane_pairs as f64);
    }
}
