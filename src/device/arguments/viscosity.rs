//! Arguments of kernels/sph/viscosity.cu.

use super::{Input, Output, Rows};

kernel_arguments! {
    unit "sph/viscosity.cu";

    /// The switch of the artificial viscosity.
    pub struct SwitchViscosityArguments for switch_viscosity {
        /// Smoothing lengths.
        pub smoothing_length: Input<f64>,
        /// Speeds of sound.
        pub sound_speed: Input<f64>,
        /// Velocity divergences.
        pub divergence: Input<f64>,
        /// Magnitudes of the velocity curl.
        pub curl: Input<f64>,
        /// Gradients of the velocity divergence.
        pub divergence_gradient: [Input<f64>; 3],
        /// Viscosity coefficients.
        pub viscosity: Output<f64>,
        /// Minimum coefficient.
        pub minimum: f64,
        /// Maximum coefficient.
        pub maximum: f64,
        /// Decay rate in units of the speed of sound over the smoothing length.
        pub decay: f64,
        /// Not 0: with Balsara's limiter.
        pub limiter: u32,
        /// Time since the last update.
        pub step: f64,
        /// The owned rows.
        pub rows: Rows,
    }
}
