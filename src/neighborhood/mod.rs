//! Lifetime of the neighbor list: decides when it is reused, pruned or rebuilt, and does so.
//!
//! Call [`Neighborhood::due`] in every step, then [`Neighborhood::prune`] or [`Neighborhood::rebuild`] as it
//! says.

mod method;
pub mod skin;
mod skin_use;
pub mod tune;

pub(crate) use method::search_needs_a_gpu;
pub use method::{Chosen, Method, NeighborSettings};
pub use skin::Skin;
pub use skin_use::{Due, SkinUse};
pub use tune::{Costs, SweptPairs};

use crate::Result;
use crate::domain::{Domain, PairSharing};
use crate::neighbors::{CellList, ClusterList, Coding, ListRequest, NeighborList, ParticleList, Radii};
use crate::pair::find_tiles;
use crate::particles::{Field, Particles};
use crate::plan::{self, NeighborsPlan};
use crate::space::SimulationBox;
use rayon::prelude::*;
use std::ops::Range;

/// Factor by which supports in a list exceed 2h, so that smoothing lengths may grow during their iteration.
pub const SUPPORT_MARGIN: f64 = 1.04;

/// Interaction range of the particles of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum InteractionRange {
    /// The supports 2h.
    Supports,
    /// One cutoff for all.
    Cutoff(f64),
    /// No pair interactions.
    Nowhere,
}

impl InteractionRange {
    /// Range per row, times `factor`: 2h with the margin [`SUPPORT_MARGIN`], or the cutoff.
    fn of_rows(self, particles: &Particles, factor: f64) -> Vec<f64> {
        match self {
            InteractionRange::Supports => {
                let support = 2.0 * SUPPORT_MARGIN * factor;
                let lengths = particles.scalar(Field::SmoothingLength).par_iter().with_min_len(4096);
                lengths.map(|h| support * h).collect()
            }
            InteractionRange::Cutoff(cutoff) => vec![cutoff * factor; particles.len()],
            InteractionRange::Nowhere => vec![0.0; particles.len()],
        }
    }
}

/// Skins of the outer and inner list, as fractions of the interaction range.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Skins {
    /// Skin of the built (outer) list; with 0 it is rebuilt in every step.
    pub outer: f64,
    /// Skin of the inner list that is pruned from the outer one; less than `outer`. `None` without an inner
    /// list.
    pub inner: Option<f64>,
}

impl Skins {
    /// Widest skin around `cutoff` that fits the periodic box; negative if none fits.
    pub fn widest(bx: &SimulationBox, cutoff: f64) -> f64 {
        0.5 * bx.periods().min() / cutoff * (1.0 - 1e-9) - 1.0
    }
}

/// Neighbor lists, and the data that decides how long they are valid.
///
/// Invariant: while [`Neighborhood::due`] returns [`Due::Nothing`], the list covers all pairs within range:
/// `r < max(2 h_i, 2 h_j)`, or `r <` the cutoff.
pub struct Neighborhood {
    coding: Coding,
    method: Method,
    symmetric: bool,
    reach: InteractionRange,
    list: Option<NeighborList>,
    /// List pruned from it: the inner list, and tiles of half lists in any case.
    pruned: Option<NeighborList>,
    /// Last inner list; the next one reuses its memory.
    recycled: Option<NeighborList>,
    radius: Vec<f64>,
    /// Per owned row, the largest support that a reused list covers.
    support_limits: Option<Vec<f64>>,
    outer: Skin,
    inner: Option<Skin>,
    used: SkinUse,
    builds: u64,
    prunes: u64,
}

/// Maximum smoothing length in an open box, in units of its longest edge. Few particles reach the requested
/// neighbor count only if the kernel is nearly flat over all of them. From one edge on the support covers
/// the whole box, so larger supports add no pairs.
const OPEN_BOX_EDGES: f64 = 100.0;

/// Maximum smoothing length: its list with this skin still fits a periodic box; see [`OPEN_BOX_EDGES`] for an
/// open one.
pub(crate) fn largest_smoothing_length(bx: &SimulationBox, skin: f64) -> f64 {
    let wide = 4.0 * SUPPORT_MARGIN * (1.0 + skin);
    (bx.periods().min() / wide * (1.0 - 1e-9)).min(OPEN_BOX_EDGES * bx.lengths().max())
}

impl Neighborhood {
    /// Without a list yet; with the method of the plan, which is clusters before one is chosen.
    pub fn new(plan: &NeighborsPlan, reach: InteractionRange, skins: Skins) -> Self {
        let method = Method::before_choice(plan.method);
        let mut neighborhood = Neighborhood {
            coding: match plan.coding {
                plan::Coding::Nibble => Coding::Nibble,
                plan::Coding::Plain => Coding::Plain,
            },
            method,
            symmetric: method.usual_symmetry(plan.symmetric, reach),
            reach,
            list: None,
            pruned: None,
            recycled: None,
            radius: Vec::new(),
            support_limits: None,
            outer: Skin::new(0.0),
            inner: None,
            used: SkinUse::default(),
            builds: 0,
            prunes: 0,
        };
        neighborhood.set_skins(skins);
        neighborhood
    }

