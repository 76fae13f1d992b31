//! Arguments of kernels/cells/sort.cu.

use super::cells::CellGrid;
use super::twin::{Real, Real4};
use super::{Input, Output};

kernel_arguments! {
    unit "cells/sort.cu";

    /// Cells of rows and their counts.
    pub struct CountCellsArguments for count_cells {
        /// Positions.
        pub position: [Input<f64>; 3],
        /// Identities, or null without ghosts.
        pub id: Input<u64>,
        /// Number of rows.
        pub rows: u32,
        /// The grid.
        pub grid: CellGrid,
        /// Number of rows of each cell, initially 0.
        pub counts: Output<u32>,
        /// Cell of each row, all ones for ghosts.
        pub cells: Output<u32>,
        /// Number of each row within its cell.
        pub ranks: Output<u32>,
    }

    /// Starts of cells, and what strategies need to know.
    pub struct SummarizeCellsArguments for summarize_cells {
        /// Number of cells.
        pub count: u32,
        /// First particle of each cell, then their number.
        pub sums: Input<u64>,
        /// The same in 32 bits.
        pub starts: Output<u32>,
        /// Initially 0: cells with particles, particles of the fullest cell, particles.
        pub summary: Output<u32>,
    }

    /// Rows by cell, in varying order within it.
    pub struct PlaceRowsArguments for place_rows {
        /// Number of rows.
        pub rows: u32,
        /// Cell of each row.
        pub cells: Input<u32>,
        /// Number of each row within its cell.
        pub ranks: Input<u32>,
        /// First particle of each cell.
        pub sums: Input<u64>,
        /// The rows.
        pub placed: Output<u32>,
    }

    /// Particles by cell and row.
    pub struct OrderCellsArguments for order_cells {
        /// Positions.
        pub position: [Input<f64>; 3],
        /// Packed positions, of whose numbers the last is read.
        pub packed_position: Input<Real4>,
        /// Further prepared values: columns of groups of four.
        pub packed_further: Input<Real4>,
        /// Squared radii, or null.
        pub packed_squared_radius: Input<Real>,
        /// Elements of a packed column.
        pub packed_rows: u64,
        /// Groups of further prepared values.
        pub groups: u32,
        /// The grid.
        pub grid: CellGrid,
        /// Cell of each row.
        pub row_cells: Input<u32>,
        /// Rows by cell.
        pub placed: Input<u32>,
        /// First particle of each cell, then the number of particles.
        pub starts: Input<u32>,
        /// Number of cells.
        pub count: u32,
        /// Offsets from the cell's center, with the last packed number.
        pub sorted_position: Output<Real4>,
        /// Further prepared values.
        pub sorted_further: Output<Real4>,
        /// Squared radii.
        pub sorted_squared_radius: Output<Real>,
        /// Rows.
        pub rows: Output<u32>,
        /// Cells.
        pub cells: Output<u32>,
        /// Elements of a sorted column.
        pub stride: u64,
    }

    /// Slices of sub-boxes.
    pub struct CountTasksArguments for count_tasks {
        /// The grid.
        pub grid: CellGrid,
        /// First particle of each cell, then the number of particles.
        pub starts: Input<u32>,
        /// Cells of a sub-box.
        pub shape: [u32; 3],
        /// Number of sub-boxes.
        pub boxes: u32,
        /// Particles of a slice.
        pub slice: u32,
        /// Number of slices of each sub-box.
        pub slices: Output<u32>,
    }

    /// Tasks from slices.
    pub struct WriteTasksArguments for write_tasks {
        /// Number of sub-boxes.
        pub boxes: u32,
        /// First task of each sub-box, then the number of tasks.
        pub sums: Input<u64>,
        /// Sub-box of each task.
        pub task_boxes: Output<u32>,
        /// Number of each task within its sub-box.
        pub task_slices: Output<u32>,
    }
}
