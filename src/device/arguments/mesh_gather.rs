//! Arguments of kernels/mesh/gather.cu.

use super::mesh::MeshParameters;
use super::twin::{Real, Record};
use super::{Input, Output};

kernel_arguments! {
    unit "mesh/gather.cu";

    /// Particles placed on points.
    pub struct PlaceOnPointsArguments for place_on_points {
        /// The mesh's shape.
        pub geometry: MeshParameters,
        /// The particles.
        pub records: Input<Record>,
        /// Number of particles.
        pub count: u32,
        /// Particle of each point, initially all ones.
        pub holders: Output<u32>,
        /// Particles without a point.
        pub overflow: Output<u32>,
        /// Their number, initially 0.
        pub overflowing: Output<u32>,
    }

    /// Sums that points gather.
    pub struct GatherPointsArguments for gather_points {
        /// The mesh's shape.
        pub geometry: MeshParameters,
        /// The particles.
        pub records: Input<Record>,
        /// Values of the particles.
        pub values: Input<f64>,
        /// Particle of each point.
        pub holders: Input<u32>,
        /// The mesh.
        pub sums: Output<Real>,
    }

    /// Particles without a point, added atomically.
    pub struct SpreadOverflowArguments for spread_overflow {
        /// The mesh's shape.
        pub geometry: MeshParameters,
        /// The particles.
        pub records: Input<Record>,
        /// Values of the particles.
        pub values: Input<f64>,
        /// Particles without a point.
        pub overflow: Input<u32>,
        /// Their number.
        pub overflowing: Input<u32>,
        /// The mesh.
        pub sums: Output<Real>,
    }
}
