//! The neighborhood: the list that the passes use, kept for as long as it holds every pair.

use super::skin::Skin;
use super::{ClusterList, Coding, ListRequest, NeighborList, ParticleList};
use crate::Result;
use crate::deck::plan::{self, ListKind, NeighborsPlan};
use crate::domain::Domain;
use crate::particles::{Field, Particles};
use crate::space::SimulationBox;

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

/// The list of neighbors with what is needed to know how long it holds.
///
/// Invariant: while [`Neighborhood::serves`] is true the list has every pair within reach: `r < max(2 h_i, 2 h_j)`, or
/// `r <` the cutoff.
pub struct Neighborhood {
    plan: NeighborsPlan,
    reach: Reach,
    list: Option<NeighborList>,
    radius: Vec<f64>,
    /// Of a list that is used again, per owned row.
    limits: Option<Vec<f64>>,
    skin: Skin,
    builds: u64,
}

impl Neighborhood {
    /// No list yet.
    pub fn new(plan: &NeighborsPlan, reach: Reach) -> Self {
        Neighborhood {
            plan: plan.clone(),
            reach,
            list: None,
            radius: Vec::new(),
            limits: None,
            skin: Skin::new(plan.skin),
            builds: 0,
        }
    }

    /// The reach per row: the support 2h with room to grow, or the cutoff.
    fn reach(&self, particles: &Particles) -> Vec<f64> {
        match self.reach {
            Reach::Supports => {
                particles.scalar(Field::SmoothingLength).iter().map(|h| 2.0 * ROOM_TO_GROW * h).collect()
            }
            Reach::Cutoff(cutoff) => vec![cutoff; particles.len()],
            Reach::Nowhere => vec![0.0; particles.len()],
        }
    }

    /// The radius per row within which pairs are listed: reach and skin.
    pub fn radii(&self, particles: &Particles) -> Vec<f64> {
        self.skin.widen(&self.reach(particles))
    }

    /// Whether the list still holds every pair, and then how far supports may grow in it. Collective; all ranks get the
    /// same answer.
    pub fn serves(&mut self, domain: &Domain, particles: &Particles) -> bool {
        // without a skin a list serves for one step, and the question need not be asked
        let serves = self.plan.skin > 0.0
            && self.list.is_some()
            && !self.skin.exceeded(&domain.bx, particles, &self.reach(particles), &domain.comm);
        let grow = serves && self.reach == Reach::Supports;
        self.limits = grow.then(|| self.skin.limits(&domain.bx, particles));
        serves
    }

    /// The largest support 2h of an owned row (counted from 0) whose pairs the list holds: the radius that a new list
    /// was built with; less in a list whose particles have moved.
    pub fn largest_support(&self, particles: &Particles, owned: usize) -> f64 {
        match &self.limits {
            Some(limits) => limits[owned],
            None => self.radius[particles.owned().start + owned],
        }
    }

    /// The radii that the list was built with, by row.
    pub fn radius(&self) -> &[f64] {
        &self.radius
    }

    /// The list.
    pub fn list(&self) -> Option<&NeighborList> {
        self.list.as_ref()
    }

    /// Number of lists built so far.
    pub fn builds(&self) -> u64 {
        self.builds
    }

    /// The largest smoothing length a particle may have: a list of it still fits a periodic box, and an open box is
    /// not larger than its support.
    pub fn largest_smoothing_length(&self, bx: &SimulationBox) -> f64 {
        let periodic = bx.periods().min() / (4.0 * ROOM_TO_GROW * (1.0 + self.plan.skin)) * (1.0 - 1e-9);
        periodic.min(bx.lengths().max())
    }

    /// The next step has to build a list.
    pub fn invalidate(&mut self) {
        self.skin.forget();
    }

    /// Build the list for the rows as they are now. Collective.
    ///
    /// # Errors
    /// On all ranks when one fails: a periodic box too small for the radii.
    pub fn rebuild(&mut self, domain: &Domain, particles: &Particles) -> Result<()> {
        self.radius = self.radii(particles);
        // memory of the old list is free before the new one is built
        self.list = None;
        self.limits = None;
        if self.reach == Reach::Nowhere {
            return Ok(());
        }
        let coding = match self.plan.coding {
            plan::Coding::Nibble => Coding::Nibble,
            plan::Coding::Plain => Coding::Plain,
            plan::Coding::Band => Coding::Band,
        };
        let symmetric = self.plan.symmetric.unwrap_or(false);
        let request = ListRequest::of(&domain.bx, particles, &self.radius, symmetric, coding);
        let built = match self.plan.list {
            ListKind::Clustered => ClusterList::build(&request).map(NeighborList::Clustered),
            ListKind::PerParticle => ParticleList::build(&request).map(NeighborList::PerParticle),
        };
        let outcome = built.map(|list| self.list = Some(list));
        domain.comm.agree(outcome)?;
        self.skin.remember(&domain.bx, particles, &self.reach(particles));
        self.builds += 1;
        Ok(())
    }

    /// Rows that stand next to a row in space, nearest first.
    pub fn nearest(&self, bx: &SimulationBox, particles: &Particles, row: usize, count: usize) -> Vec<u64> {
        let here = particles.vector_at(Field::Position, row);
        let mut near: Vec<(f64, u64)> = (0..particles.len())
            .filter(|&other| other != row && !particles.ghost(other))
            .map(|other| {
                (
                    bx.shortest(particles.vector_at(Field::Position, other) - here).norm_squared(),
                    particles.id[other],
                )
            })
            .collect();
        near.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        near.truncate(count);
        near.into_iter().map(|(_, id)| id).collect()
    }
}
