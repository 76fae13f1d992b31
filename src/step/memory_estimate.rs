//! Estimate of the peak memory of a run.

use super::Simulation;
use crate::laws;
use crate::memory::bytes;
use crate::neighborhood::Method;
use crate::pair::PairLaw;
use crate::pair::law::Columns;
use crate::particles::Field;
use crate::plan::{Formulation, Plan, Precision};
use crate::space::Boundary;

/// Memory independent of the particle number (bytes): the program with libraries and MPI (22 MB), scratch of
/// the neighbor search per thread, and memory retained by the allocator.
const FIXED: f64 = 38e6;

/// Mean overallocation factor of a vector that grows by doubling.
const DOUBLING: f64 = 1.5;

/// Neighbors per particle if the deck does not set it.
const USUAL_NEIGHBORS: f64 = 100.0;

/// Size of a compressed full cluster list per neighbor (bytes), including the margin for growing radii.
const LIST: f64 = 0.029;

/// Nodes of the gravity tree per particle, times the leaf capacity.
const NODES: f64 = 3.4;

/// Mesh points per particle of gravity in a periodic box: four, rounded up to lengths of fast transforms.
const POINTS_OF_GRAVITY: f64 = 4.6;

/// Mesh points per particle of an Ewald sum, at usual tolerances and cutoffs.
const POINTS_OF_CHARGES: f64 = 8.0;

/// Numbers in the mesh's precision per mesh point: the mesh, its influence function (half of it), and buffers
/// of transforms.
const NUMBERS_PER_POINT: f64 = 2.0;

/// Bytes per particle of spreading and interpolation: their order, potential and gradient.
const OF_SPREADING: f64 = 50.0;

/// Memory of a run on one rank (bytes): `fixed + per_particle * particles`. On several ranks, each has the
/// fixed part, and halos in addition to its own particles.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// Independent of the number of particles.
    pub fixed: f64,
    /// Per particle.
    pub per_particle: f64,
}

impl Estimate {
    /// Estimates the memory of a plan: the maximum over its phases.
    pub fn of(plan: &Plan) -> Self {
        let kept = Rows { lane: lane(plan), bytes: 16.0 }.with(&Simulation::fields(plan)).and(listed(plan));
        let mut phases = vec![kept.bytes];
        if let Some(sph) = &plan.sph {
            phases.extend(gas(kept, sph.formulation));
        }
        if plan.gravity.is_some() {
            // with a gas, the outputs of its passes and the rates of the last forces are held too
            let gas = if plan.sph.is_some() { kept.with(&RATES).with(&LEFT) } else { kept };
            phases.push(gas.gravity());
        }
        if plan.interaction.is_some() {
            phases.push(
                kept.packed::<laws::lennard_jones::Law<f64>>().sums::<laws::lennard_jones::Law<f64>>().bytes,
            );
        }
        let mesh = mesh(plan);
        Estimate {
            fixed: FIXED + mesh.fixed,
            per_particle: phases.into_iter().fold(0.0, f64::max) + mesh.per_particle,
        }
    }
}

/// Returns the memory of the mesh of an Ewald sum or of gravity in a periodic box.
fn mesh(plan: &Plan) -> Estimate {
    let periodic = plan.space.boundary_or_open() == [Boundary::Periodic; 3];
    let ewald = plan.interaction.as_ref().and_then(|interaction| interaction.coulomb.as_ref()?.ewald);
    let (points, of_particle) = match (&plan.gravity, ewald) {
        (Some(gravity), _) if periodic => {
            (gravity.mesh.map(|mesh| mesh.map(|points| points as f64)), POINTS_OF_GRAVITY)
        }
        (_, Some(ewald)) => (ewald.mesh.map(|mesh| mesh.map(|points| points as f64)), POINTS_OF_CHARGES),
        _ => return Estimate { fixed: 0.0, per_particle: 0.0 },
    };
    let point = NUMBERS_PER_POINT * lane(plan);
    match points {
        Some(points) => {
            Estimate { fixed: points.iter().product::<f64>() * point, per_particle: OF_SPREADING }
        }
        None => Estimate { fixed: 0.0, per_particle: of_particle * point + OF_SPREADING },
    }
}

impl Estimate {
    /// Returns the memory of a run with `particles` particles on one rank (bytes).
    pub fn total(&self, particles: u64) -> f64 {
        self.fixed + particles as f64 * self.per_particle
    }

    /// Formats the estimate for `particles` particles on one rank: the total and its fixed part, which
    /// dominates small runs.
    pub fn text(&self, particles: u64) -> String {
        format!(
            "about {} on one rank: {} whatever the number of particles, and {:.0} bytes for each",
            bytes(self.total(particles)),
            bytes(self.fixed),
            self.per_particle
        )
    }
}

/// Rates of the last forces, held during a step.
const RATES: [Field; 2] = [Field::KickAcceleration, Field::KickEnergyRate];

/// Outputs of the gas passes.
const LEFT: [Field; 3] = [Field::Pressure, Field::SoundSpeed, Field::SignalSpeed];

/// Returns the memory of the gas passes with the highest use. The rates of the last forces occupy the columns
/// of the new ones until momentum and energy have been packed. Sums of full lists are written chunk by chunk.
fn gas(kept: Rows, formulation: Formulation) -> [f64; 3] {
    use Field::*;
    let elements: &[Field] = if formulation == Formulation::VolumeElements { &[VolumeElement] } else { &[] };
    // including the supports
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

/// Returns the size of a number in the lanes of the passes (bytes).
fn lane(plan: &Plan) -> f64 {
    match plan.run.precision {
        Precision::Mixed => 4.0,
        Precision::Double => 8.0,
    }
}

/// Returns the size per particle (bytes) of the list, its radii, and the positions at its last build.
fn listed(plan: &Plan) -> f64 {
    let neighbors = plan.sph.as_ref().map_or(USUAL_NEIGHBORS, |sph| sph.neighbors);
    let list = match (
        Method::before_choice(plan.neighbors.method),
        plan.sph.is_some() || plan.interaction.is_some(),
    ) {
        (_, false) => return 0.0,
        (Method::Clusters, true) => LIST * neighbors,
        (Method::Particles, true) => 4.5 * neighbors,
        // rows in the order of cells, cells of rows, cells
        (Method::Cells | Method::Search, true) => 16.0,
    };
    let built = if plan.interaction.is_some() || plan.neighbors.min_skin() > 0.0 { 40.0 } else { 0.0 };
    list + 8.0 + built
}

/// Memory per particle in some phase (bytes).
#[derive(Clone, Copy)]
struct Rows {
    lane: f64,
    bytes: f64,
}

impl Rows {
    fn and(self, bytes: f64) -> Self {
        Rows { bytes: self.bytes + bytes, ..self }
    }

    /// Adds the columns of fields.
    fn with(self, fields: &[Field]) -> Self {
        self.and(8.0 * components(fields))
    }

    /// Adds the packed inputs of a law, with offsets, squared radius and cluster bounds.
    fn packed<L: PairLaw>(self) -> Self {
        self.and((4 + L::Prepared::<f64>::COUNT) as f64 * self.lane + 4.75)
    }

    /// Adds the sums of a law over half lists, and the work column.
    fn sums<L: PairLaw>(self) -> Self {
        self.and(8.0 * (DOUBLING * L::SUMS.len() as f64 + 1.0))
    }

    /// Adds the gravity tree, its sources, and the interaction lists of particle groups.
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
