//! How much memory a run will need: what is held where it holds most.

use super::bytes;
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
            phases.extend(gas(kept, sph.formulation));
        }
        if plan.gravity.is_some() {
            // beside a gas what its passes leave, and the rates of the last forces
            let gas = if plan.sph.is_some() { kept.with(&RATES).with(&LEFT) } else { kept };
            phases.push(gas.gravity());
        }
        if plan.interaction.is_some() {
            phases.push(
                kept.packed::<laws::lennard_jones::Law<f64>>().sums::<laws::lennard_jones::Law<f64>>().bytes,
            );
        }
        Estimate { fixed: FIXED, per_particle: phases.into_iter().fold(0.0, f64::max) }
    }
}

impl Estimate {
    /// Bytes of a run of so many particles on one rank.
    pub fn total(&self, particles: u64) -> f64 {
        self.fixed + particles as f64 * self.per_particle
    }

    /// The estimate of so many particles on one rank in words: the total, and what of it does not grow with them, which is most of
    /// a small run.
    pub fn text(&self, particles: u64) -> String {
        format!(
            "about {} on one rank: {} whatever the number of particles, and {:.0} bytes for each",
            bytes(self.total(particles)),
            bytes(self.fixed),
            self.per_particle
        )
    }
}

/// Rates of the last forces, during a step.
const RATES: [Field; 2] = [Field::KickAcceleration, Field::KickEnergyRate];

/// What the passes of a gas leave.
const LEFT: [Field; 3] = [Field::Pressure, Field::SoundSpeed, Field::SignalSpeed];

/// The passes of a gas that hold most. The rates of the last forces stand in the place of the new ones until momentum and
/// energy have been packed, and the sums of full lists are written chunk by chunk.
fn gas(kept: Rows, formulation: Formulation) -> [f64; 3] {
    use Field::*;
    let elements: &[Field] = if formulation == Formulation::VolumeElements { &[VolumeElement] } else { &[] };
    // with the supports
    let state = kept.with(&[Pressure, SoundSpeed]).and(8.0);
    let spent = state.with(&[GradH, GradientMatrix]).with(elements);
    let viscosity = spent.with(&[VelocityCurl, DivergenceGradient]);
    let viscosity = viscosity.packed::<laws::divergence_gradient::Law<f64>>();
    let left = kept.with(&RATES).with(&LEFT).and(8.0);
    let packed = |rows: Rows| match formulation {
        Formulation::Standard => rows.packed::<laws::momentum_energy_standard::Law<f64>>(),
        Formulation::VolumeElements => rows.packed::<laws::momentum_energy_volume::Law<f64>>(),
    };
    [viscosity.bytes, packed(spent).bytes, packed(left).bytes]
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

    /// With what pairs of a law need, packed with offsets, squared radius and the clusters' bounds.
    fn packed<L: PairLaw>(self) -> Self {
        self.and((4 + L::Prepared::<f64>::COUNT) as f64 * self.lane + 4.75)
    }

    /// With the sums of a law over half lists, and its work.
    fn sums<L: PairLaw>(self) -> Self {
        self.and(8.0 * (DOUBLING * L::SUMS.len() as f64 + 1.0))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_grow_with_the_particles_is_told() {
        let estimate = Estimate { fixed: 38e6, per_particle: 340.0 };
        assert_eq!(
            estimate.text(20),
            "about 38.0 MB on one rank: 38.0 MB whatever the number of particles, and 340 bytes for each"
        );
        assert!(estimate.text(1_000_000).starts_with("about 378 MB on one rank: 38.0 MB whatever"));
    }
}
