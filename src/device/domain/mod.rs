//! The domain of particles that live on devices: [`crate::domain::Domain`], of which the owned rows are the same.
//!
//! Particles go to the owners of their keys, and rows that other ranks need go there, too: owned rows first, from the
//! next multiple of 64 on those of others, by rank, each rank's in its order. Rows between are ghosts: identity
//! `u64::MAX`, position infinite, all else 0. A rank that gets no rows of others has no ghosts either.

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

/// Fields of rows of others on their way, from [`Domain::begin_refresh`] to [`Domain::finish_refresh`]; [`Default`] is
/// none.
#[derive(Debug, Default)]
#[must_use = "other ranks wait until a refresh is finished"]
pub struct Arriving(Option<Pending>);

impl Arriving {
    /// Whether nothing is on its way, on all ranks.
    pub fn is_nothing(&self) -> bool {
        self.0.is_none()
    }
}

/// What a rank owns, and what it knows of the others.
#[derive(Debug)]
pub struct Domain {
    exchange: Exchange,
    order: Order,
    owners: Owners,
    halos: Halos,
}

impl Domain {
    /// A domain without particles; [`Self::sync`] brings them in.
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

    /// Wrap the particles of all ranks where space is periodic, fit the box's open faces to them, and bring each to the
    /// owner of its key, in the order of key and identity. Returns the box. All columns that are there move; rows of
    /// others are gone. Collective.
    ///
    /// Work is the same for all particles. The result depends on the positions and identities of all particles and the
    /// number of ranks, not on who owned what before.
    ///
    /// # Errors
    /// [`crate::Error::State`] with step 0, on the rank that owns it, when a position is no place, and
    /// [`crate::Error::Elsewhere`] on the others: owned rows are unchanged then. Those of the device.
    pub fn sync(&mut self, bx: &SimulationBox, columns: &mut Columns) -> Result<SimulationBox> {
        self.detach(columns)?;
        let Some(fitted) = self.order.fit(self.exchange.comm(), bx, columns)? else { return Ok(*bx) };
        let entered = self.order.enter(&fitted, columns);
        self.owners.assign(&self.exchange, entered, columns)?;
        self.owners.migrate(&self.exchange, &mut self.order, columns)?;
        Ok(fitted.bx)
    }

    /// Bring the rows of others that owned ones may have pairs with, closer than the larger of their radii; there is a
    /// radius for each owned row. The fields of halos are brought, all else and the keys of rows of others are 0. Owned rows are
    /// those of the last [`Self::sync`], wherever they are since. Rows of others that were there before are gone.
    /// Collective.
    ///
    /// # Errors
    /// Those of the device; [`crate::Error::Elsewhere`] where another rank has one.
    pub fn attach(&mut self, bx: &SimulationBox, columns: &mut Columns, radius: Radii) -> Result<()> {
        self.detach(columns)?;
        self.halos.find(&self.exchange, &mut self.owners, bx, columns, radius)?;
        self.halos.attach(&self.exchange, columns)
    }

    /// Remove all rows that are not owned.
    ///
    /// # Errors
    /// Those of the device.
    pub fn detach(&mut self, columns: &mut Columns) -> Result<()> {
        self.halos.forget();
        let owned = columns.owned().len();
        columns.resize(owned, owned)
    }

    /// Bring these fields of the rows of others up to date with what their owners have. Collective.
    ///
    /// # Errors
    /// Those of the device.
    pub fn refresh(&mut self, columns: &mut Columns, fields: &[Field]) -> Result<()> {
        let arriving = self.begin_refresh(columns, fields)?;
        self.finish_refresh(arriving)
    }

    /// As [`Self::refresh`], but what is started before [`Self::finish_refresh`] goes on while the fields are on their way.
    ///
    /// Until then nobody may use these fields of the rows of others, nor bring or remove rows or these fields, nor begin
    /// another refresh; those of owned rows may be read and changed. Whatever becomes of what is done meanwhile, all ranks
    /// must finish what they began. Collective.
    ///
    /// # Errors
    /// Those of the device; nothing is to be finished then.
    pub fn begin_refresh(&mut self, columns: &Columns, fields: &[Field]) -> Result<Arriving> {
        self.halos.refresh(&self.exchange, columns, fields).map(Arriving)
    }

    /// What is started from now on finds the fields up to date. Collective.
    ///
    /// # Errors
    /// Those of the device.
    pub fn finish_refresh(&self, arriving: Arriving) -> Result<()> {
        arriving.0.map_or(Ok(()), |pending| self.exchange.finish(pending))
    }

    /// Who owns which keys since the last [`Self::sync`].
    pub fn assignment(&self) -> &Assignment {
        &self.owners.assignment
    }

    /// Per rank the boxes that together hold all rows that it owned at the last [`Self::attach`], with the largest radius
    /// inside; the same on every rank. One rank alone has none.
    pub fn boxes(&self) -> &[Vec<Extent>] {
        self.halos.boxes()
    }

    /// Give back the memory that was needed to bring particles into order, and to find rows that others need: about
    /// 60 bytes an owned row.
    ///
    /// # Errors
    /// Those of the device.
    pub fn release(&mut self) -> Result<()> {
        self.order = Order::new(self.exchange.device())?;
        self.halos.release()
    }
}
