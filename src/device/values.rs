//! Operations on single columns of a device.

use super::arguments::Input;
use super::arguments::finite::{FindNotFiniteArguments, MendColumnArguments};
use super::arguments::state::FillColumnArguments;
use super::reduction::{ROWS_PER_BLOCK, THREADS, first_row, over_rows};
use super::{Buffer, Device};
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
    let arguments = FindNotFiniteArguments {
        columns: Input::cast(&addresses),
        count: count as u32,
        rows: (&rows).into(),
        first_not_finite: (&found).into(),
    };
    device.run(rows.len().div_ceil(ROWS_PER_BLOCK) * count, THREADS, &arguments)?;
    Ok(found.download()?.into_iter().map(|word| first_row(u64::from(word))).collect())
}

/// Fills rows of a column with one value.
///
/// # Errors
/// Those of the device.
pub fn fill(device: &Device, column: &Buffer<f64>, value: f64, rows: Range<usize>) -> Result<()> {
    let arguments = FillColumnArguments { column: column.into(), value, rows: (&rows).into() };
    over_rows(device, &rows, &arguments)
}

/// Replaces values that are not finite.
///
/// # Errors
/// Those of the device.
pub fn mend(device: &Device, column: &Buffer<f64>, guess: f64, rows: Range<usize>) -> Result<()> {
    let arguments = MendColumnArguments { column: column.into(), guess, rows: (&rows).into() };
    over_rows(device, &rows, &arguments)
}
