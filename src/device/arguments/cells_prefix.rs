//! Arguments of kernels/cells/prefix.cu.

use super::{Input, Output};

kernel_arguments! {
    unit "cells/prefix.cu";

    /// Prefix sums in shared memory, in place.
    pub struct PrefixInPlaceArguments for prefix_in_place {
        /// The numbers of all blocks.
        pub numbers: Input<u32>,
        /// Numbers of a block.
        pub count: u32,
        /// Times that the sums are taken, each of the last ones.
        pub repeats: u32,
        /// The inclusive prefix sums of all blocks.
        pub sums: Output<u32>,
        /// Initially 0: barriers of a block, and updates of all blocks. Only of units that count.
        pub counted: Output<u32>,
    }

    /// Prefix sums in shared memory, by warps.
    pub struct PrefixByWarpsArguments for prefix_by_warps {
        /// The numbers of all blocks.
        pub numbers: Input<u32>,
        /// Numbers of a block.
        pub count: u32,
        /// Times that the sums are taken, each of the last ones.
        pub repeats: u32,
        /// The inclusive prefix sums of all blocks.
        pub sums: Output<u32>,
    }
}
