//! Arguments of kernels/motion/time_step.cu.

use super::{Input, Output, Rows};

kernel_arguments! {
    unit "motion/time_step.cu";

    /// Minima of the criteria of the time step.
    pub struct TimeStepArguments for time_step_criteria {
        /// Accelerations.
        pub acceleration: [Input<f64>; 3],
        /// Smoothing lengths, or null.
        pub length: Input<f64>,
        /// Signal speeds, or null.
        pub signal: Input<f64>,
        /// Speeds of sound, or null.
        pub sound: Input<f64>,
        /// Velocity divergences, or null.
        pub divergence: Input<f64>,
        /// Internal energies; null without gas.
        pub energy: Input<f64>,
        /// Rates of the internal energies, or null.
        pub rate: Input<f64>,
        /// Factor of the Courant criterion.
        pub courant_factor: f64,
        /// Factor of the acceleration criterion.
        pub acceleration_factor: f64,
        /// Factor of the expansion criterion.
        pub expansion_factor: f64,
        /// Factor of the energy criterion.
        pub energy_factor: f64,
        /// Softening length, for particles without smoothing length.
        pub softening: f64,
        /// The owned rows.
        pub rows: Rows,
        /// The minima: Courant, acceleration, expansion, energy.
        pub least: Output<u64>,
    }
}
