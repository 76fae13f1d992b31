//! The arguments that the sweeps over cells share (kernels/cells).

use super::twin::{Real, Real4};
use super::{Input, Output};

kernel_arguments! {
    unit "cells/cells";

    /// A grid of cells; the index of cell (x, y, z) is x + nx (y + ny z).
    pub struct CellGrid {
        /// Lower corner.
        pub lower: [f64; 3],
        /// Upper corner.
        pub upper: [f64; 3],
        /// Widths of a cell.
        pub width: [f64; 3],
        /// One over the widths.
        pub inverse: [f64; 3],
        /// Cells of each dimension.
        pub counts: [u32; 3],
        /// Bit d: dimension d is periodic.
        pub periodic: u32,
    }

    /// Particles in the order of cells; within a cell in that of rows.
    pub struct CellParticles {
        /// Offsets from the cell's center, with the squared radius or the first prepared value.
        pub position: Input<Real4>,
        /// Further prepared values: columns of groups of four.
        pub further: Input<Real4>,
        /// Squared radii, if each row has its own cutoff.
        pub squared_radius: Input<Real>,
        /// Their rows.
        pub rows: Input<u32>,
        /// Their cells.
        pub cells: Input<u32>,
        /// First particle of each cell, then the number of particles.
        pub starts: Input<u32>,
        /// Elements of a column.
        pub stride: u64,
    }

    /// A sweep over cells.
    pub struct CellPass {
        /// The grid.
        pub grid: CellGrid,
        /// The particles.
        pub particles: CellParticles,
        /// The first row whose sums are wanted.
        pub begin: u32,
        /// One past the last row whose sums are wanted.
        pub end: u32,
        /// Not 0 for rows whose sums are wanted, or null for all rows.
        pub active: Input<u8>,
        /// Common cutoff of all pairs, for laws that have one.
        pub cutoff: f64,
        /// Sums of rows.
        pub sums: Output<Real>,
    }

    /// The work of blocks: sub-boxes with particles, in slices of their particles.
    pub struct CellTasks {
        /// Sub-box of each task; x is the fastest.
        pub boxes: Input<u32>,
        /// Number of each task within its sub-box.
        pub slices: Input<u32>,
        /// Number of tasks.
        pub count: Input<u64>,
        /// Cells of a sub-box.
        pub shape: [u32; 3],
        /// Particles of a slice.
        pub slice: u32,
    }
}
