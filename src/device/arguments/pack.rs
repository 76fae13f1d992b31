//! Arguments of kernels/pair/pack.cu.

use super::twin::{Real, Real4};
use super::{Input, MOST_COLUMNS, Output};

kernel_arguments! {
    unit "pair/pack.cu";

    /// Rows packed for a sweep.
    pub struct PackArguments for pack {
        /// Positions.
        pub position: [Input<f64>; 3],
        /// Interaction radii, or null where all pairs have one cutoff.
        pub radius: Input<f64>,
        /// Identities, or null without ghosts.
        pub id: Input<u64>,
        /// The law's input columns, then null.
        pub inputs: [Input<f64>; MOST_COLUMNS],
        /// Number of rows.
        pub rows: u64,
        /// The first super-cluster to pack.
        pub first_super_cluster: u32,
        /// One past the last super-cluster to pack.
        pub end_super_cluster: u32,
        /// Number of all super-clusters.
        pub super_clusters: u32,
        /// Offsets from the super-cluster's center, with the squared radius or the first prepared value.
        pub packed_position: Output<Real4>,
        /// Further prepared values: columns of groups of four.
        pub further: Output<Real4>,
        /// Squared radii, if each row has its own cutoff.
        pub squared_radius: Output<Real>,
        /// Centers and half widths of super-clusters.
        pub frame: Output<f64>,
        /// Boxes of clusters: center and largest radius, half widths.
        pub boxes: Output<f32>,
    }
}
