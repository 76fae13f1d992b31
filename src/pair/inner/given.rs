//! What a chunk's pairs give to particles j: a vector of each sum per cluster, as the rows of particles i give it.

use super::near::CLUSTERS;
use crate::neighbors::CLUSTER;
use crate::pair::lane::{Lanes, Scalar};
use crate::pair::law::Sum;
use crate::pair::sums::ChunkSums;
use fearless_simd::Simd;
use std::ops::Range;

/// Vectors of reactions, made when a super-cluster is first touched.
pub(super) struct Given<T: Scalar> {
    sums: &'static [Sum],
    /// Clusters that may be given something that counts.
    clusters: Range<usize>,
    /// Per super-cluster where its vectors begin; 0 where there are none.
    begins: Vec<u32>,
    /// First those of clusters that nothing counts for; then `[super-cluster][cluster][sum]`.
    vectors: Vec<T::Vector>,
}

impl<T: Scalar> Given<T> {
    /// Nothing yet.
    pub fn new(sums: &'static [Sum], clusters: Range<usize>) -> Self {
        let begins = vec![0; clusters.end.div_ceil(CLUSTERS)];
        let mut given = Self { sums, begins, clusters, vectors: T::take_vectors() };
        given.vectors.clear();
        given.add_cluster();
        given
    }

    /// Where the vectors of a cluster begin.
    #[inline(always)]
    pub fn begin(&mut self, cluster: usize) -> usize {
        if !self.clusters.contains(&cluster) {
            return 0;
        }
        let (super_cluster, member) = (cluster / CLUSTERS, cluster % CLUSTERS);
        if self.begins[super_cluster] == 0 {
            self.make(super_cluster);
        }
        self.begins[super_cluster] as usize + member * self.sums.len()
    }

    #[cold]
    fn make(&mut self, super_cluster: usize) {
        self.begins[super_cluster] = self.vectors.len() as u32;
        (0..CLUSTERS).for_each(|_| self.add_cluster());
    }

    fn add_cluster(&mut self) {
        self.vectors.extend(self.sums.iter().map(|sum| T::vector(sum.reduction.identity())));
    }

    /// The vectors.
    #[inline(always)]
    pub fn vectors_mut(&mut self) -> &mut [T::Vector] {
        &mut self.vectors
    }

    /// Join them with the sums of their particles, and keep the room.
    #[inline(always)]
    pub fn join<S: Simd>(self, simd: S, sums: &mut ChunkSums) {
        for (super_cluster, &begin) in self.begins.iter().enumerate().filter(|(_, begin)| **begin > 0) {
            let vectors = self.vectors[begin as usize..].chunks_exact(self.sums.len());
            for (member, vectors) in vectors.take(CLUSTERS).enumerate() {
                let target = sums.blocks.cluster_mut(super_cluster * CLUSTERS + member);
                let columns = target.as_chunks_mut::<CLUSTER>().0;
                for ((sum, vector), totals) in self.sums.iter().zip(vectors).zip(columns) {
                    T::Lanes::<S>::join_wide(simd, vector.as_ref(), sum.reduction, totals);
                }
            }
        }
        T::keep_vectors(self.vectors);
    }
}
