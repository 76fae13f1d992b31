//! Single values of columns on a device, whatever they mean.

use super::reduction::{PIECE, THREADS, bounds, first_row, over_rows};
use super::{Buffer, Device, Unit};
use crate::Result;
use std::ops::Range;

/// The first row of each column with a value that is not finite.
///
/// # Errors
/// Those of the device.
pub fn first_not_finite(
    device: &Device,
    columns: &[&Buffer<f64>],
    rows: Range<usize>,
) -> Result<Vec<Option<usize>>> {
    let count = columns.len();
    let addresses: Vec<u64> = columns.iter().map(|column| column.at(0)).collect();
    let addresses = Buffer::from_host(device, &addresses)?;
    let found = Buffer::<u32>::zeros(device, count)?;
    let ([begin, end], columns) = (bounds(&rows), count as u32);
    let kernel = device.kernel(&Unit::new("motion/finite.cu"), "find_not_finite")?;
    let blocks = rows.len().div_ceil(PIECE) * count;
    device.launch(&kernel, blocks, THREADS, &[&addresses, &columns, &begin, &end, &found])?;
    Ok(found.download()?.into_iter().map(|word| first_row(u64::from(word))).collect())
}

/// One value in some rows of a column.
///
/// # Errors
/// Those of the device.
pub fn fill(device: &Device, column: &Buffer<f64>, value: f64, rows: Range<usize>) -> Result<()> {
    let [begin, end] = bounds(&rows);
    over_rows(device, "sph/state.cu", "fill_column", &rows, &[column, &value, &begin, &end])
}

/// Replace what is not finite in a column.
///
/// # Errors
/// Those of the device.
pub fn mend(device: &Device, column: &Buffer<f64>, guess: f64, rows: Range<usize>) -> Result<()> {
    let [begin, end] = bounds(&rows);
    over_rows(device, "motion/finite.cu", "mend_column", &rows, &[column, &guess, &begin, &end])
}
