//! Arguments of kernels/mesh/hybrid.cu.

use super::mesh::MeshParameters;
use super::twin::{Real, Record};
use super::{Input, Output};

kernel_arguments! {
    unit "mesh/hybrid.cu";

    /// Number of entries beyond the rectangle.
    pub struct FindExcessArguments for find_excess {
        /// Number of entries of each row.
        pub counts: Input<u32>,
        /// Number of rows.
        pub points: u32,
        /// Entries per row of the rectangle.
        pub width: u32,
        /// Number of those beyond the rectangle.
        pub excess: Output<u32>,
    }

    /// Entries in the rectangle and in the list.
    pub struct InsertHybridArguments for insert_hybrid {
        /// The mesh's shape.
        pub geometry: MeshParameters,
        /// The particles.
        pub records: Input<Record>,
        /// Number of particles.
        pub count: u32,
        /// Number of entries of each row, then 0.
        pub counts: Output<u32>,
        /// Number of rows.
        pub points: u32,
        /// Entries per row of the rectangle.
        pub width: u32,
        /// Columns of the rectangle, initially all ones.
        pub columns: Output<u32>,
        /// Weights of the rectangle, if they are stored.
        pub weights: Output<Real>,
        /// First entry of the list of each row.
        pub excess_starts: Input<u64>,
        /// Points of the list.
        pub excess_points: Output<u32>,
        /// Columns of the list.
        pub excess_columns: Output<u32>,
        /// Weights of the list, if they are stored.
        pub excess_weights: Output<Real>,
    }

    /// Product of the rectangle and values.
    pub struct MultiplyRectangleArguments for multiply_rectangle {
        /// The mesh's shape.
        pub geometry: MeshParameters,
        /// The particles.
        pub records: Input<Record>,
        /// Values of the particles.
        pub values: Input<f64>,
        /// Columns of the rectangle.
        pub columns: Input<u32>,
        /// Weights of the rectangle, if they are stored.
        pub weights: Input<Real>,
        /// Number of rows.
        pub points: u32,
        /// Entries per row of the rectangle.
        pub width: u32,
        /// The mesh.
        pub sums: Output<Real>,
    }

    /// Product of the list and values.
    pub struct MultiplyExcessArguments for multiply_excess {
        /// The mesh's shape.
        pub geometry: MeshParameters,
        /// The particles.
        pub records: Input<Record>,
        /// Values of the particles.
        pub values: Input<f64>,
        /// Points of the list.
        pub excess_points: Input<u32>,
        /// Columns of the list.
        pub excess_columns: Input<u32>,
        /// Weights of the list, if they are stored.
        pub excess_weights: Input<Real>,
        /// Length of the list.
        pub excess: u64,
        /// The mesh.
        pub sums: Output<Real>,
    }
}
