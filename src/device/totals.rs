//! What is observed of the particles of a device: the sums of [`crate::observe`].

use super::columns::Columns;
use super::reduction::{Findings, PIECE, Sums, bounds, largest, map_blocks, smallest};
use super::{Argument, Buffer};
use crate::Result;
use crate::observe::{SUMS, Totals};
use crate::particles::Field;

/// The totals of the owned rows: the same bits in every run. Columns that are not there count as zeros.
///
/// # Errors
/// Those of the device.
pub fn totals(columns: &Columns) -> Result<Totals> {
    let (device, rows) = (columns.device(), columns.owned());
    let (findings, mut sums) = (Findings::new(device, 2)?, Sums::new(device)?);
    let ([x, y, z], [u, v, w]) = (columns.vector(Field::Position), columns.vector(Field::Velocity));
    let optional = |field| -> Option<&Buffer<f64>> { columns.has(field).then(|| columns.scalar(field)) };
    let [energy, potential, pair_energy, virial, density, length] = [
        Field::InternalEnergy,
        Field::Potential,
        Field::PairEnergy,
        Field::Virial,
        Field::Density,
        Field::SmoothingLength,
    ]
    .map(optional);
    let ([begin, end], extremes) = (bounds(&rows), findings.at(0));
    let partial = sums.room(SUMS, rows.len().div_ceil(PIECE))?;
    let arguments: [&dyn Argument; 17] = [
        x,
        y,
        z,
        u,
        v,
        w,
        columns.scalar(Field::Mass),
        &energy,
        &potential,
        &pair_energy,
        &virial,
        &density,
        &length,
        &begin,
        &end,
        partial,
        &extremes,
    ];
    map_blocks(device, "observe/totals.cu", "observe_totals", &rows, &arguments)?;
    let (found, sums) = (findings.read()?, sums.finish()?);
    Ok(Totals {
        sums: std::array::from_fn(|k| sums[k]),
        maximum_density: largest(found[0]).unwrap_or(0.0),
        minimum_smoothing_length: smallest(found[1]),
        particles: rows.len() as u64,
    })
}
