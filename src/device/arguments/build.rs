//! Arguments of kernels/neighbors/build.cu.

use super::overflow::{OverflowWindow, RecordOverflow};
use super::search::ListSearch;
use super::{Input, Output};

kernel_arguments! {
    unit "neighbors/build.cu";

    /// The order in which records are built.
    pub struct ListOrderArguments for list_order {
        /// Half widths and largest radii of the hierarchy's nodes.
        pub extent: Input<[f32; 4]>,
        /// Number of rows.
        pub rows: u32,
        /// The first super-cluster.
        pub first: u32,
        /// Number of super-clusters.
        pub super_clusters: u32,
        /// Records in the order of their builds.
        pub order: Output<u32>,
        /// Numbers of long and of other builds put into the order, initially 0.
        pub placed: Output<u32>,
    }

    /// Build of records.
    pub struct ListBuildArguments for list_build {
        /// The search.
        pub search: ListSearch,
        /// The first super-cluster.
        pub first: u32,
        /// Number of super-clusters.
        pub super_clusters: u32,
        /// Records in the order of their builds, or null.
        pub order: Input<u32>,
        /// One slot per record: its first bytes.
        pub slots: Output<u8>,
        /// Bytes of a slot, a multiple of 4.
        pub slot: u32,
        /// Windows of records beyond their slots.
        pub overflow: RecordOverflow,
        /// Entries of each record.
        pub counts: Output<u32>,
        /// Bytes of each record.
        pub lengths: Output<u32>,
        /// 1 for each record without halo rows, else 0; or null.
        pub interior: Output<u8>,
        /// 1 for each record with halo rows, else 0; or null.
        pub boundary: Output<u8>,
    }

    /// Copy of records from slots and overflow to their destination.
    pub struct ListPlaceArguments for list_place {
        /// Number of records.
        pub records: u32,
        /// Bytes of a slot.
        pub slot: u32,
        /// One slot per record.
        pub slots: Input<u8>,
        /// Windows beyond the slots.
        pub overflow: Input<OverflowWindow>,
        /// Number of these windows.
        pub overflow_count: u32,
        /// Offsets of records.
        pub offsets: Input<u64>,
        /// Records.
        pub data: Output<u8>,
    }

    /// The largest magnitude of a coordinate.
    pub struct ListMagnitudeArguments for list_magnitude {
        /// Number of clusters.
        pub clusters: u32,
        /// Centers of the hierarchy's nodes.
        pub center: Input<f64>,
        /// Half widths and largest radii of the hierarchy's nodes.
        pub extent: Input<[f32; 4]>,
        /// Number of nodes.
        pub nodes: u32,
        /// Unit of length of extents.
        pub unit: f64,
        /// The magnitude, as the bits of a double; initially 0.
        pub magnitude: Output<u64>,
    }
}
