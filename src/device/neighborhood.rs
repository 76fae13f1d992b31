//! Neighbor list on a device, reused while it covers all pairs: the counterpart of
//! [`crate::neighborhood::Neighborhood`].

use super::arguments::state::ScaledColumnArguments;
use super::columns::Columns;
use super::domain::Domain;
use super::exchange::Exchange;
use super::hierarchy::{Hierarchy, Radii};
use super::list::{ListBuilder, Records, Search};
use super::reduction::over_rows;
use super::skin::Skin;
use super::{Buffer, Device, values};
use crate::Result;
use crate::neighborhood::{InteractionRange, SUPPORT_MARGIN, largest_smoothing_length};
use crate::neighbors::cluster::power_of_two_below;
use crate::particles::Field;
use crate::space::SimulationBox;

/// Neighbor list, halos, and the data that decides how long both are valid.
///
/// Invariant: after [`Self::build`], and while [`Self::serve`] returns true, the records cover all pairs with
/// an owned particle within range: `r < max(2 h_i, 2 h_j)`, or `r <` the cutoff.
#[derive(Debug)]
pub struct Neighborhood {
    device: Device,
    /// Owners and halos of the particles.
    pub domain: Domain,
    hierarchy: Hierarchy,
    builder: ListBuilder,
    /// The list.
    pub records: Records,
    symmetric: bool,
    reach: InteractionRange,
    radius: Buffer<f64>,
    /// Largest support that a reused list covers, per owned row.
    limits: Option<Buffer<f64>>,
    skin: Skin,
    /// Used skin, as the maximum over all ranks at the last check plus the bound since then; infinite without
    /// a valid list.
    used: f64,
    builds: u64,
}

impl Neighborhood {
    /// Without a list yet. `skin` is a fraction of the interaction range. With a cutoff, `symmetric` lists
    /// hold each pair of owned particles once.
    ///
    /// # Errors
    /// Those of the device.
    pub fn new(exchange: &Exchange, reach: InteractionRange, skin: f64, symmetric: bool) -> Result<Self> {
        let device = exchange.device();
        Ok(Self {
            device: device.clone(),
            domain: Domain::new(exchange)?,
            hierarchy: Hierarchy::new(device)?,
            builder: ListBuilder::new(device)?,
            records: Records::new(device)?,
            symmetric,
            reach,
            radius: Buffer::new(device, 0)?,
            limits: None,
            skin: Skin::new(device, skin)?,
            used: f64::INFINITY,
            builds: 0,
        })
    }

    /// Number of lists built.
    pub fn builds(&self) -> u64 {
        self.builds
    }

    /// Forces a list build in the next step. Call it on all ranks.
    pub fn invalidate(&mut self) {
        self.skin.forget();
        self.used = f64::INFINITY;
    }

    /// Radii of the list's build, per row.
    pub fn radius(&self) -> &Buffer<f64> {
        &self.radius
    }

    /// Returns a buffer with one number per row. Without a skin it is the buffer of the list's radii, which
    /// are not needed again and are lost.
    ///
    /// # Errors
    /// Those of the device.
    pub fn spend_radius(&mut self) -> Result<Buffer<f64>> {
        let rows = self.radius.len();
        match self.serves_once() {
            true => Ok(std::mem::replace(&mut self.radius, Buffer::new(&self.device, 0)?)),
            false => Buffer::new(&self.device, rows),
        }
    }

    /// Per owned row, the largest support 2h whose pairs the list covers: the build radius in a new list,
    /// less after particles have moved.
    pub fn largest(&self) -> &Buffer<f64> {
        self.limits.as_ref().unwrap_or(&self.radius)
    }

    /// Maximum smoothing length, as on processors.
    pub fn largest_smoothing_length(&self, bx: &SimulationBox) -> f64 {
        largest_smoothing_length(bx, self.skin.fraction())
    }

    fn serves_once(&self) -> bool {
        self.skin.fraction() == 0.0
    }

