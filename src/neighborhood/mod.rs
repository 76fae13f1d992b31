//! The neighborhood: the list that the passes use, kept for as long as it holds every pair.

use super::skin::Skin;
use super::{ClusterList, Coding, ListRequest, NeighborList, ParticleList, Radii, TileList};
use crate::Result;
use crate::deck::plan::{self, ListKind, NeighborsPlan};
use crate::domain::{Across, Domain};
use crate::particles::{Field, Particles};
use crate::space::SimulationBox;
use rayon::prelude::*;
use std::ops::Range;

/// A list is built with supports this much larger than 2h, so that smoothing lengths may grow while they are found.
pub const ROOM_TO_GROW: f64 = 1.04;

/// How far the particles of a run act on each other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Reach {
    /// As far as their supports 2h.
    Supports,
    /// All as far as this.
    Cutoff(f64),
    /// Not by pairs.
    Nowhere,
}

impl Reach {
    /// Per row, each times a factor: the support 2h with room to grow, or the cutoff.
    fn of_rows(self, particles: &Particles, factor: f64) -> Vec<f64> {
        match self {
            Reach::Supports => {
                let support = 2.0 * ROOM_TO_GROW * factor;
                let lengths = particles.scalar(Field::SmoothingLength).par_iter().with_min_len(4096);
                lengths.map(|h| support * h).collect()
            }
            Reach::Cutoff(cutoff) => vec![cutoff * factor; particles.len()],
            Reach::Nowhere => vec![0.0; particles.len()],
        }
    }
}

/// The skins of the two lists, in units of the reach.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Skins {
    /// Of the list that is built; 0 builds it in every step.
    pub outer: f64,
    /// Of the list that is pruned from it, less than that; `None` without one.
    pub inner: Option<f64>,
}

impl Skins {
    /// The widest skin that a box has room for around a cutoff; below 0 where it has none.
    pub fn widest(bx: &SimulationBox, cutoff: f64) -> f64 {
        0.5 * bx.periods().min() / cutoff * (1.0 - 1e-9) - 1.0
    }
}

/// What has to be done before the list holds every pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Due {
    /// Nothing.
    Nothing,
    /// The inner list is to be pruned anew.
    Prune,
    /// The list is to be built anew.
    Build,
}

/// What finds tiles in a list of clusters, in the memory of tiles that are spent: those that walk tiles know how.
pub type FindTiles = fn(&ClusterList, &ListRequest, Option<TileList>) -> Result<TileList>;

/// The list of neighbors with what is needed to know how long it holds.
///
/// Invariant: while nothing is [`Neighborhood::due`] the list has every pair within reach: `r < max(2 h_i, 2 h_j)`, or
/// `r <` the cutoff.
pub struct Neighborhood {
    plan: NeighborsPlan,
    find_tiles: FindTiles,
    reach: Reach,
    list: Option<NeighborList>,
    pruned: Option<NeighborList>,
    /// The pruned list of the last list, for its memory.
    spent: Option<NeighborList>,
    radius: Vec<f64>,
    /// Of a list that is used again, per owned row.
    limits: Option<Vec<f64>>,
    outer: Skin,
    inner: Option<Skin>,
    /// Of both skins what all ranks together had used when that was last looked at.
    used: Option<[f64; 2]>,
    /// How far the particles have come at most since they were last asked about, if that is known.
    drift: Option<f64>,
    builds: u64,
    prunes: u64,
}

/// In an open box, smoothing lengths up to so many of its longest edges: few particles have as many neighbors
/// as asked for only where the kernel is nearly flat over all of them. From one edge on the support holds the
/// whole box, so it costs no pair more.
const EDGES_OF_AN_OPEN_BOX: f64 = 100.0;

/// The largest smoothing length that a particle may have: a list of it with this skin still fits a periodic
/// box; see [`EDGES_OF_AN_OPEN_BOX`] for an open one.
pub(crate) fn largest_smoothing_length(bx: &SimulationBox, skin: f64) -> f64 {
    let wide = 4.0 * ROOM_TO_GROW * (1.0 + skin);
    (bx.periods().min() / wide * (1.0 - 1e-9)).min(EDGES_OF_AN_OPEN_BOX * bx.lengths().max())
}

