//! Arguments of kernels/cells/cell.cu.

use super::cells::{CellPass, CellTasks};

kernel_arguments! {
    unit "cells/cell.cu";

    /// A sweep with a block a cell.
    pub struct SweepCellsArguments for sweep_cells {
        /// The sweep.
        pub pass: CellPass,
        /// The cells with their slices.
        pub tasks: CellTasks,
    }

    /// A sweep with a block a cell, through shared memory.
    pub struct SweepCellsSharedArguments for sweep_cells_shared {
        /// The sweep.
        pub pass: CellPass,
        /// The cells with their slices.
        pub tasks: CellTasks,
        /// Particles that the shared memory holds.
        pub capacity: u32,
    }
}
