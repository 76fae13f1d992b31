//! Arguments of kernels/search/sorted_grid.cu.

use super::search_grid::{Places, SearchColumns, SearchGrid, SearchRows, SearchSums};
use super::twin::Real;
use super::{Input, Output};

kernel_arguments! {
    unit "search/sorted_grid.cu";

    /// Rows in the order of their cells.
    pub struct GatherCellsArguments for gather_cells {
        /// Rows.
        pub rows: SearchRows,
        /// Columns to pack.
        pub columns: SearchColumns,
        /// Cells.
        pub grid: SearchGrid,
        /// Sorted cells.
        pub keys: Input<u64>,
        /// Rows of the sorted cells.
        pub order: Input<u32>,
        /// First place of each cell, initially 2^32 - 1.
        pub starts: Output<u32>,
        /// End of each cell that has particles.
        pub ends: Output<u32>,
        /// Packed rows.
        pub places: Places,
        /// Sums, set for rows without a cell.
        pub sums: Output<Real>,
    }

    /// A search of 27 cells.
    pub struct SearchSortedGridArguments for search_sorted_grid {
        /// Packed rows.
        pub places: Places,
        /// Sorted cells.
        pub keys: Input<u64>,
        /// First place of each cell, 2^32 - 1 if it is empty.
        pub starts: Input<u32>,
        /// End of each cell that has particles.
        pub ends: Input<u32>,
        /// Cells.
        pub grid: SearchGrid,
        /// Sums.
        pub sums: SearchSums,
    }
}
