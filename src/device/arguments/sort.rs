//! Arguments of kernels/order/sort.cu.

use super::{Input, Output};

kernel_arguments! {
    unit "order/sort.cu";

    /// Histograms of all digits.
    pub struct RadixHistogramsArguments for radix_histograms {
        /// Keys.
        pub keys: Input<u64>,
        /// Number of keys.
        pub count: u32,
        /// Lowest bit of the lowest digit.
        pub first_shift: u32,
        /// Number of digits.
        pub digits: u32,
        /// Histograms, initially 0.
        pub histograms: Output<u32>,
        /// Number of keys below their predecessor, initially 0.
        pub descents: Output<u32>,
    }

    /// Prefix sums of the histograms.
    pub struct RadixBasesArguments for radix_bases {
        /// Histograms, then offsets.
        pub histograms: Output<u32>,
        /// 1 for digits with a single value.
        pub trivial: Output<u32>,
        /// Number of keys.
        pub count: u32,
    }

    /// One pass of a radix sort over pairs of key and row.
    pub struct RadixPass {
        /// Keys to read.
        pub keys_from: Input<u64>,
        /// Rows to read; unused by the first pass, whose rows are 0, 1, 2, ...
        pub rows_from: Input<u32>,
        /// Keys to write.
        pub keys_to: Output<u64>,
        /// Rows to write.
        pub rows_to: Output<u32>,
        /// Offsets of the digit's values.
        pub base: Input<u32>,
        /// Published counts of tiles, initially 0.
        pub published: Output<u32>,
        /// Published counts of the next pass, which this pass clears.
        pub next_published: Output<u32>,
        /// Number of tiles taken, initially 0.
        pub tiles_taken: Output<u32>,
        /// Number of pairs.
        pub count: u32,
        /// Lowest bit of the digit.
        pub shift: u32,
    }

    /// A pass over rows in order.
    pub struct RadixPassFirstArguments for radix_pass_first {
        /// The pass.
        pub pass: RadixPass,
    }

    /// A later pass.
    pub struct RadixPassNextArguments for radix_pass_next {
        /// The pass.
        pub pass: RadixPass,
    }

    /// The rows 0, 1, 2, ...
    pub struct RowsInOrderArguments for rows_in_order {
        /// The rows.
        pub rows: Output<u32>,
        /// Number of rows.
        pub count: u32,
    }

    /// Runs of keys that agree in their upper bits, sorted in place.
    pub struct SortRunsArguments for sort_runs {
        /// Keys.
        pub keys: Output<u64>,
        /// Rows of the keys.
        pub rows: Output<u32>,
        /// Identities of rows, or null.
        pub id: Input<u64>,
        /// Number of keys.
        pub count: u32,
        /// Keys of a run agree from this bit on.
        pub shift: u32,
        /// Number of runs that are too long.
        pub too_long: Output<u32>,
        /// 1 if any pair moved.
        pub moved: Output<u32>,
    }
}
