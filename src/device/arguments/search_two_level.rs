//! Arguments of kernels/search/two_level.cu.

use super::search_grid::{Places, SearchColumns, SearchGrid, SearchRows, SearchSums};
use super::twin::Real;
use super::{Input, Output};

kernel_arguments! {
    unit "search/two_level.cu";

    /// Rows moved to the sections of their coarse cells.
    pub struct MoveToSectionsArguments for move_to_sections {
        /// Rows.
        pub rows: SearchRows,
        /// Columns to pack.
        pub columns: SearchColumns,
        /// Coarse cells.
        pub grid: SearchGrid,
        /// Width of borders.
        pub reach: f64,
        /// First places of sections, then their ends.
        pub sections: Output<u32>,
        /// Packed rows.
        pub places: Places,
        /// Sums, set for rows without a place.
        pub sums: Output<Real>,
    }

    /// A search of coarse cells.
    pub struct SearchTwoLevelArguments for search_two_level {
        /// Packed rows.
        pub places: Places,
        /// Ends of sections, four per cell.
        pub sections: Input<u32>,
        /// Items: cell and first particle.
        pub items: Input<u32>,
        /// Number of items.
        pub item_count: Input<u32>,
        /// Number of items taken, initially 0.
        pub items_taken: Output<u32>,
        /// Most particles of an item.
        pub item_particles: u32,
        /// Coarse cells.
        pub grid: SearchGrid,
        /// Numbers of local cells.
        pub local: [u32; 3],
        /// Local cells per length.
        pub local_scale: [f64; 3],
        /// Largest distance of a pair.
        pub reach: f64,
        /// Sums.
        pub sums: SearchSums,
    }
}
