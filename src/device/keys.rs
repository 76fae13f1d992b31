//! Hilbert keys on a device.

use super::arguments::Input;
use super::arguments::hilbert::HilbertKeysArguments;
use super::{Buffer, Device};
use crate::Result;
use crate::space::SimulationBox;
use crate::space::hilbert::LEVELS;

/// Threads a block and blocks a multiprocessor: no more than fill it, since each block builds a lookup table
/// first.
const THREADS: u32 = 512;
const BLOCKS: usize = 2;

/// Computes the Hilbert keys of positions, with the bits of [`crate::space::hilbert::keys`]: the first
/// `keys.len()` rows of the columns.
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
    let scale = bx.lengths().map(|length| f64::from(1u32 << LEVELS) / length);
    let blocks = rows.div_ceil(2 * THREADS as usize).min(device.multiprocessors() as usize * BLOCKS);
    let arguments = HilbertKeysArguments {
        position: position.map(Input::from),
        lower: bx.lower.into(),
        scale: scale.into(),
        keys: keys.into(),
        rows: super::sort::rows_of_32_bits(rows)?,
    };
    device.run(blocks, THREADS, &arguments)
}
