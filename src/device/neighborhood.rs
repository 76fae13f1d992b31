//! The list of neighbors of a device's particles that all reach as far as a cutoff, kept for as long as it holds every
//! pair: [`crate::neighbors::Neighborhood`] on a device.

use super::columns::Columns;
use super::hierarchy::{Hierarchy, Radii};
use super::list::{ListBuilder, Records, Search};
use super::order::Order;
use super::skin::Skin;
use super::{Buffer, Device};
use crate::Result;
use crate::neighbors::cluster::power_of_two_below;
use crate::particles::Field;
use crate::space::SimulationBox;

/// The list with what is needed to know how long it holds.
///
/// Invariant: after [`Self::update`] the records have every pair closer than the cutoff.
#[derive(Debug)]
pub struct Neighborhood {
    order: Order,
    hierarchy: Hierarchy,
    builder: ListBuilder,
    /// The list, for half or full sweeps.
    pub records: Records,
    symmetric: bool,
    cutoff: f64,
    radius: Buffer<f64>,
    skin: Skin,
    /// The skin that was used up when that was last looked at, and since then at most.
    used: f64,
    builds: u64,
}

impl Neighborhood {
    /// No list yet; of pairs within a cutoff, whose lists are wider by this fraction of it.
    ///
    /// # Errors
    /// Those of the device.
    pub fn new(device: &Device, cutoff: f64, skin: f64, symmetric: bool) -> Result<Self> {
        Ok(Self {
            order: Order::new(device)?,
            hierarchy: Hierarchy::new(device)?,
            builder: ListBuilder::new(device)?,
            records: Records::new(device)?,
            symmetric,
            cutoff,
            radius: Buffer::new(device, 0)?,
            skin: Skin::new(device, skin)?,
            used: f64::INFINITY,
            builds: 0,
        })
    }

    /// Lists built so far.
    pub fn builds(&self) -> u64 {
        self.builds
    }

    /// The next update builds a list.
    pub fn invalidate(&mut self) {
        self.skin.forget();
        self.used = f64::INFINITY;
    }

    /// Makes the list hold every pair, after no particle has come farther than `drift` since the last update. Where a new
    /// list is needed particles are brought into the box and into order first. Returns the box.
    ///
    /// # Errors
    /// [`crate::Error::State`] with step 0 for a position that is no place or a periodic box too small for the cutoff; those
    /// of the device.
    pub fn update(&mut self, bx: &SimulationBox, columns: &mut Columns, drift: f64) -> Result<SimulationBox> {
        let allowed = self.skin.fraction();
        // a sum of what drifts tell is an upper bound; what it does not decide the particles do
        self.used += 2.0 * drift / self.cutoff;
        if self.used > allowed && self.used.is_finite() && allowed > 0.0 {
            self.used = self.skin.used(bx, columns.vector(Field::Position), None, 0..columns.rows())?;
        }
        if self.used <= allowed && allowed > 0.0 {
            return Ok(*bx);
        }
        let bx = self.order.sync(bx, columns)?;
        self.build(&bx, columns)?;
        Ok(bx)
    }

    fn build(&mut self, bx: &SimulationBox, columns: &Columns) -> Result<()> {
        let (rows, reach) = (columns.rows(), self.cutoff * (1.0 + self.skin.fraction()));
        bx.check_reach(reach)?;
        let position = columns.vector(Field::Position);
        let unit = power_of_two_below(reach);
        self.hierarchy.build(position, Radii::All(reach), None, rows, unit)?;
        if self.radius.len() != rows {
            self.radius.resize(rows)?;
            self.radius.upload(&vec![reach; rows])?;
        }
        let search = Search {
            rows,
            owned: 0..rows,
            symmetric: self.symmetric,
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
            self.skin.remember(position, 0..rows, self.cutoff)?;
        }
        self.used = 0.0;
        self.builds += 1;
        Ok(())
    }
}
