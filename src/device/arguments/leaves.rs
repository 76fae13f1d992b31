//! Arguments of kernels/domain/leaves.cu.

use super::{Input, Output};
use crate::tree::bounds::Extent;

kernel_arguments! {
    unit "domain/leaves.cu";

    /// The first row of each leaf.
    pub struct FirstRowsArguments for first_rows {
        /// Sorted keys.
        pub keys: Input<u64>,
        /// Number of keys.
        pub rows: u32,
        /// Lower bounds of the leaves' keys.
        pub bounds: Input<u64>,
        /// Number of bounds.
        pub count: u32,
        /// The first row of each bound.
        pub first: Output<u32>,
    }

    /// Boxes and largest radii of leaves.
    pub struct LeafExtentsArguments for leaf_extents {
        /// First row of each leaf, then the end.
        pub first: Input<u32>,
        /// Centers of the hierarchy's nodes.
        pub center: Input<f64>,
        /// Half widths and largest radii of the hierarchy's nodes.
        pub extent: Input<[f32; 4]>,
        /// Number of nodes.
        pub nodes: u32,
        /// Unit of length of extents.
        pub unit: f64,
        /// The largest radius.
        pub largest: f64,
        /// The boxes.
        pub extents: Output<Extent>,
    }
}
