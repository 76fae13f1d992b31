//! Arguments of kernels/motion/skin.cu.

use super::{BoxParameters, Input, Output, Rows};

kernel_arguments! {
    unit "motion/skin.cu";

    /// Largest squared displacement since the list was built.
    pub struct FarthestWayArguments for farthest_way {
        /// Positions.
        pub position: [Input<f64>; 3],
        /// Positions when the list was built, from the first owned row on.
        pub then: [Input<f64>; 3],
        /// The box.
        pub bx: BoxParameters,
        /// The owned rows.
        pub rows: Rows,
        /// The largest square.
        pub largest_square: Output<u64>,
    }

    /// Largest fraction of a radius that displacement and growth have used up.
    pub struct SkinUsedArguments for skin_used {
        /// Positions.
        pub position: [Input<f64>; 3],
        /// Smoothing lengths.
        pub smoothing_length: Input<f64>,
        /// Positions when the list was built, from the first owned row on.
        pub then: [Input<f64>; 3],
        /// Radii when the list was built, without the skin.
        pub reach_then: Input<f64>,
        /// Radius over smoothing length.
        pub factor: f64,
        /// The box.
        pub bx: BoxParameters,
        /// The owned rows.
        pub rows: Rows,
        /// The largest fraction.
        pub used: Output<u64>,
    }

    /// Largest support that the list still covers, by row.
    pub struct SkinLimitsArguments for skin_limits {
        /// Positions.
        pub position: [Input<f64>; 3],
        /// Positions when the list was built, from the first owned row on.
        pub then: [Input<f64>; 3],
        /// Radii when the list was built, without the skin.
        pub reach_then: Input<f64>,
        /// The skin as a fraction of the radius.
        pub skin: f64,
        /// The box.
        pub bx: BoxParameters,
        /// The owned rows.
        pub rows: Rows,
        /// The limits.
        pub limit: Output<f64>,
    }
}
