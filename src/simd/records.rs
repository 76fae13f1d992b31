//! Particle records: all inputs of a particle for a pass, contiguous, so that a gather touches few cache
//! lines.

/// Values per quad, the unit of a gather.
pub const QUAD: usize = 4;

/// Maximum number of quads in a record.
pub const QUADS: usize = 8;

/// Unit of record offsets in bytes: 16 bits then address every record, and the processor scales an index by 8
/// for free.
pub(crate) const UNIT: usize = 8;

/// Values in the array of all records, single precision.
pub const SINGLE: usize = (1 << u16::BITS) * (UNIT / size_of::<f32>()) + QUADS * QUAD;

/// Values in the array of all records, double precision.
pub const DOUBLE: usize = (1 << u16::BITS) * (UNIT / size_of::<f64>()) + QUADS * QUAD;

/// Records of up to [`PARTICLES`] particles. Every 16-bit offset lies within the array, so gathers need no
/// bounds check.
#[repr(align(64))]
pub struct Records<A> {
    /// The values, record by record, quad by quad.
    pub values: A,
}

/// Number of particles whose records fit.
pub const PARTICLES: usize = (1 << u16::BITS) * UNIT / (QUADS * QUAD * size_of::<f64>());

/// Distance of consecutive records of `quads` quads, in units of `UNIT` bytes.
pub const fn stride<T>(quads: usize) -> u16 {
    (quads * QUAD * size_of::<T>() / UNIT) as u16
}
