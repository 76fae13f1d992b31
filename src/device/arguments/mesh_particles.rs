//! Arguments of kernels/mesh/particles.cu.

use super::mesh::MeshParameters;
use super::twin::Real;
use super::{Input, Output, Rows};

kernel_arguments! {
    unit "mesh/particles.cu";

    /// Spreading with a thread per particle.
    pub struct SpreadParticlesArguments for spread_particles {
        /// Positions.
        pub position: [Input<f64>; 3],
        /// Values of rows.
        pub values: Input<f64>,
        /// The mesh's shape.
        pub geometry: MeshParameters,
        /// The rows.
        pub rows: Rows,
        /// The mesh, initially 0.
        pub sums: Output<Real>,
    }
}
