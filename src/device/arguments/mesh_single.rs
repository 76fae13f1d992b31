//! Arguments of kernels/mesh/single.cu.

use super::mesh::MeshParameters;
use super::twin::{Real, Record};
use super::{Input, Output};

kernel_arguments! {
    unit "mesh/single.cu";

    /// Number of entries of each row.
    pub struct CountPointsArguments for count_points {
        /// The mesh's shape.
        pub geometry: MeshParameters,
        /// The particles.
        pub records: Input<Record>,
        /// Number of particles.
        pub count: u32,
        /// The counts, initially 0.
        pub counts: Output<u32>,
    }

    /// Entries in their rows.
    pub struct InsertPointsArguments for insert_points {
        /// The mesh's shape.
        pub geometry: MeshParameters,
        /// The particles.
        pub records: Input<Record>,
        /// Number of particles.
        pub count: u32,
        /// Number of entries of each row, then 0.
        pub counts: Output<u32>,
        /// First entry of each row.
        pub starts: Input<u64>,
        /// Columns of entries.
        pub columns: Output<u32>,
        /// Weights of entries, if they are stored.
        pub weights: Output<Real>,
    }

    /// Product of the matrix and values.
    pub struct MultiplyRowsArguments for multiply_rows {
        /// The mesh's shape.
        pub geometry: MeshParameters,
        /// The particles.
        pub records: Input<Record>,
        /// Values of the particles.
        pub values: Input<f64>,
        /// First entry of each row, then their number.
        pub starts: Input<u64>,
        /// Columns of entries.
        pub columns: Input<u32>,
        /// Weights of entries, if they are stored.
        pub weights: Input<Real>,
        /// Number of rows.
        pub points: u32,
        /// The mesh.
        pub sums: Output<Real>,
    }
}
