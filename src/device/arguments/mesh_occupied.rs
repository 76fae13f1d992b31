//! Arguments of kernels/mesh/occupied.cu.

use super::mesh::MeshParameters;
use super::{Input, Output, Rows};

kernel_arguments! {
    unit "mesh/occupied.cu";

    /// Search for the cells along x that hold particles.
    pub struct MarkOccupiedCellsArguments for mark_occupied_cells {
        /// Coordinates x.
        pub position: Input<f64>,
        /// The mesh's shape.
        pub geometry: MeshParameters,
        /// The rows.
        pub rows: Rows,
        /// A bit per cell, initially 0.
        pub cells: Output<u32>,
    }
}
