//! Reaction sums (Newton's third law) of a chunk, in vectors per cluster. Chunks are reduced in their order,
//! so that sums are reproducible.
//!
//! A cluster has either columns of reactions, or, over tiles, a record of all sums per particle.

use super::law::{PairLaw, Sum};
use super::record::QUAD;
use crate::neighbors::{CLUSTER, CLUSTERS};
use crate::pair::scratch_pools::scratch_pools;
use crate::parallel::Scratch;
use crate::simd::prefetch::prefetch_for_write;
use crate::simd::{Lanes, Scalar};
use fearless_simd::Simd;
use std::ops::Range;

/// Lanes with elements `T`.
type R<T, S> = <T as Scalar>::Lanes<S>;

/// Quads of a particle's sums.
pub const fn reaction_quads<L: PairLaw>() -> usize {
    L::SUMS.len().div_ceil(QUAD)
}

/// Maximum number of quads of a particle's sums.
pub const MAX_REACTION_QUADS: usize = 4;

/// Values of a row with this number of sums.
pub const fn reaction_row_values(sums: usize) -> usize {
    sums.next_multiple_of(QUAD)
}

/// Values of a cluster.
pub const fn reaction_cluster_values<L: PairLaw>() -> usize {
    CLUSTER * reaction_row_values(L::SUMS.len())
}

/// Vectors of a cluster.
pub const fn reaction_cluster_vectors<L: PairLaw, T: Scalar, S: Simd>() -> usize {
    reaction_cluster_values::<L>() / R::<T, S>::COUNT
}

/// Vectors of reactions; those of a super-cluster are allocated when it is first touched.
pub struct ReactionBuffer<T: Scalar> {
    /// Initial vectors of a cluster: the identities of the reductions.
    identity: Vec<T::Vector>,
    /// Clusters whose reactions are used.
    clusters: Range<usize>,
    /// Per super-cluster, the offset of its vectors; 0 if not allocated.
    begins: Vec<u32>,
    /// First a dummy cluster for reactions that are not used, then `[super-cluster][cluster]`.
    vectors: Scratch<Vec<T::Vector>>,
}

impl<T: Scalar> ReactionBuffer<T> {
    /// An empty buffer: `identity` has the initial value of each vector of a cluster.
    pub fn new(identity: impl Iterator<Item = f64>, clusters: Range<usize>) -> Self {
        let identity: Vec<T::Vector> = identity.map(T::vector).collect();
        let begins = vec![0; clusters.end.div_ceil(CLUSTERS)];
        let mut vectors = scratch_pools::<T>().vectors.take();
        vectors.clear();
        vectors.extend_from_slice(&identity);
        Self { identity, begins, clusters, vectors }
    }

    /// An empty buffer of records of `sums` columns, which are all sums.
    pub fn records(sums: usize, clusters: Range<usize>) -> Self {
        let vectors = CLUSTER * reaction_row_values(sums) * size_of::<T>() / size_of::<T::Vector>();
        Self::new(std::iter::repeat_n(0.0, vectors), clusters)
    }

    /// Offset of a cluster's vectors; allocates them if necessary.
    #[inline(always)]
    pub fn begin(&mut self, cluster: usize) -> usize {
        if !self.clusters.contains(&cluster) {
            return 0;
        }
        let (super_cluster, member) = (cluster / CLUSTERS, cluster % CLUSTERS);
        if self.begins[super_cluster] == 0 {
            self.allocate(super_cluster);
        }
        self.begins[super_cluster] as usize + member * self.identity.len()
    }

    #[cold]
    fn allocate(&mut self, super_cluster: usize) {
        self.begins[super_cluster] = self.vectors.len() as u32;
        (0..CLUSTERS).for_each(|_| self.vectors.extend_from_slice(&self.identity));
        // Another thread read this memory in the last sweep.
        prefetch_for_write(self.vectors.as_ptr_range().end, CLUSTERS * self.identity.len());
    }

    /// Adds to the records of rows of one super-cluster.
    pub fn add(&mut self, rows: Range<usize>, records: &[T]) {
        let begin = self.begin(rows.start / CLUSTER);
        let row_values = size_of_val(&self.identity[..]) / size_of::<T>() / CLUSTER;
        let own: &mut [T] = bytemuck::cast_slice_mut(&mut self.vectors[begin..]);
        let own = own[rows.start % CLUSTER * row_values..].as_chunks_mut::<QUAD>().0;
        for (own, quad) in own.iter_mut().zip(records.as_chunks::<QUAD>().0) {
            *own = std::array::from_fn(|k| own[k] + quad[k]);
        }
    }

    /// All vectors.
    #[inline(always)]
    pub fn vectors_mut(&mut self) -> &mut [T::Vector] {
        &mut self.vectors
    }

    /// Vectors of a super-cluster, cluster by cluster, if it was touched.
    pub fn super_cluster(&self, super_cluster: usize) -> Option<&[T::Vector]> {
        let begin = self.begins.get(super_cluster).copied().filter(|begin| *begin > 0)? as usize;
        Some(&self.vectors[begin..begin + CLUSTERS * self.identity.len()])
    }

    /// Passes the clusters of all touched super-clusters to `visit`, with their vectors.
    #[inline(always)]
    pub fn for_each_cluster(self, mut visit: impl FnMut(usize, &[T::Vector])) {
        for super_cluster in 0..self.begins.len() {
            let vectors = self.super_cluster(super_cluster).unwrap_or_default();
            for (member, vectors) in vectors.chunks_exact(self.identity.len()).enumerate() {
                visit(super_cluster * CLUSTERS + member, vectors);
            }
        }
    }
}

/// Joins the records of a cluster with its totals, one column of eight per sum.
#[inline(always)]
pub fn add_to_totals<T: Scalar, S: Simd>(simd: S, sums: &[Sum], reactions: &[T::Vector], totals: &mut [f64]) {
    let (count, quads) = (const { R::<T, S>::COUNT }, sums.len().div_ceil(QUAD));
    if quads == 1 {
        return R::<T, S>::reduce_quads(
            simd,
            #[inline(always)]
            |k| reactions[k].as_ref(),
            sums,
            totals,
        );
    }
    let mut values_of_cluster = [T::default(); MAX_REACTION_QUADS * QUAD * CLUSTER];
    for (values, vector) in values_of_cluster.chunks_exact_mut(count).zip(reactions) {
        values.copy_from_slice(vector.as_ref());
    }
    for quad in 0..quads {
        let mut eight = [T::default(); CLUSTER * QUAD];
        for (k, values) in eight.chunks_exact_mut(QUAD).enumerate() {
            values.copy_from_slice(&values_of_cluster[(k * quads + quad) * QUAD..][..QUAD]);
        }
        let some = quad * QUAD..sums.len().min((quad + 1) * QUAD);
        let totals = &mut totals[some.start * CLUSTER..some.end * CLUSTER];
        R::<T, S>::reduce_quads(
            simd,
            #[inline(always)]
            |k| &eight[k * count..][..count],
            &sums[some],
            totals,
        );
    }
}
