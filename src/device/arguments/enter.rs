//! Arguments of kernels/motion/enter.cu.

use super::{BoxParameters, Output, Rows};

kernel_arguments! {
    unit "motion/enter.cu";

    /// Wrapping of positions into the box.
    pub struct EnterBoxArguments for enter_box {
        /// Positions.
        pub position: [Output<f64>; 3],
        /// Counts of crossed periods, or null.
        pub image: [Output<f64>; 3],
        /// The box.
        pub bx: BoxParameters,
        /// The owned rows.
        pub rows: Rows,
        /// Minimum and maximum coordinate of each dimension.
        pub extent: Output<u64>,
        /// For each dimension the first row whose coordinate is not finite or too large.
        pub first_nowhere: Output<u32>,
    }
}
