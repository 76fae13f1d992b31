//! Arguments of kernels/motion/finite.cu.

use super::{Input, Output, Rows};

kernel_arguments! {
    unit "motion/finite.cu";

    /// The first row of each column with a value that is not finite.
    pub struct FindNotFiniteArguments for find_not_finite {
        /// The columns.
        pub columns: Input<Input<f64>>,
        /// Number of columns.
        pub count: u32,
        /// The owned rows.
        pub rows: Rows,
        /// The first row of each column.
        pub first_not_finite: Output<u32>,
    }

    /// Replacement of values that are not finite.
    pub struct MendColumnArguments for mend_column {
        /// The column.
        pub column: Output<f64>,
        /// The replacement.
        pub guess: f64,
        /// The owned rows.
        pub rows: Rows,
    }
}
