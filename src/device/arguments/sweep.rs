//! Arguments of kernels/pair/sweep.cu.

use super::packed::PackedRows;
use super::search::ListRecords;
use super::twin::Real;
use super::{BoxParameters, Input, Output};

kernel_arguments! {
    unit "pair/sweep.cu";

    /// A sweep over the records of a cluster list.
    pub struct SweepArguments for sweep {
        /// Packed rows.
        pub packed: PackedRows,
        /// The list.
        pub list: ListRecords,
        /// The records to sweep, or null for the first ones.
        pub chosen: Input<u32>,
        /// The super-cluster of the first record.
        pub first_super_cluster: u32,
        /// Number of records to sweep.
        pub super_clusters: u32,
        /// Warps per super-cluster: a power of two up to 32.
        pub parts: u32,
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
