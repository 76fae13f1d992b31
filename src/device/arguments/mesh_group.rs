//! Arguments of kernels/mesh/group.cu.

use super::mesh::MeshParameters;
use super::twin::{Real, Record};
use super::{Input, Output};

kernel_arguments! {
    unit "mesh/group.cu";

    /// Number of entries of each group.
    pub struct CountGroupsArguments for count_groups {
        /// The mesh's shape.
        pub geometry: MeshParameters,
        /// The particles.
        pub records: Input<Record>,
        /// Number of particles.
        pub count: u32,
        /// The counts, initially 0.
        pub counts: Output<u32>,
    }

    /// Entries in their groups.
    pub struct InsertGroupsArguments for insert_groups {
        /// The mesh's shape.
        pub geometry: MeshParameters,
        /// The particles.
        pub records: Input<Record>,
        /// Number of particles.
        pub count: u32,
        /// Number of entries of each group, then 0.
        pub counts: Output<u32>,
        /// First entry of each group.
        pub starts: Input<u64>,
        /// Columns of entries.
        pub columns: Output<u32>,
        /// Points of entries within their groups.
        pub places: Output<u8>,
        /// Weights of entries, if they are stored.
        pub weights: Output<Real>,
    }

    /// Product of the matrix and values.
    pub struct MultiplyGroupsArguments for multiply_groups {
        /// The mesh's shape.
        pub geometry: MeshParameters,
        /// The particles.
        pub records: Input<Record>,
        /// Values of the particles.
        pub values: Input<f64>,
        /// First entry of each group, then their number.
        pub starts: Input<u64>,
        /// Columns of entries.
        pub columns: Input<u32>,
        /// Points of entries within their groups.
        pub places: Input<u8>,
        /// Weights of entries, if they are stored.
        pub weights: Input<Real>,
        /// Number of groups.
        pub groups: u32,
        /// Number of mesh points.
        pub points: u32,
        /// The mesh.
        pub sums: Output<Real>,
    }
}
