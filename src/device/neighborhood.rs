//! Neighbor list on a device, reused while it covers all pairs: the counterpart of
//! [`crate::neighborhood::Neighborhood`]. Methods without lists reuse halos and the order of rows alike.

mod lists;

use super::arguments::state::ScaledColumnArguments;
use super::columns::Columns;
use super::domain::Domain;
use super::exchange::Exchange;
use super::hierarchy::{Hierarchy, Radii};
use super::list::{Records, Search};
use super::pair_sums::Neighbors;
use super::reduction::over_rows;
use super::skin::Skin;
use super::{Buffer, Device, values};
use crate::Result;
use crate::neighborhood::{
    Due, InteractionRange, Method, NeighborSettings, SUPPORT_MARGIN, SkinUse, Skins, largest_smoothing_length,
};
use crate::neighbors::cluster::power_of_two_below;
use crate::particles::Field;
use crate::space::SimulationBox;
use lists::Lists;

/// Neighbor list, halos, and the data that decides how long both are valid.
///
/// Invariant: after [`Self::build`], and while [`Self::is_valid`] returns true, [`Self::neighbors`] cover all
/// pairs with an owned particle within range: `r < max(2 h_i, 2 h_j)`, or `r <` the cutoff. Without a list
/// that is true of the rows, with their halos.
#[derive(Debug)]
pub struct Neighborhood {
    device: Device,
    /// Owners and halos of the particles.
    pub domain: Domain,
    hierarchy: Hierarchy,
    lists: Lists,
    method: Method,
    symmetric: bool,
    reach: InteractionRange,
    /// Largest radius of any rank at the last build.
    largest_radius: f64,
    radius: Buffer<f64>,
    /// Largest support that a reused list covers, per owned row.
    limits: Option<Buffer<f64>>,
    skin: Skin,
    used: SkinUse,
    /// Whether [`Self::neighbors`] are those of these settings, maybe of earlier positions.
    built: bool,
    builds: u64,
}

impl Neighborhood {
    /// Without a list yet. `skin` is a fraction of the interaction range. With a cutoff, `symmetric` lists of
    /// clusters hold each pair of owned particles once.
    ///
    /// # Errors
    /// Those of the device.
    pub fn new(
        exchange: &Exchange,
        reach: InteractionRange,
        skin: f64,
        method: Method,
        symmetric: bool,
    ) -> Result<Self> {
        let device = exchange.device();
        Ok(Self {
            device: device.clone(),
            domain: Domain::new(exchange)?,
            hierarchy: Hierarchy::new(device)?,
            lists: Lists::new(device)?,
            method,
            symmetric,
            reach,
            largest_radius: 0.0,
            radius: Buffer::new(device, 0)?,
            limits: None,
            skin: Skin::new(device, skin)?,
            used: SkinUse::default(),
            built: false,
            builds: 0,
        })
    }

    /// Number of lists built.
    pub fn builds(&self) -> u64 {
        self.builds
    }

    /// Changes method, half or full lists, and the outer skin; forces a build in the next step. Releases the
    /// memory of lists that are not used any more. Call it on all ranks.
    ///
    /// # Errors
    /// Those of the device.
    pub fn set(&mut self, settings: &NeighborSettings) -> Result<()> {
        if settings.method != self.method {
            self.lists = Lists::new(&self.device)?;
            self.hierarchy = Hierarchy::new(&self.device)?;
        }
        self.method = settings.method;
        self.symmetric = settings.symmetric;
        self.skin = Skin::new(&self.device, settings.skins.outer)?;
        self.radius = Buffer::new(&self.device, 0)?;
        self.built = false;
        self.invalidate();
        Ok(())
    }

    /// Method, half or full lists, and the skin.
    pub fn settings(&self) -> NeighborSettings {
        NeighborSettings { method: self.method, symmetric: self.symmetric, skins: self.skins() }
    }

    /// Whether lists of particles are wanted, but the last one did not suffice on some rank, which uses its
    /// full list of clusters: the box is small, or a particle has very many neighbors.
    pub fn fell_back(&self) -> bool {
        self.lists.fell_back
    }

