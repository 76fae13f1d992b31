//! Arguments of kernels/motion/verlet.cu.

use super::{DriftReport, Input, MovingColumns, Output, Rows};

kernel_arguments! {
    unit "motion/verlet.cu";

    /// Half kick and drift.
    pub struct VerletKickAndDriftArguments for verlet_kick_and_drift {
        /// Columns of the particles.
        pub moving: MovingColumns,
        /// The time step.
        pub step: f64,
        /// The largest displacement along one axis that is allowed.
        pub farthest: f64,
        /// The owned rows.
        pub rows: Rows,
        /// What the drift reports.
        pub report: DriftReport,
    }

    /// Half kick.
    pub struct VerletKickArguments for verlet_kick {
        /// Velocities.
        pub velocity: [Output<f64>; 3],
        /// Accelerations.
        pub acceleration: [Input<f64>; 3],
        /// The time step, negative to take a kick back.
        pub step: f64,
        /// The owned rows.
        pub rows: Rows,
        /// Bits of rows that the last drift did not move, or null.
        pub left: Input<u32>,
    }

    /// The drift taken back.
    pub struct VerletDriftBackArguments for verlet_drift_back {
        /// Positions.
        pub position: [Output<f64>; 3],
        /// Velocities.
        pub velocity: [Input<f64>; 3],
        /// The time step.
        pub step: f64,
        /// The owned rows.
        pub rows: Rows,
        /// Bits of rows that the last drift did not move, or null.
        pub left: Input<u32>,
    }

    /// Accelerations from forces, and half a kick.
    pub struct AccelerateArguments for accelerate {
        /// Forces.
        pub force: [Input<f64>; 3],
        /// Masses.
        pub mass: Input<f64>,
        /// Accelerations.
        pub acceleration: [Output<f64>; 3],
        /// Velocities.
        pub velocity: [Output<f64>; 3],
        /// The time step, or 0 for accelerations alone.
        pub step: f64,
        /// The owned rows.
        pub rows: Rows,
        /// The first row whose acceleration is not finite.
        pub first_not_finite: Output<u32>,
    }
}
