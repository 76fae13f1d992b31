//! What is observed of all particles of a device: the sums of [`crate::observe`].

use super::columns::Columns;
use super::reduction::{Findings, PIECE, Sums, bounds, largest, over_pieces, smallest};
use super::{Argument, Buffer, Device};
use crate::Result;
use crate::particles::Field;

/// Number of sums.
const SUMS: usize = 14;

/// Sums and extremes over all rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Totals {
    /// Mass; kinetic, thermal and potential energy; momentum (3), angular momentum about the origin (3), sum of m r (3);
    /// virial: in the order of the sums of [`crate::observe`].
    pub sums: [f64; SUMS],
    /// Greatest density; zero without densities.
    pub maximum_density: f64,
    /// Least smoothing length; infinite without smoothing lengths.
    pub minimum_smoothing_length: f64,
}

/// The totals of all rows: the same bits in every run. Columns that are not there count as zeros.
///
/// # Errors
/// Those of the device.
pub fn totals(device: &Device, columns: &Columns) -> Result<Totals> {
    let rows = 0..columns.rows();
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
    over_pieces(device, "observe/totals.cu", "observe_totals", &rows, &arguments)?;
    let (found, sums) = (findings.read()?, sums.finish()?);
    Ok(Totals {
        sums: std::array::from_fn(|k| sums[k]),
        maximum_density: largest(found[0]).unwrap_or(0.0),
        minimum_smoothing_length: smallest(found[1]),
    })
}