    /// Whether the list covers all pairs at the current positions; updates [`Self::largest`]. `drift` is the
    /// largest displacement on any rank since the last call, if known. Collective.
    ///
    /// # Errors
    /// Those of the device.
    pub fn serve(&mut self, bx: &SimulationBox, columns: &Columns, drift: Option<f64>) -> Result<bool> {
        // without a skin a list is valid for one step only
        if self.serves_once() || self.used == f64::INFINITY {
            return Ok(false);
        }
        let (position, owned) = (columns.vector(Field::Position), columns.owned());
        let allowed = self.skin.fraction();
        // the sum of the drifts is an upper bound of the used skin; if it exceeds the skin, read the
        // positions
        let known = match (self.reach, drift) {
            (InteractionRange::Cutoff(cutoff), Some(drift)) => {
                self.used += 2.0 * drift / cutoff;
                self.used <= allowed
            }
            _ => false,
        };
        if !known {
            let length =
                (self.reach == InteractionRange::Supports).then(|| columns.scalar(Field::SmoothingLength));
            let mut used = [self.skin.used(bx, position, length, owned.clone())?];
            self.domain.comm().all_max(&mut used);
            self.used = used[0];
        }
        if self.used > allowed {
            return Ok(false);
        }
        if self.reach == InteractionRange::Supports {
            let mut limits = match self.limits.take() {
                Some(limits) => limits,
                None => Buffer::new(&self.device, 0)?,
            };
            limits.resize(owned.len())?;
            self.skin.limits(bx, position, &limits)?;
            self.limits = Some(limits);
        }
        Ok(true)
    }

    /// Moves particles into the box and to their owners, and sorts them; removes halos. Returns the box.
    /// Collective.
    ///
    /// # Errors
    /// [`crate::Error::State`] with step 0 for a position that is not finite or too large; those of the
    /// device.
    pub fn order(&mut self, bx: &SimulationBox, columns: &mut Columns) -> Result<SimulationBox> {
        self.domain.sync(bx, columns)
    }

    /// Builds the halos and the list of the owned rows in their current state. Collective.
    ///
    /// # Errors
    /// [`crate::Error::State`] with step 0 for a periodic box too small for the radii; those of the device.
    pub fn build(&mut self, bx: &SimulationBox, columns: &mut Columns) -> Result<()> {
        self.domain.detach(columns)?;
        self.limits = None;
        let owned = columns.owned();
        let of_this_rank = match self.reach {
            InteractionRange::Supports => {
                self.measure_radii(columns)?;
                self.hierarchy.unit_of(Radii::Each(&self.radius), None, owned.len())?.1
            }
            _ => self.cutoff() * (1.0 + self.skin.fraction()),
        };
        let mut greatest = [of_this_rank];
        self.domain.comm().all_max(&mut greatest);
        let [reach] = greatest;
        bx.check_reach(reach)?;
        match self.reach {
            InteractionRange::Supports => {
                self.domain.attach(bx, columns, Radii::Each(&self.radius))?;
                if columns.rows() != self.radius.len() {
                    self.measure_radii(columns)?;
                }
            }
            _ => {
                self.domain.attach(bx, columns, Radii::All(reach))?;
                if columns.rows() != self.radius.len() {
                    self.radius.resize(columns.rows())?;
                    values::fill(&self.device, &self.radius, reach, 0..columns.rows())?;
                }
            }
        }
        let (rows, unit) = (columns.rows(), power_of_two_below(reach));
        let position = columns.vector(Field::Position);
        let radii = match self.reach {
            InteractionRange::Supports => Radii::Each(&self.radius),
            _ => Radii::All(reach),
        };
        let id = (rows != owned.len()).then_some(&columns.id);
        self.hierarchy.build(position, radii, id, rows, unit)?;
        let search = Search {
            rows,
            owned: owned.clone(),
            symmetric: self.symmetric,
            position,
            radius: &self.radius,
            id: &columns.id,
            center: self.hierarchy.center(),
            extent: self.hierarchy.extent(),
            unit,
            bx,
        };
        self.builder.build(&search, &mut self.records)?;
        if !self.serves_once() {
            match self.reach {
                InteractionRange::Supports => {
                    let length = columns.scalar(Field::SmoothingLength);
                    self.skin.remember_each(position, owned, length, 2.0 * SUPPORT_MARGIN)?;
                }
                _ => self.skin.remember(position, owned, self.cutoff())?,
            }
        }
        self.used = 0.0;
        self.builds += 1;
        Ok(())
    }

    fn cutoff(&self) -> f64 {
        match self.reach {
            InteractionRange::Cutoff(cutoff) => cutoff,
            InteractionRange::Supports | InteractionRange::Nowhere => 0.0,
        }
    }

    /// Computes the list radii of all current rows from their smoothing lengths.
    fn measure_radii(&mut self, columns: &Columns) -> Result<()> {
        let rows = 0..columns.rows();
        self.radius.resize(rows.len())?;
        let arguments = ScaledColumnArguments {
            column: columns.scalar(Field::SmoothingLength).into(),
            factor: 2.0 * SUPPORT_MARGIN * (1.0 + self.skin.fraction()),
            scaled: (&self.radius).into(),
            rows: (&rows).into(),
        };
        over_rows(&self.device, &rows, &arguments)
    }
}
