//! How much memory a run will need: what is held where it holds most.

use crate::deck::plan::{Formulation, ListKind, Plan, Precision};
use crate::laws;
use crate::pair::PairLaw;
use crate::pair::law::Columns;
use crate::particles::Field;
use crate::step::Simulation;

/// Bytes that do not grow with the particles: the program, its libraries and MPI (22 MB), what a thread has to find the
/// neighbors in range, and what the allocator keeps.
const FIXED: f64 = 38e6;

/// How much more of a vector that grows by doubling is asked for than is used, on average.
const DOUBLING: f64 = 1.5;

/// Neighbors where a deck does not say how many there will be.
const USUAL_NEIGHBORS: f64 = 100.0;

/// Bytes of a compressed full list of clusters a neighbor, with the room that radii have to grow.
const LIST: f64 = 0.029;

/// Nodes of the gravity tree a particle, times the most particles of a leaf.
const NODES: f64 = 3.4;

/// The memory of a run on one rank, in bytes: `fixed + per_particle * particles`. On more ranks each has the fixed part, and
/// halos beside its own particles.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// Whatever the number of particles.
    pub fixed: f64,
    /// Times the number of particles.
    pub per_particle: f64,
}

impl Estimate {
    /// Of a plan: the largest of its phases.
    pub fn of(plan: &Plan) -> Self {
        let kept = Rows { lane: lane(plan), bytes: 16.0 }.with(&Simulation::fields(plan)).and(listed(plan));
        let mut phases = vec![kept.bytes];
        if let Some(sph) = &plan.sph {
            use Field::*;
            let kept = kept.with(&[KickAcceleration, KickEnergyRate, Pressure, SoundSpeed, SignalSpeed]);
            let passes = kept.with(&[GradH, GradientMatrix]).and(8.0);
            phases.push(match sph.formulation {
                Formulation::Standard => passes.pass::<laws::momentum_energy_standard::Law<f64>>(),
                Formulation::VolumeElements => {
                    passes.with(&[VolumeElement]).pass::<laws::momentum_energy_volume::Law<f64>>()
                }
            });
            phases.extend(plan.gravity.as_ref().map(|_| kept.gravity()));
        } else if plan.gravity.is_some() {
            phases.push(kept.gravity());
        }
        if plan.interaction.is_some() {
            phases.push(kept.pass::<laws::lennard_jones::Law<f64>>());
        }
        Estimate { fixed: FIXED, per_particle: phases.into_iter().fold(0.0, f64::max) }
    }
}

/// Bytes of a number in the passes' lanes.
fn lane(plan: &Plan) -> f64 {
    match plan.run.precision {
        Precision::Mixed => 4.0,
        Precision::Double => 8.0,
    }
}

/// The list, its radii, and where particles were when it was built.
fn listed(plan: &Plan) -> f64 {
    let neighbors = plan.sph.as_ref().map_or(USUAL_NEIGHBORS, |sph| sph.neighbors);
    let list = match (plan.neighbors.list, plan.sph.is_some() || plan.interaction.is_some()) {
        (_, false) => return 0.0,
        (ListKind::Clustered, true) => LIST * neighbors,
        (ListKind::PerParticle, true) => 4.5 * neighbors,
    };
    let built = if plan.interaction.is_some() || plan.neighbors.least_skin() > 0.0 { 40.0 } else { 0.0 };
    list + 8.0 + built
}

/// Bytes a particle in some phase.
#[derive(Clone, Copy)]
struct Rows {
    lane: f64,
    bytes: f64,
}

impl Rows {
    fn and(self, bytes: f64) -> Self {
        Rows { bytes: self.bytes + bytes, ..self }
    }

    /// With the columns of fields.
    fn with(self, fields: &[Field]) -> Self {
        self.and(8.0 * components(fields))
    }

    /// With what pairs of a law need, packed with offsets, squared radius and the clusters' bounds, and its sums and work.
    fn pass<L: PairLaw>(self) -> f64 {
        let packed = (4 + L::Prepared::<f64>::COUNT) as f64 * self.lane + 4.75;
        self.bytes + packed + 8.0 * (DOUBLING * L::SUMS.len() as f64 + 1.0)
    }

    /// With the tree, its sources and what groups of particles feel.
    fn gravity(self) -> f64 {
        let node = (size_of::<crate::far::tree::Node>() + size_of::<crate::tree::Moments>()) as f64;
        let bucket = crate::far::GravityPlan::default().bucket as f64;
        self.bytes + 32.0 + 32.0 + NODES / bucket * (node + 64.0 + 12.0 * self.lane)
    }
}

fn components(fields: &[Field]) -> f64 {
    fields.iter().map(|field| field.components() as f64).sum()
}
