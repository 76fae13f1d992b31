//! What a chunk's pairs give to particles, in vectors per cluster: columns of reactions, or over tiles records of all sums.

use super::lane::{Lanes, Scalar};
use super::law::PairLaw;
use super::record::QUAD;
use crate::claim::claim;
use crate::neighbors::{CLUSTER, CLUSTERS};
use crate::unused::Used;
use fearless_simd::Simd;
use std::ops::Range;

/// Lanes of the type T.
type R<T, S> = <T as Scalar>::Lanes<S>;

/// Quads of what a particle is given.
pub const fn given_quads<L: PairLaw>() -> usize {
    L::SUMS.len().div_ceil(QUAD)
}

/// Quads of sums that a law may have, at most.
pub const GIVEN: usize = 4;

/// Values that a particle is given.
pub const fn given_of_row<L: PairLaw>() -> usize {
    QUAD * given_quads::<L>()
}

/// Values that a cluster is given.
pub const fn given_values<L: PairLaw>() -> usize {
    CLUSTER * given_of_row::<L>()
}

/// Vectors of what a cluster is given.
pub const fn given_vectors<L: PairLaw, T: Scalar, S: Simd>() -> usize {
    given_values::<L>() / R::<T, S>::COUNT
}

/// Vectors of reactions, made when a super-cluster is first touched.
pub struct Given<T: Scalar> {
    /// What the vectors of a cluster begin with.
    nothing: Vec<T::Vector>,
    /// Clusters that may be given something that counts.
    clusters: Range<usize>,
    /// Per super-cluster where its vectors begin; 0 where there are none.
    begins: Vec<u32>,
    /// First those of clusters that nothing counts for; then `[super-cluster][cluster]`.
    vectors: Used<Vec<T::Vector>>,
}

impl<T: Scalar> Given<T> {
    /// Nothing yet: vectors of these values for each cluster.
    pub fn new(nothing: impl Iterator<Item = f64>, clusters: Range<usize>) -> Self {
        let nothing: Vec<T::Vector> = nothing.map(T::vector).collect();
        let begins = vec![0; clusters.end.div_ceil(CLUSTERS)];
        let mut vectors = T::kept().vectors.take();
        vectors.clear();
        vectors.extend_from_slice(&nothing);
        Self { nothing, begins, clusters, vectors }
    }

    /// No records yet of what pairs give to particles, all of which is added.
    pub fn records<L: PairLaw>(clusters: Range<usize>) -> Self {
        let vectors = given_values::<L>() * size_of::<T>() / size_of::<T::Vector>();
        Self::new(std::iter::repeat_n(0.0, vectors), clusters)
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
        self.begins[super_cluster] as usize + member * self.nothing.len()
    }

    #[cold]
    fn make(&mut self, super_cluster: usize) {
        self.begins[super_cluster] = self.vectors.len() as u32;
        (0..CLUSTERS).for_each(|_| self.vectors.extend_from_slice(&self.nothing));
        // another thread has read what was there in the last sweep
        claim(self.vectors.as_ptr_range().end, CLUSTERS * self.nothing.len());
    }

    /// Add to the records of rows of one super-cluster.
    pub fn add<L: PairLaw>(&mut self, rows: Range<usize>, records: &[T]) {
        let begin = self.begin(rows.start / CLUSTER);
        let own: &mut [T] = bytemuck::cast_slice_mut(&mut self.vectors[begin..]);
        let own = own[rows.start % CLUSTER * given_of_row::<L>()..].as_chunks_mut::<QUAD>().0;
        for (own, quad) in own.iter_mut().zip(records.as_chunks::<QUAD>().0) {
            *own = std::array::from_fn(|k| own[k] + quad[k]);
        }
    }

    /// The vectors.
    #[inline(always)]
    pub fn vectors_mut(&mut self) -> &mut [T::Vector] {
        &mut self.vectors
    }

    /// The vectors of a super-cluster, one cluster after the other, if it was touched.
    pub fn super_cluster(&self, super_cluster: usize) -> Option<&[T::Vector]> {
        let begin = self.begins.get(super_cluster).copied().filter(|begin| *begin > 0)? as usize;
        Some(&self.vectors[begin..begin + CLUSTERS * self.nothing.len()])
    }

    /// Hand out each cluster that was touched, or its neighbors were, with its vectors.
    #[inline(always)]
    pub fn take(self, mut take: impl FnMut(usize, &[T::Vector])) {
        for super_cluster in 0..self.begins.len() {
            let vectors = self.super_cluster(super_cluster).unwrap_or_default();
            for (member, vectors) in vectors.chunks_exact(self.nothing.len()).enumerate() {
                take(super_cluster * CLUSTERS + member, vectors);
            }
        }
    }
}

/// Join what the particles of a cluster were given with their totals, a column of eight each.
#[inline(always)]
pub fn join<L: PairLaw, T: Scalar, S: Simd>(simd: S, given: &[T::Vector], totals: &mut [f64]) {
    let count = const { R::<T, S>::COUNT };
    if const { given_quads::<L>() == 1 } {
        return R::<T, S>::join_quads(
            simd,
            #[inline(always)]
            |k| given[k].as_ref(),
            L::SUMS,
            totals,
        );
    }
    let mut flat = [T::default(); GIVEN * QUAD * CLUSTER];
    for (values, vector) in flat.chunks_exact_mut(count).zip(given) {
        values.copy_from_slice(vector.as_ref());
    }
    for quad in 0..given_quads::<L>() {
        let mut eight = [T::default(); CLUSTER * QUAD];
        for (k, values) in eight.chunks_exact_mut(QUAD).enumerate() {
            values.copy_from_slice(&flat[(k * given_quads::<L>() + quad) * QUAD..][..QUAD]);
        }
        let some = quad * QUAD..L::SUMS.len().min((quad + 1) * QUAD);
        let totals = &mut totals[some.start * CLUSTER..some.end * CLUSTER];
        R::<T, S>::join_quads(
            simd,
            #[inline(always)]
            |k| &eight[k * count..][..count],
            &L::SUMS[some],
            totals,
        );
    }
}
