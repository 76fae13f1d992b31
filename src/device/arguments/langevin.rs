//! Arguments of kernels/motion/langevin.cu.

use super::{DriftReport, Input, MovingColumns, Output, Rows};

kernel_arguments! {
    unit "motion/langevin.cu";

    /// The Langevin bath of one step.
    pub struct LangevinBath {
        /// Factor by which velocities decay in a step.
        pub decay: f64,
        /// Variance of the noise times the particle's mass.
        pub noise: f64,
        /// Seed of the random numbers.
        pub seed: u64,
        /// Number of the step.
        pub number: u64,
    }

    /// Half kick, half drift, friction and noise, half drift.
    pub struct LangevinKickAndDriftArguments for langevin_kick_and_drift {
        /// Columns of the particles.
        pub moving: MovingColumns,
        /// Masses.
        pub mass: Input<f64>,
        /// Identities.
        pub id: Input<u64>,
        /// The time step.
        pub step: f64,
        /// Largest allowed displacement along an axis.
        pub farthest: f64,
        /// The bath.
        pub bath: LangevinBath,
        /// The owned rows.
        pub rows: Rows,
        /// Outcome of the drift.
        pub report: DriftReport,
        /// Heat of each block.
        pub heat: Output<f64>,
    }

    /// Reversal of drift, friction and noise.
    pub struct LangevinDriftBackArguments for langevin_drift_back {
        /// Positions.
        pub position: [Output<f64>; 3],
        /// Velocities.
        pub velocity: [Output<f64>; 3],
        /// Masses.
        pub mass: Input<f64>,
        /// Identities.
        pub id: Input<u64>,
        /// The time step.
        pub step: f64,
        /// The bath.
        pub bath: LangevinBath,
        /// The owned rows.
        pub rows: Rows,
        /// Bits of the rows that the last drift left unchanged, or null.
        pub left: Input<u32>,
    }
}