    /// Where the pairs are. Without a list, the reach is the cutoff, or the largest radius at the last build.
    pub fn neighbors(&self) -> Neighbors<'_> {
        match self.reach {
            _ if self.has_list() && self.lists.of_particles => Neighbors::Particles(&self.lists.particles),
            _ if self.has_list() => Neighbors::Clusters(&self.lists.clusters),
            InteractionRange::Cutoff(cutoff) => Neighbors::Within(cutoff),
            InteractionRange::Supports | InteractionRange::Nowhere => Neighbors::Within(self.largest_radius),
        }
    }

    /// The list of clusters, from which a list of particles is built.
    pub fn clusters(&self) -> &Records {
        &self.lists.clusters
    }

    /// Whether there has been a build since the last change of the settings.
    pub fn is_built(&self) -> bool {
        self.built
    }

    /// Whether the method has lists.
    pub fn has_list(&self) -> bool {
        matches!(self.method, Method::Clusters | Method::Particles)
    }

    /// Allocated bytes of the lists, with the memory of their builds.
    pub fn list_bytes(&self) -> usize {
        match self.has_list() {
            true => self.lists.bytes() + self.hierarchy.bytes(),
            false => 0,
        }
    }

    /// The largest of these radii of all rows, which are at most those of the last build. Waits for the
    /// device.
    ///
    /// # Errors
    /// Those of the device.
    pub fn largest_of(&mut self, radius: &Buffer<f64>, columns: &Columns) -> Result<f64> {
        let rows = columns.rows();
        let id = (rows > columns.owned().len()).then_some(&columns.id);
        let (_, largest) = self.hierarchy.unit_of(Radii::Each(radius), id, rows)?;
        Ok(largest.min(self.largest_radius))
    }

    /// Forces a list build in the next step. Call it on all ranks.
    pub fn invalidate(&mut self) {
        self.skin.forget();
        self.used.invalidate();
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

    /// Whether the list covers all pairs at the current positions; updates [`Self::largest`]. Reads positions
    /// only if the recorded displacements do not prove the list valid. Collective.
    ///
    /// # Errors
    /// Those of the device.
    pub fn is_valid(&mut self, bx: &SimulationBox, columns: &Columns) -> Result<bool> {
        let mut used = self.used;
        let due = used.due(self.skins(), || Ok([self.measure_use(bx, columns)?, 0.0]))?;
        self.used = used;
        let valid = due == Due::Nothing;
        if valid && self.reach == InteractionRange::Supports {
            let mut limits = match self.limits.take() {
                Some(limits) => limits,
                None => Buffer::new(&self.device, 0)?,
            };
            limits.resize(columns.owned().len())?;
            self.skin.limits(bx, columns.vector(Field::Position), &limits)?;
            self.limits = Some(limits);
        }
        Ok(valid)
    }

    /// Records that no particle of any rank has moved farther than `farthest` in a step. Call it after every
    /// step with the same value on all ranks, or never.
    pub fn record_displacement(&mut self, farthest: f64) {
        if let Some(used) = self.use_by(farthest) {
            self.used.record(used);
        }
    }

    /// Whether the list certainly covers all pairs after a further displacement on any rank.
    pub fn is_valid_after(&self, displacement: f64) -> bool {
        self.use_by(displacement).is_some_and(|used| self.used.serves_after(self.skins(), used))
    }

    /// The displacement on any rank after which the list still certainly covers all pairs, if lists last
    /// longer than a step and all particles interact within the same range.
    pub fn remaining_displacement(&self) -> Option<f64> {
        let per_displacement = self.use_by(1.0)?;
        Some(self.used.remaining(self.skins())? / per_displacement)
    }

    fn skins(&self) -> Skins {
        Skins { outer: self.skin.fraction(), inner: None }
    }

    /// The part of the skin that a displacement uses; `None` if interaction ranges differ between particles.
    fn use_by(&self, displacement: f64) -> Option<f64> {
        match self.reach {
            InteractionRange::Cutoff(cutoff) => Some(2.0 * displacement / cutoff),
            InteractionRange::Supports | InteractionRange::Nowhere => None,
        }
    }

    /// Measures the used skin from the positions; maximum over all ranks. Collective.
    fn measure_use(&self, bx: &SimulationBox, columns: &Columns) -> Result<f64> {
        let length =
            (self.reach == InteractionRange::Supports).then(|| columns.scalar(Field::SmoothingLength));
        let mut used = [self.skin.used(bx, columns.vector(Field::Position), length, columns.owned())?];
        self.domain.comm().all_max(&mut used);
        Ok(used[0])
    }

    /// Moves particles into the box and to their owners, and sorts them; removes halos. Returns the box.
    /// Collective.
    ///
    /// # Errors
    /// [`crate::Error::State`] with step 0 for a position that is not finite or too large; those of the
    /// device.
    pub fn order(&mut self, bx: &SimulationBox, columns: &mut Columns) -> Result<SimulationBox> {
        self.used.invalidate();
        self.domain.sync(bx, columns)
    }

    /// Builds the halos and the list of the owned rows in their current state. Collective.
    ///
    /// # Errors
    /// [`crate::Error::State`] with step 0 for a periodic box too small for the radii; those of the device.
    pub fn build(&mut self, bx: &SimulationBox, columns: &mut Columns) -> Result<()> {
        self.used.invalidate();
        self.domain.detach(columns)?;
        self.limits = None;
        let reach = self.largest_radius(columns)?;
        bx.check_reach(reach)?;
        self.largest_radius = reach;
        self.attach_halos(bx, columns, reach)?;
        if self.has_list() {
            self.build_list(bx, columns, reach)?;
        }
        if !self.serves_once() {
            let (position, owned) = (columns.vector(Field::Position), columns.owned());
            match self.reach {
                InteractionRange::Supports => {
                    let length = columns.scalar(Field::SmoothingLength);
                    self.skin.remember_each(position, owned, length, 2.0 * SUPPORT_MARGIN)?;
                }
                _ => self.skin.remember(position, owned, self.cutoff())?,
            }
        }
        self.used.built();
        self.built = true;
        self.builds += 1;
        Ok(())
    }

    /// The largest list radius of all ranks. Collective.
    fn largest_radius(&mut self, columns: &Columns) -> Result<f64> {
        let mut largest = [match self.reach {
            InteractionRange::Supports => {
                self.measure_radii(columns)?;
                self.hierarchy.unit_of(Radii::Each(&self.radius), None, columns.owned().len())?.1
            }
            _ => self.cutoff() * (1.0 + self.skin.fraction()),
        }];
        self.domain.comm().all_max(&mut largest);
        Ok(largest[0])
    }

    /// Attaches the halos within the list radii to the columns, and sets the radii of all rows.
    fn attach_halos(&mut self, bx: &SimulationBox, columns: &mut Columns, reach: f64) -> Result<()> {
        let each = self.reach == InteractionRange::Supports;
        let radii = if each { Radii::Each(&self.radius) } else { Radii::All(reach) };
        self.domain.attach(bx, columns, radii)?;
        if columns.rows() == self.radius.len() || !(each || self.has_list()) {
            return Ok(());
        }
        if each {
            return self.measure_radii(columns);
        }
        self.radius.resize(columns.rows())?;
        values::fill(&self.device, &self.radius, reach, 0..columns.rows())
    }

    /// Builds hierarchy and list over owned rows and halos.
    fn build_list(&mut self, bx: &SimulationBox, columns: &Columns, reach: f64) -> Result<()> {
        let (rows, owned, unit) = (columns.rows(), columns.owned(), power_of_two_below(reach));
        let position = columns.vector(Field::Position);
        let radii = match self.reach {
            InteractionRange::Supports => Radii::Each(&self.radius),
            _ => Radii::All(reach),
        };
        let id = (rows != owned.len()).then_some(&columns.id);
        self.hierarchy.build(position, radii, id, rows, unit)?;
        let search = Search {
            rows,
            owned,
            symmetric: self.symmetric && self.method == Method::Clusters,
            position,
            radius: &self.radius,
            id: &columns.id,
            center: self.hierarchy.center(),
            extent: self.hierarchy.extent(),
            unit,
            bx,
        };
        let of_particles = self.method == Method::Particles;
        self.lists.build(&search, of_particles)?;
        if of_particles {
            let mut fell_back = [f64::from(u8::from(!self.lists.of_particles))];
            self.domain.comm().all_max(&mut fell_back);
            self.lists.fell_back = fell_back[0] > 0.0;
        }
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