    /// Sets the skins for the next list and invalidates the current one, which the next step rebuilds. Drops
    /// an inner list of clusters if `skins` has none.
    pub fn set_skins(&mut self, skins: Skins) {
        self.outer = Skin::new(skins.outer);
        let prunable = self.is_prunable();
        self.inner = skins.inner.filter(|inner| prunable && *inner < skins.outer).map(Skin::new);
        if self.inner.is_none() && !self.sweeps_tiles() {
            (self.pruned, self.recycled) = (None, None);
        }
        self.used.invalidate();
    }

    /// Sets method and skins for the next list and invalidates the current one, as
    /// [`Neighborhood::set_skins`]. [`Neighborhood::across`] may change. Call it on all ranks.
    pub fn set(&mut self, settings: &NeighborSettings) {
        if (settings.method, settings.symmetric) != (self.method, self.symmetric) {
            (self.list, self.pruned, self.recycled) = (None, None, None);
        }
        (self.method, self.symmetric) = (settings.method, settings.symmetric);
        self.set_skins(settings.skins);
    }

    /// Method and skins.
    pub fn settings(&self) -> NeighborSettings {
        NeighborSettings { method: self.method, symmetric: self.symmetric, skins: self.skins() }
    }

    /// Bytes of the lists.
    pub fn bytes(&self) -> u64 {
        [&self.list, &self.pruned].into_iter().flatten().map(|list| list.bytes().total()).sum()
    }

    /// Records that no particle of any rank has moved farther than `farthest` in a step. While the sum of
    /// these bounds proves the list valid, positions are not read. Call it after every step with the same
    /// value on all ranks, or never.
    pub fn record_displacement(&mut self, farthest: f64) {
        if let InteractionRange::Cutoff(cutoff) = self.reach {
            self.used.record(2.0 * farthest / cutoff);
        }
    }

    /// The current skins.
    pub fn skins(&self) -> Skins {
        Skins { outer: self.outer.fraction(), inner: self.inner.as_ref().map(Skin::fraction) }
    }

    /// Interaction range.
    pub fn reach(&self) -> InteractionRange {
        self.reach
    }

    /// List radius per row: interaction range plus skin.
    pub fn radii(&self, particles: &Particles) -> Vec<f64> {
        self.reach.of_rows(particles, 1.0 + self.outer.fraction())
    }

    /// Decides what the list needs at the current positions. Collective; all ranks return the same.
    ///
    /// # Errors
    /// None on processors.
    pub fn due(&mut self, domain: &Domain, particles: &Particles) -> Result<Due> {
        if self.reach == InteractionRange::Nowhere {
            return Ok(Due::Build);
        }
        let mut used = self.used;
        let due = used.due(self.skins(), || Ok(self.measure_use(domain, particles)))?;
        self.used = used;
        if self.reach == InteractionRange::Supports {
            self.support_limits = (due == Due::Nothing).then(|| self.outer.limits(&domain.bx, particles));
        }
        Ok(due)
    }

    /// Measures the used skins (outer, inner) from the positions; maximum over all ranks. Collective.
    fn measure_use(&self, domain: &Domain, particles: &Particles) -> [f64; 2] {
        let supports;
        let reaches = match self.reach {
            InteractionRange::Cutoff(cutoff) => Radii::All(cutoff),
            _ => {
                supports = self.reach.of_rows(particles, 1.0);
                Radii::Each(&supports)
            }
        };
        let inner = self.inner.as_ref().map_or(0.0, |inner| inner.used(&domain.bx, particles, reaches));
        let mut used = [self.outer.used(&domain.bx, particles, reaches), inner];
        domain.comm.all_max(&mut used);
        used
    }

    /// Per owned row, the largest support 2h whose pairs the list covers: the build radius in a new list,
    /// less after particles have moved.
    pub fn largest_supports(&self, owned: Range<usize>) -> &[f64] {
        match &self.support_limits {
            Some(support_limits) => support_limits,
            None => &self.radius[owned],
        }
    }

    /// Radii of the list's build, per row.
    pub fn radius(&self) -> &[f64] {
        &self.radius
    }

    /// The list for sweeps: the pruned one if it exists.
    pub fn list(&self) -> Option<&NeighborList> {
        self.pruned.as_ref().or(self.list.as_ref())
    }

    /// Number of lists built.
    pub fn builds(&self) -> u64 {
        self.builds
    }

