//! Domain decomposition of particles on devices: the same owned rows as [`crate::domain::Domain`].
//!
//! Particles move to the owners of their keys, and halos are copied to the ranks that need them. Owned rows
//! come first, halo rows from the next multiple of 64 on, by rank, in the order of their owner. Rows between
//! are ghosts: identity `u64::MAX`, position infinite, all else 0. A rank without halos has no ghosts.

mod assign;
mod halos;

use super::columns::Columns;
use super::exchange::{Exchange, Pending};
use super::hierarchy::Radii;
use super::order::Order;
use crate::Result;
use crate::comm::Communicator;
use crate::domain::assign::Assignment;
use crate::particles::Field;
use crate::space::SimulationBox;
use crate::tree::bounds::Extent;
use assign::Owners;
use halos::Halos;

/// A pending halo exchange, between [`Domain::begin_refresh`] and [`Domain::finish_refresh`]; none by
/// [`Default`].
#[derive(Debug, Default)]
#[must_use = "other ranks wait until a refresh is finished"]
pub struct Arriving(Option<Pending>);

impl Arriving {
    /// Whether no exchange is pending, on all ranks.
    pub fn is_nothing(&self) -> bool {
        self.0.is_none()
    }
}

/// The rows that a rank owns, and its halos.
#[derive(Debug)]
pub struct Domain {
    exchange: Exchange,
    order: Order,
    owners: Owners,
    halos: Halos,
}

impl Domain {
    /// A domain without particles; [`Self::sync`] adds them.
    ///
    /// # Errors
    /// Those of the device.
    pub fn new(exchange: &Exchange) -> Result<Self> {
        let device = exchange.device();
        Ok(Self {
            exchange: exchange.clone(),
            order: Order::new(device)?,
            owners: Owners::new(exchange)?,
            halos: Halos::new(exchange)?,
        })
    }

    /// The ranks.
    pub fn comm(&self) -> &Communicator {
        self.exchange.comm()
    }

    /// Wraps particles into periodic dimensions, fits the open faces of the box, and moves each particle to
    /// the owner of its key, sorted by key and identity. Returns the box. All columns move; halos are
    /// removed. Collective.
    ///
    /// All particles have the same weight. The result depends on the positions and identities of all
    /// particles and the number of ranks, not on the previous owners.
    ///
    /// # Errors
    /// [`crate::Error::State`] with step 0 on the owner of a position that is not finite or too large, and
    /// [`crate::Error::Elsewhere`] on the others; owned rows are unchanged then. Those of the device.
    pub fn sync(&mut self, bx: &SimulationBox, columns: &mut Columns) -> Result<SimulationBox> {
        self.detach(columns)?;
        let Some(fitted) = self.order.fit(self.exchange.comm(), bx, columns)? else { return Ok(*bx) };
        let entered = self.order.enter(&fitted, columns);
        self.owners.assign(&self.exchange, entered, columns)?;
        self.owners.migrate(&self.exchange, &mut self.order, columns)?;
        Ok(fitted.bx)
    }

    /// Adds halos: the rows of other ranks that may be closer to an owned row than the larger of both radii.
    /// Halo fields are received; other fields and keys of halo rows are 0. The owned rows are those of the
    /// last [`Self::sync`] at their present positions. Previous halos are replaced. Collective.
    ///
    /// # Errors
    /// Those of the device; [`crate::Error::Elsewhere`] where another rank has one.
    pub fn attach(&mut self, bx: &SimulationBox, columns: &mut Columns, radius: Radii) -> Result<()> {
        self.detach(columns)?;
        self.halos.find(&self.exchange, &mut self.owners, bx, columns, radius)?;
        self.halos.attach(&self.exchange, columns)
    }

    /// Removes all rows that are not owned.
    ///
    /// # Errors
    /// Those of the device.
    pub fn detach(&mut self, columns: &mut Columns) -> Result<()> {
        self.halos.forget();
        let owned = columns.owned().len();
        columns.resize(owned, owned)
    }

    /// Updates these fields of the halo rows from their owners. Collective.
    ///
    /// # Errors
    /// Those of the device.
    pub fn refresh(&mut self, columns: &mut Columns, fields: &[Field]) -> Result<()> {
        let arriving = self.begin_refresh(columns, fields)?;
        self.finish_refresh(arriving)
    }

    /// As [`Self::refresh`], but nonblocking: operations issued before [`Self::finish_refresh`] overlap the
    /// exchange.
    ///
    /// Until then these fields of halo rows must not be used, rows and these fields not be added or removed,
    /// and no other refresh begun; owned rows may be read and written. All ranks must finish what they began,
    /// even after an error in between. Collective.
    ///
    /// # Errors
    /// Those of the device; then there is nothing to finish.
    pub fn begin_refresh(&mut self, columns: &Columns, fields: &[Field]) -> Result<Arriving> {
        self.halos.refresh(&self.exchange, columns, fields).map(Arriving)
    }

    /// Completes a refresh: operations issued from now on see the updated fields. Collective.
    ///
    /// # Errors
    /// Those of the device.
    pub fn finish_refresh(&self, arriving: Arriving) -> Result<()> {
        arriving.0.map_or(Ok(()), |pending| self.exchange.finish(pending))
    }

    /// The owners of keys since the last [`Self::sync`].
    pub fn assignment(&self) -> &Assignment {
        &self.owners.assignment
    }

    /// For each rank the boxes of all rows that it owned at the last [`Self::attach`], with the largest
    /// radius inside; the same on all ranks, empty for a single rank.
    pub fn boxes(&self) -> &[Vec<Extent>] {
        self.halos.boxes()
    }

    /// Frees scratch memory of sorting and of the halo search: about 60 bytes an owned row.
    ///
    /// # Errors
    /// Those of the device.
    pub fn release(&mut self) -> Result<()> {
        self.order = Order::new(self.exchange.device())?;
        self.halos.release()
    }
}
