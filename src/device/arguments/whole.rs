//! Arguments of kernels/motion/whole.cu.

use super::{Input, Output, Rows};

kernel_arguments! {
    unit "motion/whole.cu";

    /// Sums over blocks.
    pub struct FinishSumsArguments for finish_sums {
        /// Columns with one value per block.
        pub partial: Input<f64>,
        /// Number of blocks.
        pub blocks: u32,
        /// The sum of each column.
        pub sums: Output<f64>,
    }

    /// Mass, momentum and kinetic energy.
    pub struct WholeMotionArguments for whole_motion {
        /// Velocities.
        pub velocity: [Input<f64>; 3],
        /// Masses.
        pub mass: Input<f64>,
        /// The owned rows.
        pub rows: Rows,
        /// Five columns with one value per block.
        pub partial: Output<f64>,
    }

    /// Scaling and shift of velocities.
    pub struct ScaleVelocitiesArguments for scale_velocities {
        /// Velocities.
        pub velocity: [Output<f64>; 3],
        /// The factor.
        pub scale: f64,
        /// The shift.
        pub offset: [f64; 3],
        /// The owned rows.
        pub rows: Rows,
    }
}
