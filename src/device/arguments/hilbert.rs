//! Arguments of kernels/space/hilbert.cu.

use super::{Input, Output};

kernel_arguments! {
    unit "space/hilbert.cu";

    /// Hilbert keys of positions.
    pub struct HilbertKeysArguments for hilbert_keys {
        /// Positions.
        pub position: [Input<f64>; 3],
        /// Lower corner of the box.
        pub lower: [f64; 3],
        /// Cells per length.
        pub scale: [f64; 3],
        /// The keys.
        pub keys: Output<u64>,
        /// Number of rows.
        pub rows: u32,
    }
}
