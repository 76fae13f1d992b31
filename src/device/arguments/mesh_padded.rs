//! Arguments of kernels/mesh/padded.cu.

use super::mesh::{BinnedRecords, MeshParameters};
use super::twin::Real;
use super::{Input, Output};

kernel_arguments! {
    unit "mesh/padded.cu";

    /// Spreading by padded tiles.
    pub struct SpreadPaddedArguments for spread_padded {
        /// The mesh's shape.
        pub geometry: MeshParameters,
        /// The particles.
        pub binned: BinnedRecords,
        /// Their number.
        pub count: u32,
        /// Number of consecutive records of a warp.
        pub records_of_warp: u32,
        /// Values of rows.
        pub values: Input<f64>,
        /// The mesh, initially 0.
        pub sums: Output<Real>,
    }
}
