//! Sums of a chunk of a sweep: blocks in double precision, or records in a [`ReactionBuffer`].

use super::law::{PairLaw, Sum};
use super::reaction_buffer::ReactionBuffer;
use crate::neighbors::{CLUSTER, CLUSTERS, SUPER_CLUSTER};
use crate::simd::Scalar;
use std::ops::Range;

/// Sums per super-cluster, `[cluster][column][8]` each, allocated when first touched.
pub struct BlockSums {
    sums: &'static [Sum],
    /// First super-cluster that may be touched.
    first: usize,
    index: Vec<u32>,
    values: Vec<f64>,
}

const ABSENT: u32 = u32::MAX;

impl BlockSums {
    /// Empty, for a range of super-clusters.
    pub fn new(sums: &'static [Sum], super_clusters: Range<usize>) -> Self {
        Self {
            sums,
            first: super_clusters.start,
            index: vec![ABSENT; super_clusters.len()],
            values: Vec::new(),
        }
    }

    /// Reserves memory for exactly `super_clusters` super-clusters.
    fn reserve(&mut self, super_clusters: usize) {
        self.values.reserve_exact(super_clusters * self.stride());
    }

    fn stride(&self) -> usize {
        self.sums.len() * SUPER_CLUSTER
    }

    /// Columns of a cluster, to accumulate into.
    #[inline(always)]
    pub fn cluster_mut(&mut self, cluster: usize) -> &mut [f64] {
        let place = cluster / CLUSTERS - self.first;
        if self.index[place] == ABSENT {
            self.allocate(place);
        }
        let width = self.sums.len() * CLUSTER;
        let begin = self.index[place] as usize * self.stride() + cluster % CLUSTERS * width;
        &mut self.values[begin..begin + width]
    }

    #[cold]
    fn allocate(&mut self, place: usize) {
        self.index[place] = (self.values.len() / self.stride()) as u32;
        let begin = self.values.len();
        self.values.resize(begin + self.stride(), 0.0);
        for (column, values) in self.values[begin..].chunks_exact_mut(CLUSTER).enumerate() {
            values.fill(self.sums[column % self.sums.len()].reduction.identity());
        }
    }

    /// Sums of a super-cluster, if it was touched.
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

/// Result of a chunk of super-clusters.
pub struct ChunkSums<T: Scalar> {
    /// Super-clusters of the chunk.
    pub super_clusters: Range<usize>,
    /// Sums of the chunk's rows and, on symmetric lists, reactions on other rows.
    pub blocks: BlockSums,
    /// Over tiles, instead: records of all sums per particle, odd ones with opposite sign.
    pub reactions: Option<ReactionBuffer<T>>,
    /// Lane pairs per row of the chunk; empty if they are not counted.
    pub work: Vec<f64>,
    /// Lane pairs whose distance was evaluated.
    pub lane_pairs: u64,
}

impl<T: Scalar> ChunkSums<T> {
    /// Empty: sums of `swept` super-clusters are reserved, `touched` may get sums or reactions.
    pub fn new(
        sums: &'static [Sum],
        super_clusters: Range<usize>,
        swept: usize,
        touched: Range<usize>,
    ) -> Self {
        let mut blocks = BlockSums::new(sums, touched);
        blocks.reserve(swept);
        Self { super_clusters, blocks, reactions: None, work: Vec::new(), lane_pairs: 0 }
    }

    /// Reaction vectors of a super-cluster, if it was touched.
    #[inline(always)]
    pub fn reactions(&self, super_cluster: usize) -> Option<&[T::Vector]> {
        self.reactions.as_ref()?.super_cluster(super_cluster)
    }

    /// Adds reactions from other ranks to rows of one super-cluster; `owned` are the rows of this rank.
    pub fn add<L: PairLaw>(&mut self, rows: Range<usize>, records: &[T], owned: &Range<usize>) {
        let clusters = owned.start / CLUSTER..owned.end.div_ceil(CLUSTER);
        self.reactions.get_or_insert_with(|| ReactionBuffer::records::<L>(clusters)).add::<L>(rows, records);
    }

    /// Whether the chunk has sums or reactions of a super-cluster.
    #[inline(always)]
    pub fn has_sums_of(&self, super_cluster: usize) -> bool {
        self.reactions(super_cluster).is_some() || self.blocks.super_cluster(super_cluster).is_some()
    }

    /// Starts to count work.
    pub fn count_work(&mut self) {
        self.work = vec![0.0; self.super_clusters.len() * SUPER_CLUSTER];
    }

    /// Counts work for `rows` rows from `first` on, if it is counted.
    #[inline(always)]
    pub fn add_work(&mut self, first: usize, rows: usize, lane_pairs: usize) {
        if self.work.is_empty() {
            return;
        }
        let first = first - self.super_clusters.start * SUPER_CLUSTER;
        self.work[first..first + rows].iter_mut().for_each(|work| *work += lane_pairs as f64);
    }
}
