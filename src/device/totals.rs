//! Observables of the particles on a device: the sums of [`crate::observe`].

use super::arguments::Input;
use super::arguments::totals::TotalsArguments;
use super::columns::Columns;
use super::reduction::{Findings, ROWS_PER_BLOCK, Sums, largest, over_blocks, smallest};
use crate::Result;
use crate::observe::{SUMS, Totals};
use crate::particles::Field;

/// The totals of the owned rows, reproducible bit for bit. Missing columns count as zeros.
///
/// # Errors
/// Those of the device.
pub fn totals(columns: &Columns) -> Result<Totals> {
    let (device, rows) = (columns.device(), columns.owned());
    let (findings, mut sums) = (Findings::new(device, 2)?, Sums::new(device)?);
    let optional = |field| Input::from(columns.has(field).then(|| columns.scalar(field)));
    let arguments = TotalsArguments {
        position: columns.vector(Field::Position).map(Input::from),
        velocity: columns.vector(Field::Velocity).map(Input::from),
        mass: columns.scalar(Field::Mass).into(),
        energy: optional(Field::InternalEnergy),
        potential: optional(Field::Potential),
        pair_energy: optional(Field::PairEnergy),
        virial: optional(Field::Virial),
        density: optional(Field::Density),
        smoothing_length: optional(Field::SmoothingLength),
        rows: (&rows).into(),
        partial: sums.room(SUMS, rows.len().div_ceil(ROWS_PER_BLOCK))?.into(),
        extremes: findings.word(0),
    };
    over_blocks(device, &rows, &arguments)?;
    let (found, sums) = (findings.read()?, sums.finish()?);
    Ok(Totals {
        sums: std::array::from_fn(|k| sums[k]),
        maximum_density: largest(found[0]).unwrap_or(0.0),
        minimum_smoothing_length: smallest(found[1]),
        particles: rows.len() as u64,
    })
}
