//! The arguments that all methods of neighbor search share.

use super::twin::{Real, Real4};
use super::{Input, MOST_COLUMNS, Output};

kernel_arguments! {
    unit "search/grid";

    /// A grid of cells.
    pub struct SearchGrid {
        /// Lower corner of the first cell.
        pub lower: [f64; 3],
        /// Upper corner of the box; used along periodic dimensions.
        pub upper: [f64; 3],
        /// Widths of cells, at least the largest distance of a pair.
        pub width: [f64; 3],
        /// One over the widths.
        pub scale: [f64; 3],
        /// Numbers of cells.
        pub cells: [u32; 3],
        /// Bit d: dimension d is periodic.
        pub periodic: u32,
    }

    /// Rows of particles.
    pub struct SearchRows {
        /// Positions.
        pub position: [Input<f64>; 3],
        /// Identities, or null without ghosts.
        pub id: Input<u64>,
        /// Number of rows.
        pub count: u32,
    }

    /// The columns that are packed beside positions.
    pub struct SearchColumns {
        /// Interaction radii, or null where all pairs have one cutoff.
        pub radius: Input<f64>,
        /// The law's input columns, then null.
        pub inputs: [Input<f64>; MOST_COLUMNS],
    }

    /// Places: rows packed in the order of cells.
    pub struct Places {
        /// Offsets from the cell's center, with the squared radius, the first prepared value or the row.
        pub position: Output<Real4>,
        /// Further prepared values: columns of groups of four.
        pub further: Output<Real4>,
        /// Squared radii, if each row has its own cutoff.
        pub squared_radius: Output<Real>,
        /// Rows of places, or null where the position holds the row.
        pub row: Output<u32>,
        /// Number of places of a column.
        pub count: u32,
    }

    /// The sums of a search.
    pub struct SearchSums {
        /// Common cutoff of all pairs, for laws that have one.
        pub cutoff: f64,
        /// The first row whose sums are wanted.
        pub begin: u32,
        /// One past the last such row.
        pub end: u32,
        /// Not 0 for rows whose sums are wanted, or null for all of them.
        pub active: Input<u8>,
        /// Sums of rows.
        pub sums: Output<Real>,
    }
}
