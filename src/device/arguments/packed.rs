//! The arguments that sweeps share.

use super::Input;
use super::twin::{Real, Real4};

kernel_arguments! {
    unit "pair/packed";

    /// Output of `pack`.
    pub struct PackedRows {
        /// Offsets from the super-cluster's center, with the squared radius or the first prepared value.
        pub position: Input<Real4>,
        /// Further prepared values: columns of groups of four.
        pub further: Input<Real4>,
        /// Squared radii, if each row has its own cutoff.
        pub squared_radius: Input<Real>,
        /// Centers and half widths of super-clusters.
        pub frame: Input<f64>,
        /// Boxes of clusters: center and largest radius, half widths.
        pub boxes: Input<[f32; 4]>,
        /// Number of rows, a multiple of 64.
        pub rows: u64,
    }
}
