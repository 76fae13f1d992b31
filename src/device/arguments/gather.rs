//! Arguments of kernels/order/gather.cu.

use super::{Input, Output};

kernel_arguments! {
    unit "order/gather.cu";

    /// Columns of 64 bits in another order.
    pub struct GatherWordsArguments for gather_words {
        /// Columns to read; unused ones at the end are null.
        pub from: [Input<u64>; 8],
        /// Columns to write.
        pub to: [Output<u64>; 8],
        /// Source row of each row.
        pub rows: Input<u32>,
        /// Number of rows.
        pub count: u32,
    }

    /// A column of 32 bits in another order.
    pub struct GatherHalvesArguments for gather_halves {
        /// The column to read.
        pub from: Input<u32>,
        /// The column to write.
        pub to: Output<u32>,
        /// Source row of each row.
        pub rows: Input<u32>,
        /// Number of rows.
        pub count: u32,
    }

    /// The inverse of an order.
    pub struct InvertOrderArguments for invert_order {
        /// The order.
        pub rows: Input<u32>,
        /// Its inverse.
        pub places: Output<u32>,
        /// Number of rows.
        pub count: u32,
    }
}
