//! Records: what a pass needs of a particle in one piece, so that few lines of the cache are read for a particle that is
//! met alone.

use super::law::{Columns, PairLaw};

/// Values that are read together.
pub const QUAD: usize = 4;

/// Quads in a record, at most.
pub const QUADS: usize = 8;

/// Bytes of the unit that begins of records are counted in: sixteen bits tell them apart, and processors multiply an address
/// by it for nothing.
const UNIT: usize = 8;

/// Values of records in single precision.
pub const SINGLE: usize = (1 << u16::BITS) * (UNIT / size_of::<f32>()) + QUADS * QUAD;

/// Values of records in double precision.
pub const DOUBLE: usize = (1 << u16::BITS) * (UNIT / size_of::<f64>()) + QUADS * QUAD;

/// Particles whose records there is room for.
pub const PARTICLES: usize = (1 << u16::BITS) * UNIT / (QUADS * QUAD * size_of::<f64>());

/// Records of up to [`PARTICLES`] particles. Any sixteen bits name the begin of a record that is within the array, so that no
/// read has to be checked.
#[repr(align(64))]
pub struct Records<A> {
    /// Quad by quad.
    pub values: A,
}

/// The first values of a record: x, y, z from the centre of a super-cluster.
pub const OFFSETS: usize = 3;

/// Quads in the record of a particle: its offsets, then what pairs of the law need.
pub const fn quads<L: PairLaw>() -> usize {
    let quads = (OFFSETS + L::Prepared::<f64>::COUNT).div_ceil(QUAD);
    assert!(quads <= QUADS, "pairs of the law need too much");
    quads
}

/// Units from the begin of one record to that of the next.
pub const fn stride<T>(quads: usize) -> u16 {
    (quads * QUAD * size_of::<T>() / UNIT) as u16
}
