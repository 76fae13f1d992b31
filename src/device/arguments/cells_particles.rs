//! Arguments of kernels/cells/particles.cu.

use super::cells::CellPass;

kernel_arguments! {
    unit "cells/particles.cu";

    /// A sweep with a thread a particle.
    pub struct SweepParticlesArguments for sweep_particles {
        /// The sweep.
        pub pass: CellPass,
    }
}
