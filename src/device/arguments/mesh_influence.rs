//! Arguments of kernels/mesh/influence.cu.

use super::twin::Real;
use super::{Input, Output};

kernel_arguments! {
    unit "mesh/influence.cu";

    /// Waves that are multiplied by an influence function.
    pub struct MultiplyWavesArguments for multiply_waves {
        /// Real and imaginary part of each wave.
        pub waves: Output<Real>,
        /// The factor of each wave.
        pub influence: Input<Real>,
        /// Number of waves.
        pub count: u64,
    }
}
