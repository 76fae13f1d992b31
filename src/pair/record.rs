//! Record of a particle in a pass of a law (see [`crate::simd::records`]).

use super::law::{Columns, PairLaw};
pub use crate::simd::records::{PARTICLES, QUAD, QUADS, stride};

/// Number of values in front of the inputs: x, y, z relative to the center of the super-cluster.
pub const OFFSETS: usize = 3;

/// Quads per record: offsets, then the prepared inputs of the law.
pub const fn quads<L: PairLaw>() -> usize {
    let quads = (OFFSETS + L::Prepared::<f64>::COUNT).div_ceil(QUAD);
    assert!(quads <= QUADS, "the law has too many pair inputs");
    quads
}
