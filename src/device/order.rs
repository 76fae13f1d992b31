//! Particles of a device in the order of the curve: what [`crate::domain::Domain::sync`] does on one rank.

use super::columns::Columns;
use super::sort::{Gather, Sort};
use super::{Device, motion};
use crate::particles::Field;
use crate::space::{SimulationBox, Vec3d};
use crate::{Error, Result};

/// Brings particles into the box and into order.
#[derive(Debug)]
pub struct Order {
    device: Device,
    sort: Sort,
    gather: Gather,
}

impl Order {
    /// For the particles of a device.
    ///
    /// # Errors
    /// Those of the device.
    pub fn new(device: &Device) -> Result<Self> {
        Ok(Self { device: device.clone(), sort: Sort::new(device)?, gather: Gather::new(device) })
    }

    /// Wrap the particles where space is periodic, fit the box's open faces to them, and sort them by key, equal keys by
    /// identity. Returns the box. All columns keep their particles; nothing changes on an error.
    ///
    /// # Errors
    /// [`Error::State`] with step 0 when a position is no place; those of the device.
    pub fn sync(&mut self, bx: &SimulationBox, columns: &mut Columns) -> Result<SimulationBox> {
        let rows = columns.rows();
        let position = columns.vector(Field::Position);
        let image = columns.has(Field::Image).then(|| columns.vector(Field::Image));
        let entered = motion::enter(&self.device, bx, position, image, 0..rows)?;
        if let Some((axis, row)) = (0..3).find_map(|d| entered.nowhere[d].map(|row| (d, row))) {
            return nowhere(columns, axis, row);
        }
        if rows == 0 {
            return Ok(*bx);
        }
        let corner = |end: usize| Vec3d::from_fn(|d, _| entered.extent[d][end]);
        let fitted = bx.fitted((corner(0), corner(1)));
        let mut key = columns.take_keys()?;
        super::keys::keys(&self.device, &fitted, columns.vector(Field::Position), &mut key)?;
        let moved = self.sort.run(&mut key, Some(&columns.id))?;
        columns.key = key;
        if moved {
            let order = self.sort.rows();
            self.gather.words(order, [&mut columns.id])?;
            self.gather.doubles(order, columns.all_mut())?;
        }
        Ok(fitted)
    }
}

/// The error that names a particle that is at no place.
fn nowhere<T>(columns: &Columns, axis: usize, row: usize) -> Result<T> {
    let (mut id, mut value) = ([0], [0.0]);
    columns.id.download_to(row, &mut id)?;
    columns.component(Field::Position, axis).download_to(row, &mut value)?;
    Err(Error::State {
        step: 0,
        what: format!("particle {} has {} = {}, which is no place", id[0], ["x", "y", "z"][axis], value[0]),
        remedy: "look for a time step that is too long, overlapping particles, or wrong initial positions"
            .into(),
    })
}
