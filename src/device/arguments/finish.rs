//! Arguments of kernels/pair/finish.cu.

use super::twin::SumReal;
use super::{Input, MOST_COLUMNS, Output};

kernel_arguments! {
    unit "pair/finish.cu";

    /// A law's outputs from the sums of a sweep.
    pub struct FinishArguments for finish {
        /// The first row.
        pub begin: u64,
        /// One past the last row.
        pub end: u64,
        /// Identities, or null without ghosts.
        pub id: Input<u64>,
        /// Not 0 for rows whose outputs are wanted, or null for all rows.
        pub active: Input<u8>,
        /// The law's input columns, then null.
        pub inputs: [Input<f64>; MOST_COLUMNS],
        /// Sums of rows.
        pub sums: Input<SumReal>,
        /// The law's output columns, then null.
        pub outputs: [Output<f64>; MOST_COLUMNS],
        /// Number of output columns.
        pub output_count: i32,
    }
}
