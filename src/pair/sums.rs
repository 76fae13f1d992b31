//! Sums of a chunk of a sweep: blocks in double precision, or records in a [`ReactionBuffer`].

use super::law::Sum;
use super::reaction_buffer::ReactionBuffer;
use crate::neighbors::{CLUSTER, CLUSTERS, SUPER_CLUSTER};
use crate::parallel::map_items;
use crate::particles::ReturnedSums;
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
    pub fn add(&mut self, rows: Range<usize>, records: &[T], owned: &Range<usize>) {
        let (sums, clusters) = (self.blocks.sums.len(), owned.start / CLUSTER..owned.end.div_ceil(CLUSTER));
        self.reactions.get_or_insert_with(|| ReactionBuffer::records(sums, clusters)).add(rows, records);
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

/// Sums of the chunks of half lists, and the lane pairs of all chunks.
pub struct SweepSums<T: Scalar> {
    /// Sums of the chunks, in order.
    pub chunks: Vec<ChunkSums<T>>,
    /// Lane pairs whose distance was evaluated.
    pub lane_pairs: u64,
}

impl<T: Scalar> SweepSums<T> {
    /// Without chunks yet.
    pub fn new() -> Self {
        SweepSums { chunks: Vec::new(), lane_pairs: 0 }
    }

    /// Adds reactions from other ranks to owned rows, `width` values per row.
    pub fn add(&mut self, width: usize, owned: &Range<usize>, returned: &[ReturnedSums]) {
        // A thread writes to its chunk only: each row belongs to one of the chunks that contain it.
        let mut chunk_of = vec![0; owned.end.div_ceil(SUPER_CLUSTER)];
        for (number, chunk) in self.chunks.iter().enumerate() {
            chunk_of[chunk.super_clusters.clone()].fill(number);
        }
        map_items(self.chunks.iter_mut().enumerate().collect(), |(number, chunk)| {
            for ReturnedSums { rows, sums } in returned {
                let mut records: &[T] = bytemuck::cast_slice(sums);
                for run in rows.iter().map(|run| owned.start + run.start..owned.start + run.end) {
                    let mut row = run.start;
                    while row < run.end {
                        let end = run.end.min((row / SUPER_CLUSTER + 1) * SUPER_CLUSTER);
                        let (own, rest) = records.split_at((end - row) * width);
                        if chunk_of[row / SUPER_CLUSTER] == number {
                            chunk.add(row..end, own, owned);
                        }
                        (row, records) = (end, rest);
                    }
                }
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::laws::lennard_jones;
    use crate::pair::reaction_buffer::reaction_row_values;
    use crate::pair::{Forces, PairLaw};
    use crate::parallel::RowRanges;
    use crate::parallel::loops::tests::on;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn returned_reactions_are_added_to_each_row_once(
            rows in prop::collection::btree_set(0..600u32, 0..200),
            cut in 1..10usize,
            threads in 1..4usize,
        ) {
            type Law = Forces<lennard_jones::Law<f64>>;
            let (owned, width) = (SUPER_CLUSTER..SUPER_CLUSTER + 600, reaction_row_values(Law::SUMS.len()));
            let end = owned.end.div_ceil(SUPER_CLUSTER);
            let chunk = |own: Range<usize>| ChunkSums::<f32>::new(Law::SUMS, own, 0, 0..end);
            let mut sums = SweepSums { chunks: vec![chunk(1..cut), chunk(cut..end)], lane_pairs: 0 };
            let value = |row: usize, k: usize| (10 * row + k) as f32;
            let mut records = vec![0_u64; rows.len() * width / 2];
            let places = bytemuck::cast_slice_mut(&mut records).chunks_exact_mut(width).zip(&rows);
            places.for_each(|(record, &row)| record.copy_from_slice(&[0, 1, 2, 3].map(|k| value(row as usize, k))));
            let runs = RowRanges::of(&rows.iter().copied().collect::<Vec<u32>>());
            let returned = [ReturnedSums { rows: &runs, sums: &records }, ReturnedSums { rows: &runs, sums: &records }];
            on(threads, || sums.add(width, &owned, &returned));
            for row in 0..600 {
                let place = owned.start + row;
                let chunks_with_sums: Vec<&ChunkSums<f32>> =
                    sums.chunks.iter().filter(|chunk| chunk.has_sums_of(place / SUPER_CLUSTER)).collect();
                let total = |k: usize| {
                    let of_chunk = |chunk: &&ChunkSums<f32>| {
                        let given: &[f32] = bytemuck::cast_slice(chunk.reactions(place / SUPER_CLUSTER).unwrap());
                        given[place % SUPER_CLUSTER * width + k]
                    };
                    chunks_with_sums.iter().map(of_chunk).sum::<f32>()
                };
                let twice = |k: usize| if rows.contains(&(row as u32)) { 2.0 * value(row, k) } else { 0.0 };
                prop_assert!(chunks_with_sums.len() <= 1, "one chunk has a row");
                prop_assert_eq!([0, 1, 2, 3].map(total), [0, 1, 2, 3].map(twice), "row {}", row);
            }
        }
    }
}