impl Neighborhood {
    /// No list yet.
    pub fn new(plan: &NeighborsPlan, find_tiles: FindTiles, reach: Reach, skins: Skins) -> Self {
        let mut neighborhood = Neighborhood {
            plan: plan.clone(),
            find_tiles,
            reach,
            list: None,
            pruned: None,
            spent: None,
            radius: Vec::new(),
            limits: None,
            outer: Skin::new(0.0),
            inner: None,
            used: None,
            drift: None,
            builds: 0,
            prunes: 0,
        };
        neighborhood.set_skins(skins);
        neighborhood
    }

    /// Other skins, from the next list on, which the next step builds. An inner list that is no longer asked for is gone.
    pub fn set_skins(&mut self, skins: Skins) {
        self.outer = Skin::new(skins.outer);
        let prunable = matches!(self.reach, Reach::Cutoff(_)) && self.plan.list == ListKind::Clustered;
        self.inner = skins.inner.filter(|inner| prunable && *inner < skins.outer).map(Skin::new);
        if self.inner.is_none() {
            (self.pruned, self.spent) = (None, None);
        }
        self.used = None;
    }

    /// Tell that no particle of any rank has come farther than this since the list was last asked for: while that alone
    /// shows that it serves, the particles need not be looked at. To be called with the same on all ranks, or on none.
    pub fn drifted(&mut self, farthest: f64) {
        self.drift = Some(farthest);
    }

    /// The skins.
    pub fn skins(&self) -> Skins {
        Skins { outer: self.outer.fraction(), inner: self.inner.as_ref().map(Skin::fraction) }
    }

    /// How far particles act.
    pub fn reach(&self) -> Reach {
        self.reach
    }

    /// The radius per row within which pairs are listed: reach and skin.
    pub fn radii(&self, particles: &Particles) -> Vec<f64> {
        self.reach.of_rows(particles, 1.0 + self.outer.fraction())
    }

    /// What the list needs for the particles where they are now. Collective; all ranks get the same answer.
    pub fn due(&mut self, domain: &Domain, particles: &Particles) -> Due {
        // without a skin a list serves for one step, and the question need not be asked
        if self.outer.fraction() == 0.0 || self.reach == Reach::Nowhere {
            return Due::Build;
        }
        if let (Some(drift), Some(used), Reach::Cutoff(cutoff)) = (self.drift.take(), self.used, self.reach) {
            let used = used.map(|used| used + 2.0 * drift / cutoff);
            if self.judge(used) == Due::Nothing {
                self.used = Some(used);
                return Due::Nothing;
            }
        }
        let used = {
            let own;
            let reaches = match self.reach {
                Reach::Cutoff(cutoff) => Radii::All(cutoff),
                _ => {
                    own = self.reach.of_rows(particles, 1.0);
                    Radii::Each(&own)
                }
            };
            let inner = self.inner.as_ref().map_or(0.0, |inner| inner.used(&domain.bx, particles, reaches));
            let mut used = [self.outer.used(&domain.bx, particles, reaches), inner];
            domain.comm.all_max(&mut used);
            used
        };
        self.used = Some(used);
        let due = self.judge(used);
        let grow = due == Due::Nothing && self.reach == Reach::Supports;
        self.limits = grow.then(|| self.outer.limits(&domain.bx, particles));
        due
    }

    /// The verdict on the skins that all ranks together have used up.
    fn judge(&self, [outer, inner]: [f64; 2]) -> Due {
        let skins = self.skins();
        if self.list.is_none() || outer.is_infinite() {
            return Due::Build;
        }
        match skins.inner {
            Some(own) if inner <= own => Due::Nothing,
            // what is pruned now must be in the outer list
            Some(own) if outer + own <= skins.outer => Due::Prune,
            None if outer <= skins.outer => Due::Nothing,
            _ => Due::Build,
        }
    }

    /// By owned row the largest support 2h whose pairs the list holds: the radius that a new list was built with; less in
    /// a list whose particles have moved.
    pub fn largest_supports(&self, owned: Range<usize>) -> &[f64] {
        match &self.limits {
            Some(limits) => limits,
            None => &self.radius[owned],
        }
    }

    /// The radii that the list was built with, by row.
    pub fn radius(&self) -> &[f64] {
        &self.radius
    }

    /// The list: the inner one, where there are two.
    pub fn list(&self) -> Option<&NeighborList> {
        self.pruned.as_ref().or(self.list.as_ref())
    }

    /// Number of lists built so far.
    pub fn builds(&self) -> u64 {
        self.builds
    }

    /// Number of times that a list was pruned so far, on the host.
    pub fn prunes(&self) -> u64 {
        self.prunes
    }

