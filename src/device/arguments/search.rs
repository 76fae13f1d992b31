//! The arguments that all kernels of neighbor lists share.

use super::{Input, Rows};

kernel_arguments! {
    unit "neighbors/search";

    /// A search for neighbor clusters: columns of all rows and the hierarchy over them.
    pub struct ListSearch {
        /// Positions.
        pub position: [Input<f64>; 3],
        /// Interaction radii, skin included.
        pub radius: Input<f64>,
        /// Identities.
        pub id: Input<u64>,
        /// Centers of the hierarchy's nodes: three columns of all nodes.
        pub center: Input<f64>,
        /// Half widths and largest radii of the hierarchy's nodes.
        pub extent: Input<[f32; 4]>,
        /// The largest magnitude of a coordinate, or null for a search without rounding slack.
        pub magnitude: Input<f64>,
        /// One over the hierarchy's unit of length, a power of two.
        pub scale: f64,
        /// Edges along periodic dimensions, 0 along open ones.
        pub period: [f64; 3],
        /// Number of rows.
        pub rows: u32,
        /// The owned rows, which begin with a super-cluster.
        pub owned: Rows,
        /// Not 0: pairs of owned rows appear once.
        pub symmetric: u32,
        /// Number of nodes.
        pub nodes: u32,
    }

    /// The records of a cluster list.
    pub struct ListRecords {
        /// Nibble codes.
        pub data: Input<u8>,
        /// Offsets of records in the codes.
        pub offsets: Input<u64>,
        /// Entries of each record.
        pub counts: Input<u32>,
    }
}
