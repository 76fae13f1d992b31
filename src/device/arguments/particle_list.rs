//! Arguments of kernels/neighbors/particle_list.cu.

use super::search::{ListRecords, ListSearch};
use super::{Input, Output};

kernel_arguments! {
    unit "neighbors/particle_list.cu";

    /// Tests of distances.
    pub struct ParticleListFindArguments for particle_list_find {
        /// The search.
        pub search: ListSearch,
        /// Records of the full cluster list.
        pub list: ListRecords,
        /// The first super-cluster.
        pub first: u32,
        /// Number of super-clusters.
        pub super_clusters: u32,
        /// Offsets of the records' clusters.
        pub begins: Input<u64>,
        /// Clusters of all records.
        pub clusters: Output<u32>,
        /// Neighbors of all particles, one bit for each particle of a record's clusters.
        pub found: Output<u32>,
        /// Number of words of the longest list of each half super-cluster.
        pub widths: Output<u32>,
        /// Not 0 if the list cannot be encoded as a particle list.
        pub unfit: Output<u32>,
    }

    /// Writing of neighbors.
    pub struct ParticleListWriteArguments for particle_list_write {
        /// Number of super-clusters.
        pub super_clusters: u32,
        /// Offsets of the records' clusters, then the end.
        pub begins: Input<u64>,
        /// Neighbors of all particles, one bit for each particle of a record's clusters.
        pub found: Input<u32>,
        /// Offsets of each half super-cluster's words, in units of 32, then the end.
        pub word_begins: Input<u64>,
        /// Neighbor numbers, two per word.
        pub words: Output<u32>,
    }
}
