//! Arguments of kernels/sph/smoothing.cu.

use super::{Input, Output, Rows};

kernel_arguments! {
    unit "sph/smoothing.cu";

    /// One step of the search for smoothing lengths.
    pub struct SearchSmoothingArguments for search_smoothing_lengths {
        /// Smoothing lengths.
        pub smoothing_length: Output<f64>,
        /// Number densities.
        pub number_density: Input<f64>,
        /// Their derivatives by the logarithm of the smoothing length.
        pub number_density_slope: Input<f64>,
        /// Masses.
        pub mass: Input<f64>,
        /// Densities.
        pub density: Output<f64>,
        /// Largest support that the list covers, by row.
        pub support: Input<f64>,
        /// Lower ends of the brackets.
        pub lower: Output<f64>,
        /// Upper ends of the brackets.
        pub upper: Output<f64>,
        /// Not 0 while a row searches.
        pub active: Output<u8>,
        /// Not 0 for rows whose support outgrew the list.
        pub outgrown: Output<u8>,
        /// Target of the product of number density and cubed smoothing length.
        pub target: f64,
        /// Relative tolerance of the number of neighbors.
        pub tolerance: f64,
        /// The largest smoothing length allowed.
        pub largest: f64,
        /// The owned rows.
        pub rows: Rows,
        /// Counts of rows: outgrown, with too few neighbors, still searching.
        pub counters: Output<u32>,
    }

    /// Start of the searches.
    pub struct RestartSearchesArguments for restart_searches {
        /// Lower ends of the brackets.
        pub lower: Output<f64>,
        /// Upper ends of the brackets.
        pub upper: Output<f64>,
        /// Not 0 while a row searches.
        pub active: Output<u8>,
        /// Not 0 for rows whose support outgrew the list.
        pub outgrown: Output<u8>,
        /// The largest smoothing length allowed.
        pub largest: f64,
        /// Not 0: all rows search; 0: those that outgrew the list.
        pub all: u32,
        /// The owned rows.
        pub rows: Rows,
    }
}
