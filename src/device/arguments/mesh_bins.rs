//! Arguments of kernels/mesh/bins.cu.

use super::mesh::MeshParameters;
use super::twin::Record;
use super::{Input, Output, Rows};

kernel_arguments! {
    unit "mesh/bins.cu";

    /// Records in the order of rows.
    pub struct FindRecordsArguments for find_records {
        /// Positions.
        pub position: [Input<f64>; 3],
        /// The mesh's shape.
        pub geometry: MeshParameters,
        /// The rows.
        pub rows: Rows,
        /// The records.
        pub records: Output<Record>,
    }

    /// Bins of rows and their counts.
    pub struct CountBinsArguments for count_bins {
        /// Positions.
        pub position: [Input<f64>; 3],
        /// The mesh's shape.
        pub geometry: MeshParameters,
        /// The rows.
        pub rows: Rows,
        /// Number of rows of each bin, initially 0.
        pub counts: Output<u32>,
        /// Bin of each row.
        pub bins: Output<u32>,
        /// Rank of each row within its bin.
        pub ranks: Output<u32>,
    }

    /// Records by bin and rank.
    pub struct PlaceRecordsArguments for place_records {
        /// Positions.
        pub position: [Input<f64>; 3],
        /// The mesh's shape.
        pub geometry: MeshParameters,
        /// The rows.
        pub rows: Rows,
        /// Bin of each row.
        pub bins: Input<u32>,
        /// Rank of each row within its bin.
        pub ranks: Input<u32>,
        /// First record of each bin.
        pub starts: Input<u64>,
        /// The records.
        pub records: Output<Record>,
        /// Their rows.
        pub rows_of_records: Output<u32>,
    }

    /// Keys of rows for a stable sort.
    pub struct BinKeysArguments for bin_keys {
        /// Positions.
        pub position: [Input<f64>; 3],
        /// The mesh's shape.
        pub geometry: MeshParameters,
        /// The rows.
        pub rows: Rows,
        /// The bin of each row, shifted.
        pub keys: Output<u64>,
        /// Bits by which it is shifted.
        pub shift: u32,
    }

    /// Records in the order of sorted keys.
    pub struct PlaceSortedArguments for place_sorted {
        /// Positions.
        pub position: [Input<f64>; 3],
        /// The mesh's shape.
        pub geometry: MeshParameters,
        /// The rows.
        pub rows: Rows,
        /// Places of the sorted keys before the sort.
        pub order: Input<u32>,
        /// The records.
        pub records: Output<Record>,
        /// Their rows.
        pub rows_of_records: Output<u32>,
    }

    /// First records of bins.
    pub struct FindStartsArguments for find_starts {
        /// Sorted keys.
        pub keys: Input<u64>,
        /// Number of keys.
        pub count: u32,
        /// Bits by which the bin is shifted.
        pub shift: u32,
        /// Number of bins.
        pub bins: u32,
        /// First record of each bin, then the number of records.
        pub starts: Output<u64>,
    }

    /// Tiles with many candidates, split into parts.
    pub struct SplitTilesArguments for split_tiles {
        /// The mesh's shape.
        pub geometry: MeshParameters,
        /// First record of each bin, then the number of records.
        pub starts: Input<u64>,
        /// Most candidates of a tile that is not split.
        pub limit: u32,
        /// Number of tiles.
        pub tiles: u32,
        /// Number of slices of each tile.
        pub slices: Output<u32>,
        /// First part of each split tile.
        pub first_part: Output<u32>,
        /// Number of parts that have arrived, of each tile.
        pub arrived: Output<u32>,
        /// Tile of each part.
        pub tile_of_part: Output<u32>,
        /// Number of parts, initially 0.
        pub parts: Output<u32>,
    }
}
