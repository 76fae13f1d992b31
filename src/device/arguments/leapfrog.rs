//! Arguments of kernels/motion/leapfrog.cu.

use super::{Input, MovingColumns, Output, Rows};

kernel_arguments! {
    unit "motion/leapfrog.cu";

    /// First half of a step.
    pub struct LeapfrogKickAndDriftArguments for leapfrog_kick_and_drift {
        /// Columns of the particles.
        pub moving: MovingColumns,
        /// Internal energies.
        pub energy: Output<f64>,
        /// Rates of the internal energies.
        pub rate: Output<f64>,
        /// Smoothing lengths.
        pub length: Output<f64>,
        /// Velocity divergences.
        pub divergence: Input<f64>,
        /// The time step.
        pub step: f64,
        /// The owned rows.
        pub rows: Rows,
    }

    /// Second half of a step.
    pub struct LeapfrogKickArguments for leapfrog_kick {
        /// Velocities.
        pub velocity: [Output<f64>; 3],
        /// Accelerations at the end of the step.
        pub acceleration: [Input<f64>; 3],
        /// Accelerations at the start of the step.
        pub old_acceleration: [Input<f64>; 3],
        /// Internal energies.
        pub energy: Output<f64>,
        /// Energy rates at the end of the step.
        pub rate: Input<f64>,
        /// Energy rates at the start of the step.
        pub old_rate: Input<f64>,
        /// The time step.
        pub step: f64,
        /// The owned rows.
        pub rows: Rows,
    }

    /// Count of the rows whose step cannot be reverted.
    pub struct LeapfrogLostArguments for leapfrog_lost {
        /// Velocities.
        pub velocity: [Input<f64>; 3],
        /// Accelerations.
        pub acceleration: [Input<f64>; 3],
        /// Internal energies.
        pub energy: Input<f64>,
        /// Rates of the internal energies.
        pub rate: Input<f64>,
        /// The time step.
        pub step: f64,
        /// The unit of displacements: about the interaction radius.
        pub reach: f64,
        /// The owned rows.
        pub rows: Rows,
        /// The count.
        pub lost: Output<u32>,
    }

    /// Reversal of the first half of a step.
    pub struct LeapfrogUndoArguments for leapfrog_undo {
        /// Positions.
        pub position: [Output<f64>; 3],
        /// Velocities.
        pub velocity: [Output<f64>; 3],
        /// Accelerations at the start of the step.
        pub old_acceleration: [Input<f64>; 3],
        /// Internal energies.
        pub energy: Output<f64>,
        /// Energy rates at the start of the step.
        pub old_rate: Input<f64>,
        /// The time step.
        pub step: f64,
        /// The owned rows.
        pub rows: Rows,
    }
}