    /// Number of prunes on the host.
    pub fn prunes(&self) -> u64 {
        self.prunes
    }

    /// Maximum smoothing length: its list still fits a periodic box. See `OPEN_BOX_EDGES` for an open box.
    pub fn largest_smoothing_length(&self, bx: &SimulationBox) -> f64 {
        largest_smoothing_length(bx, self.outer.fraction())
    }

    /// Forces a rebuild in the next step.
    pub fn invalidate(&mut self) {
        self.outer.forget();
        self.used.invalidate();
    }

    /// Builds the list for the current rows, then prunes. Collective.
    ///
    /// # Errors
    /// On all ranks if one fails: the periodic box is too small for the radii.
    pub fn rebuild(&mut self, domain: &Domain, particles: &Particles) -> Result<()> {
        self.radius = self.radii(particles);
        // Free old lists before building, except tiles, whose memory is reused.
        (self.list, self.support_limits) = (None, None);
        self.used.invalidate();
        self.recycled = self.pruned.take();
        if self.reach == InteractionRange::Nowhere {
            return Ok(());
        }
        let request = self.request(domain, particles, &self.radius);
        let built = match self.method {
            Method::Clusters => ClusterList::build(&request).map(NeighborList::Clustered),
            Method::Particles => ParticleList::build(&request).map(NeighborList::PerParticle),
            Method::Cells => CellList::build(&request).map(NeighborList::Cells),
            Method::Search => Err(search_needs_a_gpu()),
        };
        let outcome = built.map(|list| self.list = Some(list));
        domain.comm.agree(outcome)?;
        if self.outer.fraction() > 0.0 {
            remember(&mut self.outer, self.reach, domain, particles);
        }
        self.used.built();
        self.builds += 1;
        self.prune(domain, particles)
    }

    /// Prunes the inner list, if any, from the outer one for the current rows: tiles from half lists, else
    /// clusters. Without an inner skin, finds the tiles of a half list that was just built. Collective.
    ///
    /// # Errors
    /// Those of [`Neighborhood::rebuild`].
    pub fn prune(&mut self, domain: &Domain, particles: &Particles) -> Result<()> {
        let fraction = match &self.inner {
            Some(inner) => inner.fraction(),
            None if self.sweeps_tiles() => self.outer.fraction(),
            None => return Ok(()),
        };
        let Some(NeighborList::Clustered(list)) = &self.list else { return Ok(()) };
        let radius = self.reach.of_rows(particles, 1.0 + fraction);
        let request = self.request(domain, particles, &radius);
        let recycled = match self.pruned.take().or(self.recycled.take()) {
            Some(NeighborList::Tiled(tiles)) => Some(tiles),
            _ => None,
        };
        let pruned = match request.symmetric {
            true => find_tiles(list, &request, recycled).map(NeighborList::Tiled),
            false => list.prune(&request).map(NeighborList::Clustered),
        };
        let outcome = pruned.map(|list| self.pruned = Some(list));
        domain.comm.agree(outcome)?;
        if let Some(inner) = &mut self.inner {
            remember(inner, self.reach, domain, particles);
        }
        self.used.pruned();
        self.prunes += 1;
        Ok(())
    }

    fn request<'a>(
        &self,
        domain: &'a Domain,
        particles: &'a Particles,
        radius: &'a [f64],
    ) -> ListRequest<'a> {
        let all = ListRequest::of(&domain.bx, particles, radius, self.symmetric, self.coding);
        ListRequest { first_with_lower_halos: domain.first_with_lower_halos(particles), ..all }
    }

    /// Which ranks list a pair of particles of two ranks.
    pub fn across(&self) -> PairSharing {
        // Gas passes read sums of neighbors from earlier passes, so both ranks need the pair.
        if self.sweeps_tiles() { PairSharing::OneRank } else { PairSharing::BothRanks }
    }

    /// Whether lists can be pruned: clusters around one cutoff.
    fn is_prunable(&self) -> bool {
        matches!(self.reach, InteractionRange::Cutoff(_)) && self.method == Method::Clusters
    }

    /// Whether sweeps need tiles: for half lists of molecules.
    fn sweeps_tiles(&self) -> bool {
        self.is_prunable() && self.symmetric
    }
}

/// Records the current positions as reference of a skin.
fn remember(skin: &mut Skin, reach: InteractionRange, domain: &Domain, particles: &Particles) {
    match reach {
        InteractionRange::Cutoff(cutoff) => skin.remember(&domain.bx, particles, Radii::All(cutoff)),
        InteractionRange::Supports => {
            skin.remember(&domain.bx, particles, Radii::Each(&reach.of_rows(particles, 1.0)));
        }
        InteractionRange::Nowhere => {}
    }
}
