//! Hilbert keys on a device.

use super::{Buffer, Device, Unit};
use crate::Result;
use crate::space::SimulationBox;
use crate::space::hilbert::LEVELS;

/// Threads of a block, and blocks of a multiprocessor: as many as fill it, since each makes a table first.
const THREADS: u32 = 512;
const BLOCKS: usize = 2;

/// The keys of positions, bit for bit those of [`crate::space::hilbert::keys`]: the first `keys.len()` rows of the
/// columns.
///
/// # Errors
/// Those of the device.
pub fn keys(
    device: &Device,
    bx: &SimulationBox,
    position: [&Buffer<f64>; 3],
    keys: &mut Buffer<u64>,
) -> Result<()> {
    let rows = keys.len();
    assert!(position.iter().all(|column| column.len() >= rows), "a position for every key");
    let kernel = device.kernel(&Unit::new("space/hilbert.cu"), "hilbert_keys")?;
    let scale = bx.lengths().map(|length| f64::from(1u32 << LEVELS) / length);
    let ([x, y, z], lower) = (position, bx.lower);
    let blocks = rows.div_ceil(2 * THREADS as usize).min(device.multiprocessors() as usize * BLOCKS);
    let count = super::sort::rows_of_32_bits(rows)?;
    device.launch(
        &kernel,
        blocks,
        THREADS,
        &[x, y, z, &lower.x, &lower.y, &lower.z, &scale.x, &scale.y, &scale.z, &*keys, &count],
    )
}
