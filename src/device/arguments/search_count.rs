//! Arguments of kernels/search/count.cu.

use super::Output;
use super::search_grid::{SearchGrid, SearchRows};

kernel_arguments! {
    unit "search/count.cu";

    /// Numbers of particles in the sections of coarse cells.
    pub struct CountSections {
        /// Rows.
        pub rows: SearchRows,
        /// Coarse cells.
        pub grid: SearchGrid,
        /// Width of borders.
        pub reach: f64,
        /// Numbers of particles, four per cell, initially 0.
        pub sections: Output<u32>,
    }

    /// Counting in shared memory.
    pub struct CountInSharedArguments for count_in_shared {
        /// What is counted.
        pub count: CountSections,
    }

    /// Counting in global memory.
    pub struct CountInGlobalArguments for count_in_global {
        /// What is counted.
        pub count: CountSections,
    }

    /// Cells of rows, and their places within the cells.
    pub struct CountCellsArguments for count_cells {
        /// Rows.
        pub rows: SearchRows,
        /// Cells.
        pub grid: SearchGrid,
        /// Numbers of particles in cells, initially 0.
        pub counts: Output<u32>,
        /// Cell of each row, 2^32 - 1 for rows without one.
        pub cell: Output<u32>,
        /// Place of each row within its cell.
        pub place: Output<u32>,
    }

    /// Cells of rows as keys.
    pub struct KeyCellsArguments for key_cells {
        /// Rows.
        pub rows: SearchRows,
        /// Cells.
        pub grid: SearchGrid,
        /// Cell of each row; the number of cells for rows without one.
        pub keys: Output<u64>,
    }

    /// Exclusive prefix sums in place.
    pub struct ScanCountsArguments for scan_counts {
        /// The counts, then their sums.
        pub counts: Output<u32>,
        /// Number of counts, a multiple of 4.
        pub count: u32,
        /// Published sums of tiles, initially 0.
        pub published: Output<u64>,
        /// Number of tiles taken, initially 0.
        pub tiles_taken: Output<u32>,
        /// Items of the occupied cells of four counts: cell and first particle; or null.
        pub items: Output<u32>,
        /// Number of items, initially 0.
        pub item_count: Output<u32>,
        /// Most particles of an item.
        pub item_particles: u32,
    }
}
