//! Arguments of kernels/mesh/tiles.cu.

use super::mesh::{BinnedRecords, MeshParameters};
use super::twin::Real;
use super::{Input, Output};

kernel_arguments! {
    unit "mesh/tiles.cu";

    /// Spreading by tiles.
    pub struct SpreadTilesArguments for spread_tiles {
        /// The mesh's shape.
        pub geometry: MeshParameters,
        /// The particles.
        pub binned: BinnedRecords,
        /// Values of rows.
        pub values: Input<f64>,
        /// Number of tiles.
        pub tiles: u32,
        /// Number of slices of each tile.
        pub slices: Input<u32>,
        /// First part of each split tile.
        pub first_part: Input<u32>,
        /// Number of parts that have arrived, of each tile, initially 0.
        pub arrived: Output<u32>,
        /// Tile of each part.
        pub tile_of_part: Input<u32>,
        /// Number of parts.
        pub parts: Input<u32>,
        /// Sums of parts: 512 per part.
        pub partial: Output<Real>,
        /// The mesh.
        pub sums: Output<Real>,
    }
}
