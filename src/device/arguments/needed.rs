//! Arguments of kernels/domain/needed.cu.

use super::{Input, Output};
use crate::tree::bounds::Extent;

kernel_arguments! {
    unit "domain/needed.cu";

    /// Marks of the rows that another rank needs.
    pub struct NeededRowsArguments for needed_rows {
        /// Positions.
        pub position: [Input<f64>; 3],
        /// Radii, or null where all rows have the same.
        pub radius: Input<f64>,
        /// The radius of all rows.
        pub radius_of_all: f64,
        /// Centers of the hierarchy's nodes.
        pub center: Input<f64>,
        /// Half widths and largest radii of the hierarchy's nodes.
        pub extent: Input<[f32; 4]>,
        /// Unit of length of extents.
        pub unit: f64,
        /// The largest radius.
        pub largest: f64,
        /// Number of rows.
        pub rows: u32,
        /// Number of nodes.
        pub nodes: u32,
        /// Node of the first super-cluster.
        pub offset: u32,
        /// Number of boxes.
        pub count: u32,
        /// Boxes of the other rank.
        pub boxes: Input<Extent>,
        /// Edges along periodic dimensions, 0 along open ones.
        pub period: [f64; 3],
        /// Bounds of rounding errors.
        pub rounding: [f64; 3],
        /// 1 for each row that is needed, else 0.
        pub marks: Output<u8>,
    }
}
