//! Arguments of kernels/cells/pencil.cu.

use super::cells::{CellPass, CellTasks};

kernel_arguments! {
    unit "cells/pencil.cu";

    /// A sweep with one row of cells at a time in shared memory.
    pub struct SweepPencilsArguments for sweep_pencils {
        /// The sweep.
        pub pass: CellPass,
        /// The pencils with their slices.
        pub tasks: CellTasks,
        /// Particles that the shared memory holds.
        pub capacity: u32,
    }
}
