//! Arguments of kernels/search/counting_grid.cu.

use super::search_grid::{Places, SearchColumns, SearchGrid, SearchRows, SearchSums};
use super::twin::Real;
use super::{Input, Output};

kernel_arguments! {
    unit "search/counting_grid.cu";

    /// Rows moved to their cells.
    pub struct MoveToCellsArguments for move_to_cells {
        /// Rows.
        pub rows: SearchRows,
        /// Columns to pack.
        pub columns: SearchColumns,
        /// Cells.
        pub grid: SearchGrid,
        /// First place of each cell, then their number.
        pub starts: Input<u32>,
        /// Cell of each row.
        pub cell: Input<u32>,
        /// Place of each row within its cell.
        pub place: Input<u32>,
        /// Packed rows.
        pub places: Places,
        /// Sums, set for rows without a place.
        pub sums: Output<Real>,
    }

    /// A search of 27 cells.
    pub struct SearchCountingGridArguments for search_counting_grid {
        /// Packed rows.
        pub places: Places,
        /// First place of each cell, then their number.
        pub starts: Input<u32>,
        /// Cell of each row.
        pub cell: Input<u32>,
        /// Cells.
        pub grid: SearchGrid,
        /// Sums.
        pub sums: SearchSums,
    }
}
