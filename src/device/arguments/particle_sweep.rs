//! Arguments of kernels/pair/particle_sweep.cu.

use super::packed::PackedRows;
use super::twin::Real;
use super::{BoxParameters, Input, Output};

kernel_arguments! {
    unit "pair/particle_sweep.cu";

    /// A sweep over a particle list.
    pub struct ParticleSweepArguments for particle_sweep {
        /// Packed rows.
        pub packed: PackedRows,
        /// Clusters of all records.
        pub clusters: Input<u32>,
        /// Offsets of the records' clusters.
        pub begins: Input<u64>,
        /// Neighbor numbers, two per word.
        pub words: Input<u32>,
        /// Offsets of each half super-cluster's words, in units of 32.
        pub word_begins: Input<u64>,
        /// The super-cluster of the first record.
        pub first_super_cluster: u32,
        /// Common cutoff of all pairs, for laws that have one.
        pub cutoff: f64,
        /// The box.
        pub bx: BoxParameters,
        /// Not 0 for rows whose sums are wanted, or null for all rows.
        pub active: Input<u8>,
        /// Sums of rows.
        pub sums: Output<Real>,
    }
}
