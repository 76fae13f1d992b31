//! The list of neighbors of particles that each reach as far as their own support, on a device:
//! [`crate::neighbors::Neighborhood`] of a gas.

use super::columns::Columns;
use super::hierarchy::{Hierarchy, Radii};
use super::list::{ListBuilder, Records, Search};
use super::order::Order;
use super::reduction::{bounds, over_rows};
use super::skin::Skin;
use super::{Argument, Buffer, Device};
use crate::Result;
use crate::neighbors::ROOM_TO_GROW;
use crate::particles::Field;
use crate::space::SimulationBox;

/// A full list with what is needed to know how long it holds.
#[derive(Debug)]
pub struct Supports {
    device: Device,
    order: Order,
    hierarchy: Hierarchy,
    builder: ListBuilder,
    /// The list.
    pub records: Records,
    radius: Buffer<f64>,
    /// Of a list that is used again, by row.
    limits: Option<Buffer<f64>>,
    skin: Skin,
    builds: u64,
}

impl Supports {
    /// No list yet; lists will be wider by this fraction of the supports.
    ///
    /// # Errors
    /// Those of the device.
    pub fn new(device: &Device, skin: f64) -> Result<Self> {
        Ok(Self {
            device: device.clone(),
            order: Order::new(device)?,
            hierarchy: Hierarchy::new(device)?,
            builder: ListBuilder::new(device)?,
            records: Records::new(device)?,
            radius: Buffer::new(device, 0)?,
            limits: None,
            skin: Skin::new(device, skin)?,
            builds: 0,
        })
    }

    /// Lists built so far.
    pub fn builds(&self) -> u64 {
        self.builds
    }

    /// The present list serves no more.
    pub fn invalidate(&mut self) {
        self.skin.forget();
    }

    /// The radii that the list was built with, by row.
    pub fn radius(&self) -> &Buffer<f64> {
        &self.radius
    }

    /// By row the largest support 2h whose pairs the list holds: the radius that a new list was built with; less in a list
    /// whose particles have moved.
    pub fn largest(&self) -> &Buffer<f64> {
        self.limits.as_ref().unwrap_or(&self.radius)
    }

    /// The largest smoothing length that a particle may have: a list of it still fits a periodic box, and an open box is not
    /// larger than its support.
    pub fn largest_smoothing_length(&self, bx: &SimulationBox) -> f64 {
        let wide = 4.0 * ROOM_TO_GROW * (1.0 + self.skin.fraction());
        (bx.periods().min() / wide * (1.0 - 1e-9)).min(bx.lengths().max())
    }

    /// Whether the list holds every pair within the supports and their room to grow, of the particles where they are now.
    ///
    /// # Errors
    /// Those of the device.
    pub fn serve(&mut self, bx: &SimulationBox, columns: &Columns) -> Result<bool> {
        // without a skin a list serves for one step, and the question need not be asked
        if self.serves_once() {
            return Ok(false);
        }
        let (position, rows) = (columns.vector(Field::Position), 0..columns.rows());
        let length = columns.scalar(Field::SmoothingLength);
        let used = self.skin.used(bx, position, Some(length), rows.clone())?;
        if used > self.skin.fraction() {
            return Ok(false);
        }
        let mut limits = match self.limits.take() {
            Some(limits) => limits,
            None => Buffer::new(&self.device, 0)?,
        };
        limits.resize(rows.len())?;
        self.skin.limits(bx, position, &limits)?;
        self.limits = Some(limits);
        Ok(true)
    }

    /// Whether nobody will ask for the list's radii again when the smoothing lengths are found.
    pub fn serves_once(&self) -> bool {
        self.skin.fraction() == 0.0
    }

    /// Gives back the memory that was needed to bring particles into order: 49 bytes a row.
    ///
    /// # Errors
    /// Those of the device.
    pub fn release(&mut self) -> Result<()> {
        self.order = Order::new(&self.device)?;
        Ok(())
    }

    /// Brings particles into the box and into order. Returns the box.
    ///
    /// # Errors
    /// [`crate::Error::State`] with step 0 for a position that is no place; those of the device.
    pub fn order(&mut self, bx: &SimulationBox, columns: &mut Columns) -> Result<SimulationBox> {
        self.order.sync(bx, columns)
    }

    /// Builds the list of the rows as they are now.
    ///
    /// # Errors
    /// [`crate::Error::State`] with step 0 for a periodic box too small for the radii; those of the device.
    pub fn build(&mut self, bx: &SimulationBox, columns: &Columns) -> Result<()> {
        let rows = columns.rows();
        let (position, length) = (columns.vector(Field::Position), columns.scalar(Field::SmoothingLength));
        self.limits = None;
        self.radius.resize(rows)?;
        let (factor, [begin, end]) = (2.0 * ROOM_TO_GROW * (1.0 + self.skin.fraction()), bounds(&(0..rows)));
        let arguments: [&dyn Argument; 5] = [length, &factor, &self.radius, &begin, &end];
        over_rows(&self.device, "sph/state.cu", "scaled_column", &(0..rows), &arguments)?;
        let (unit, reach) = self.hierarchy.unit_of(Radii::Each(&self.radius), None, rows)?;
        bx.check_reach(reach)?;
        self.hierarchy.build(position, Radii::Each(&self.radius), None, rows, unit)?;
        let search = Search {
            rows,
            owned: 0..rows,
            symmetric: false,
            position,
            radius: &self.radius,
            id: &columns.id,
            center: self.hierarchy.center(),
            extent: self.hierarchy.extent(),
            unit,
            period: [0, 1, 2].map(|d| bx.periods()[d]),
        };
        self.builder.build(&search, &mut self.records)?;
        if self.skin.fraction() > 0.0 {
            self.skin.remember_each(position, 0..rows, length, 2.0 * ROOM_TO_GROW)?;
        }
        self.builds += 1;
        Ok(())
    }
}
