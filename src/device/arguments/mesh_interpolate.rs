//! Arguments of kernels/mesh/interpolate.cu.

use super::mesh::{BinnedRecords, MeshParameters};
use super::twin::Real;
use super::{Input, Output, Rows};

kernel_arguments! {
    unit "mesh/interpolate.cu";

    /// Columns to which interpolated values are added.
    pub struct InterpolationColumns {
        /// Weights of rows (charges or masses), or null for 1.
        pub weights: Input<f64>,
        /// Factor of forces, which are -factor * weight * gradient.
        pub force_factor: f64,
        /// Factor of potentials.
        pub potential_factor: f64,
        /// Forces.
        pub force: [Output<f64>; 3],
        /// Potential or energy.
        pub potential: Output<f64>,
    }

    /// Interpolation with a thread per row.
    pub struct InterpolateRowsArguments for interpolate_rows {
        /// Positions.
        pub position: [Input<f64>; 3],
        /// The mesh's shape.
        pub geometry: MeshParameters,
        /// The rows.
        pub rows: Rows,
        /// The mesh.
        pub mesh: Input<Real>,
        /// What receives the values.
        pub to: InterpolationColumns,
    }

    /// Interpolation of binned particles.
    pub struct InterpolateBinsArguments for interpolate_bins {
        /// The mesh's shape.
        pub geometry: MeshParameters,
        /// The particles.
        pub binned: BinnedRecords,
        /// Their number.
        pub count: u32,
        /// The mesh.
        pub mesh: Input<Real>,
        /// What receives the values.
        pub to: InterpolationColumns,
    }
}
