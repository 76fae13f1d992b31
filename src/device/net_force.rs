//! Net force and torque of gravity on a device: the kernels of [`crate::far::net_force`].

use super::Device;
use super::arguments::net_force::{NetForceArguments, SubtractRigidFieldArguments};
use super::arguments::{Input, Output};
use super::columns::Columns;
use super::reduction::{ROWS_PER_BLOCK, Sums, over_blocks, over_rows};
use crate::Result;
use crate::comm::Communicator;
use crate::far::net_force::{NetForce, RigidField, SUMS};
use crate::particles::Field;
use crate::space::{SimulationBox, Vec3d};

/// Scratch memory of the sums.
#[derive(Debug)]
pub struct NetForces {
    sums: Sums,
}

impl NetForces {
    /// Without memory yet.
    ///
    /// # Errors
    /// Those of the device.
    pub fn new(device: &Device) -> Result<Self> {
        Ok(Self { sums: Sums::new(device)? })
    }

    /// The sums over the owned rows of this rank. Waits for the kernels.
    ///
    /// # Errors
    /// Those of the device.
    pub fn of(&mut self, columns: &Columns, origin: Vec3d) -> Result<NetForce> {
        let rows = columns.owned();
        let arguments = NetForceArguments {
            position: columns.vector(Field::Position).map(Input::from),
            acceleration: columns.vector(Field::Acceleration).map(Input::from),
            mass: columns.scalar(Field::Mass).into(),
            origin: origin.into(),
            rows: (&rows).into(),
            partial: self.sums.room(SUMS, rows.len().div_ceil(ROWS_PER_BLOCK))?.into(),
        };
        over_blocks(columns.device(), &rows, &arguments)?;
        let sums = self.sums.finish()?;
        Ok(NetForce(std::array::from_fn(|k| sums[k])))
    }
}

/// Evaluates gravity by `attract`, which adds to the accelerations, and removes its net force and torque.
/// `alone`: the accelerations are zero before. Collective.
///
/// # Errors
/// Those of `attract` and of the device.
pub fn without_net_force(
    net_forces: &mut NetForces,
    comm: &Communicator,
    columns: &mut Columns,
    bx: &SimulationBox,
    alone: bool,
    attract: impl FnOnce(&mut Columns) -> Result<()>,
) -> Result<()> {
    let origin = bx.center();
    let before = if alone { None } else { Some(net_forces.of(columns, origin)?) };
    attract(columns)?;
    let sums = net_forces.of(columns, origin)?;
    let sums = before.map_or(sums, |before| sums.since(&before)).over_ranks(comm);
    RigidField::in_box(&sums, bx).map_or(Ok(()), |field| subtract(&field, columns))
}

/// Subtracts the field from the accelerations of the owned rows.
///
/// # Errors
/// Those of the device.
pub fn subtract(field: &RigidField, columns: &Columns) -> Result<()> {
    let rows = columns.owned();
    let arguments = SubtractRigidFieldArguments {
        position: columns.vector(Field::Position).map(Input::from),
        acceleration: columns.vector(Field::Acceleration).map(Output::from),
        center: field.center.into(),
        linear: field.linear.into(),
        angular: field.angular.into(),
        rows: (&rows).into(),
    };
    over_rows(columns.device(), &rows, &arguments)
}
