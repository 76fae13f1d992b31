//! Arguments of kernels/cells/sub_box.cu.

use super::cells::{CellPass, CellTasks};

kernel_arguments! {
    unit "cells/sub_box.cu";

    /// A sweep with a sub-box and its neighbor cells in shared memory.
    pub struct SweepSubBoxesArguments for sweep_sub_boxes {
        /// The sweep.
        pub pass: CellPass,
        /// The sub-boxes with their slices.
        pub tasks: CellTasks,
        /// Particles that the shared memory holds.
        pub capacity: u32,
    }
}
