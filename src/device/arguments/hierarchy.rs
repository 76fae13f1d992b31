//! Arguments of kernels/tree/hierarchy.cu.

use super::{Input, Output};

kernel_arguments! {
    unit "tree/hierarchy.cu";

    /// The nodes of a hierarchy.
    pub struct HierarchyNodes {
        /// Centers: three columns of all nodes.
        pub center: Output<f64>,
        /// Half widths and largest radius of each node.
        pub extent: Output<f32>,
        /// One over the unit of length of extents.
        pub scale: f64,
        /// Number of rows.
        pub rows: u32,
        /// Number of levels.
        pub levels: u32,
        /// Number of nodes.
        pub count: u32,
    }

    /// Levels 0 to 2.
    pub struct HierarchyFromRowsArguments for hierarchy_from_rows {
        /// Positions.
        pub position: [Input<f64>; 3],
        /// Radii, or null where all rows have the same.
        pub radius: Input<f64>,
        /// The radius of all rows.
        pub radius_of_all: f64,
        /// Identities, or null without ghosts.
        pub id: Input<u64>,
        /// The nodes.
        pub nodes: HierarchyNodes,
        /// Exact bounds of the nodes of level 2, or null.
        pub bounds: Output<f64>,
    }

    /// Three more levels.
    pub struct HierarchyAboveArguments for hierarchy_above {
        /// Exact bounds of the level below.
        pub below: Input<f64>,
        /// The lowest level to build.
        pub level: u32,
        /// The nodes.
        pub nodes: HierarchyNodes,
        /// Exact bounds of the nodes of the highest level, or null.
        pub bounds: Output<f64>,
    }

    /// The largest radius.
    pub struct LargestRadiusArguments for largest_radius {
        /// Radii.
        pub radius: Input<f64>,
        /// Identities, or null without ghosts.
        pub id: Input<u64>,
        /// Number of rows.
        pub rows: u32,
        /// The largest radius, as the bits of a double; initially 0.
        pub largest: Output<u64>,
    }
}
