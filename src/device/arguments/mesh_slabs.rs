//! Arguments of kernels/mesh/slabs.cu.

use super::twin::Real;
use super::{Input, Output, Rows};

kernel_arguments! {
    unit "mesh/slabs.cu";

    /// Addition of planes from other ranks.
    pub struct AddPlanesArguments for add_planes {
        /// The own planes.
        pub planes: Output<Real>,
        /// The received planes.
        pub received: Input<Real>,
        /// First source of each own plane in `sources`, then the number of sources.
        pub starts: Input<u32>,
        /// Numbers of the received planes that an own plane gets, in the order of ranks.
        pub sources: Input<u32>,
        /// Number of own planes.
        pub count: u32,
        /// Values of a plane.
        pub values: u32,
    }

    /// Waves of a rank between the transforms of planes and of lines.
    pub struct WaveBlocks {
        /// Waves of the own planes: all ky and kz of each x. Real and imaginary part.
        pub planes: Output<Real>,
        /// The same by the rank that transforms their lines, without the own part: its ky and all kz of each
        /// own x.
        pub blocks: Output<Real>,
        /// Waves of the own lines: all x, the own ky, all kz.
        pub lines: Output<Real>,
        /// For each ky two numbers: the first ky of the rank that transforms its lines, and their number.
        pub owners: Input<u32>,
        /// The own planes.
        pub x: Rows,
        /// The ky of the own lines.
        pub y: Rows,
        /// Number of ky.
        pub rows: u32,
        /// Number of kz.
        pub waves: u32,
    }

    /// Sorts waves of planes by the ranks that transform their lines.
    pub struct PackWavesArguments for pack_waves {
        /// The waves.
        pub waves: WaveBlocks,
    }

    /// The reverse.
    pub struct UnpackWavesArguments for unpack_waves {
        /// The waves.
        pub waves: WaveBlocks,
    }
}
