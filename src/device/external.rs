//! External accelerations on a device: the kernels of [`crate::far::external`].

use super::arguments::external::{ExternalAccelerationArguments, ExternalEnergyArguments};
use super::arguments::{Input, Output};
use super::columns::Columns;
use super::reduction::{ROWS_PER_BLOCK, Sums, over_blocks, over_rows};
use crate::Result;
use crate::comm::Communicator;
use crate::far::external::ExternalField;
use crate::particles::Field;

/// Adds the field to the accelerations of the owned rows.
///
/// # Errors
/// Those of the device.
pub fn accelerate(field: &ExternalField, columns: &Columns) -> Result<()> {
    let rows = columns.owned();
    let arguments = ExternalAccelerationArguments {
        position: columns.vector(Field::Position).map(Input::from),
        acceleration: columns.vector(Field::Acceleration).map(Output::from),
        field: field.into(),
        rows: (&rows).into(),
    };
    over_rows(columns.device(), &rows, &arguments)
}

/// Sum of m phi over the particles of all ranks, reproducible bit for bit. Collective.
///
/// # Errors
/// Those of the device, on all ranks.
pub fn energy(field: &ExternalField, columns: &Columns, comm: &Communicator) -> Result<f64> {
    let own = own_energy(field, columns);
    let mut energy = [comm.agree_on(own)?];
    comm.all_sum(&mut energy);
    Ok(energy[0])
}

fn own_energy(field: &ExternalField, columns: &Columns) -> Result<f64> {
    let rows = columns.owned();
    let mut sums = Sums::new(columns.device())?;
    let arguments = ExternalEnergyArguments {
        position: columns.vector(Field::Position).map(Input::from),
        mass: columns.scalar(Field::Mass).into(),
        field: field.into(),
        rows: (&rows).into(),
        partial: sums.room(1, rows.len().div_ceil(ROWS_PER_BLOCK))?.into(),
    };
    over_blocks(columns.device(), &rows, &arguments)?;
    Ok(sums.finish()?[0])
}
