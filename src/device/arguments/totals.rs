//! Arguments of kernels/observe/totals.cu.

use super::{Input, Output, Rows};

kernel_arguments! {
    unit "observe/totals.cu";

    /// Sums and extremes over all particles. Columns that particles do not have are null.
    pub struct TotalsArguments for observe_totals {
        /// Positions.
        pub position: [Input<f64>; 3],
        /// Velocities.
        pub velocity: [Input<f64>; 3],
        /// Masses.
        pub mass: Input<f64>,
        /// Internal energies, or null.
        pub energy: Input<f64>,
        /// Gravitational potentials, or null.
        pub potential: Input<f64>,
        /// Pair energies, or null.
        pub pair_energy: Input<f64>,
        /// Virials, or null.
        pub virial: Input<f64>,
        /// Densities, or null.
        pub density: Input<f64>,
        /// Smoothing lengths, or null.
        pub smoothing_length: Input<f64>,
        /// The owned rows.
        pub rows: Rows,
        /// Fourteen columns with one value per block.
        pub partial: Output<f64>,
        /// Maximum density and minimum smoothing length.
        pub extremes: Output<u64>,
    }
}