    /// The largest smoothing length that a particle may have: a list of it still fits a periodic box, and an open box is
    /// not larger than its support.
    pub fn largest_smoothing_length(&self, bx: &SimulationBox) -> f64 {
        largest_smoothing_length(bx, self.outer.fraction())
    }

    /// The next step has to build a list.
    pub fn invalidate(&mut self) {
        self.outer.forget();
        self.used = None;
    }

    /// Build the list for the rows as they are now. Collective.
    ///
    /// # Errors
    /// On all ranks when one fails: a periodic box too small for the radii.
    pub fn rebuild(&mut self, domain: &Domain, particles: &Particles) -> Result<()> {
        self.radius = self.radii(particles);
        // memory of the old lists is free before the new one is built, but for the tiles', which new ones take
        (self.list, self.limits) = (None, None);
        self.spent = self.pruned.take();
        if self.reach == Reach::Nowhere {
            return Ok(());
        }
        let request = self.request(domain, particles, &self.radius);
        let built = match self.plan.list {
            ListKind::Clustered => ClusterList::build(&request).map(NeighborList::Clustered),
            ListKind::PerParticle => ParticleList::build(&request).map(NeighborList::PerParticle),
        };
        let outcome = built.map(|list| self.list = Some(list));
        domain.comm.agree(outcome)?;
        if self.outer.fraction() > 0.0 {
            remember(&mut self.outer, self.reach, domain, particles);
        }
        self.used = Some([0.0; 2]);
        self.builds += 1;
        self.prune(domain, particles)
    }

    /// Find the inner list, if there is to be one, in the list for the rows as they are now: tiles where pairs are listed once, else
    /// clusters. Collective.
    ///
    /// # Errors
    /// Those of [`Neighborhood::rebuild`].
    pub fn prune(&mut self, domain: &Domain, particles: &Particles) -> Result<()> {
        let Some(fraction) = self.inner.as_ref().map(Skin::fraction) else { return Ok(()) };
        let Some(NeighborList::Clustered(list)) = &self.list else { return Ok(()) };
        let radius = self.reach.of_rows(particles, 1.0 + fraction);
        let request = self.request(domain, particles, &radius);
        let spent = match self.pruned.take().or(self.spent.take()) {
            Some(NeighborList::Tiled(tiles)) => Some(tiles),
            _ => None,
        };
        let pruned = match request.symmetric {
            true => (self.find_tiles)(list, &request, spent).map(NeighborList::Tiled),
            false => list.prune(&request).map(NeighborList::Clustered),
        };
        let outcome = pruned.map(|list| self.pruned = Some(list));
        domain.comm.agree(outcome)?;
        if let Some(inner) = &mut self.inner {
            remember(inner, self.reach, domain, particles);
        }
        self.used = self.used.map(|[outer, _]| [outer, 0.0]);
        self.prunes += 1;
        Ok(())
    }

    fn request<'a>(
        &self,
        domain: &'a Domain,
        particles: &'a Particles,
        radius: &'a [f64],
    ) -> ListRequest<'a> {
        let coding = match self.plan.coding {
            plan::Coding::Nibble => Coding::Nibble,
            plan::Coding::Plain => Coding::Plain,
            plan::Coding::Band => Coding::Band,
        };
        let all = ListRequest::of(&domain.bx, particles, radius, self.symmetric(), coding);
        ListRequest { with_lower_from: domain.with_lower_from(particles), ..all }
    }

    /// Whether pairs are listed once: half lists save more where a pair costs less than finding it.
    fn symmetric(&self) -> bool {
        self.plan.symmetric.unwrap_or(matches!(self.reach, Reach::Cutoff(_)))
    }

    /// Which ranks have a pair of particles of two in such lists.
    pub fn across(&self) -> Across {
        // the passes of a gas read what neighbors have summed, one after the other
        let molecules = matches!(self.reach, Reach::Cutoff(_)) && self.plan.list == ListKind::Clustered;
        if molecules && self.symmetric() { Across::One } else { Across::Both }
    }
}

/// Tell a skin where the particles are now.
fn remember(skin: &mut Skin, reach: Reach, domain: &Domain, particles: &Particles) {
    match reach {
        Reach::Cutoff(cutoff) => skin.remember(&domain.bx, particles, Radii::All(cutoff)),
        Reach::Supports => {
            skin.remember(&domain.bx, particles, Radii::Each(&reach.of_rows(particles, 1.0)));
        }
        Reach::Nowhere => {}
    }
}
