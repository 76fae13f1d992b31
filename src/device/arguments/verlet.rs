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
        /// Largest allowed displacement along an axis.
        pub farthest: f64,
        /// The owned rows.
        pub rows: Rows,
        /// Outcome of the drift.
        pub report: DriftReport,
    }

    /// Half kick.
    pub struct VerletKickArguments for verlet_kick {
        /// Velocities.
        pub velocity: [Output<f64>; 3],
        /// Accelerations.
        pub acceleration: [Input<f64>; 3],
        /// The time step, negative to revert a kick.
        pub step: f64,
        /// The owned rows.
        pub rows: Rows,
        /// Bits of the rows that the last drift left unchanged, or null.
        pub left: Input<u32>,
        /// The first row whose acceleration is not finite, or null.
        pub first_not_finite: Output<u32>,
    }

    /// Reversal of the drift.
    pub struct VerletDriftBackArguments for verlet_drift_back {
        /// Positions.
        pub position: [Output<f64>; 3],
        /// Velocities.
        pub velocity: [Input<f64>; 3],
        /// The time step.
        pub step: f64,
        /// The owned rows.
        pub rows: Rows,
        /// Bits of the rows that the last drift left unchanged, or null.
        pub left: Input<u32>,
    }

    /// Accelerations from forces, and a half kick.
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
        /// Outcome of the drift of this step, empty without one. Without `report.allowed` the displacement
        /// may be `report.most`.
        pub report: DriftReport,
        /// The first row whose acceleration is not finite.
        pub first_not_finite: Output<u32>,
    }
}
