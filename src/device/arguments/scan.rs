//! Arguments of kernels/order/scan.cu.

use super::{Input, Output};

kernel_arguments! {
    unit "order/scan.cu";

    /// Exclusive prefix sums.
    pub struct SumCountsArguments for sum_counts {
        /// The counts.
        pub counts: Input<u32>,
        /// Number of counts.
        pub count: u32,
        /// The sums, then the total.
        pub sums: Output<u64>,
        /// Published sums of tiles, initially 0.
        pub published: Output<u64>,
        /// Number of tiles taken, initially 0.
        pub tiles_taken: Output<u32>,
    }

    /// The marked rows.
    pub struct FindMarkedArguments for find_marked {
        /// Marks.
        pub marks: Input<u8>,
        /// Number of rows.
        pub rows: u32,
        /// The rows whose mark is not 0.
        pub rows_of_marks: Output<u32>,
        /// Their number.
        pub found: Output<u32>,
        /// Published sums of tiles, initially 0.
        pub published: Output<u64>,
        /// Number of tiles taken, initially 0.
        pub tiles_taken: Output<u32>,
    }
}
