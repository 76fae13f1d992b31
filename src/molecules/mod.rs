//! Molecular dynamics: the forces of one interaction of pairs; the laws themselves are in [`crate::laws`].

use fearless_simd::Simd;

use crate::deck::plan::{self, InteractionPlan, Truncation};
use crate::domain::Domain;
use crate::laws::{lennard_jones, lennard_jones_switched, mie, yukawa};
use crate::neighbors::{NeighborList, Neighborhood};
use crate::pair::pieces::{PIECE, Piece, Work, by_pieces};
use crate::pair::{Energies, Forces, PairLaw, Pass, Precision, sweep};
use crate::particles::{Field, Particles};

/// The interaction with its constants.
#[derive(Clone, Copy, Debug)]
enum Interaction {
    LennardJones(lennard_jones::Law<f64>),
    LennardJonesSwitched(lennard_jones_switched::Law<f64>),
    Mie(mie::Law<f64>),
    Yukawa(yukawa::Law<f64>),
}

/// Particles that act on each other in pairs, as far as a cutoff.
#[derive(Clone, Copy, Debug)]
pub struct Molecules {
    interaction: Interaction,
    cutoff: f64,
    precision: Precision,
}

impl Molecules {
    /// The fields that the forces need.
    pub const FIELDS: [Field; 3] = [Field::Force, Field::PairEnergy, Field::Virial];

    /// The interaction of a plan.
    pub fn new(plan: &InteractionPlan, precision: Precision) -> Self {
        let interaction = match plan.law {
            plan::Interaction::LennardJones { epsilon, sigma, truncation, switch_start } => {
                match truncation {
                    Truncation::Plain => {
                        Interaction::LennardJones(lennard_jones::Law::truncated(epsilon, sigma))
                    }
                    Truncation::Shifted => {
                        Interaction::LennardJones(lennard_jones::Law::shifted(epsilon, sigma, plan.cutoff))
                    }
                    Truncation::Switched => Interaction::LennardJonesSwitched(
                        lennard_jones_switched::Law::new(epsilon, sigma, switch_start, plan.cutoff),
                    ),
                }
            }
            plan::Interaction::Mie { epsilon, sigma, repulsive, attractive } => {
                Interaction::Mie(mie::Law::truncated(epsilon, sigma, repulsive, attractive))
            }
            plan::Interaction::Yukawa { strength, screening } => {
                Interaction::Yukawa(yukawa::Law { strength, screening, shift: 0.0 })
            }
        };
        Molecules { interaction, cutoff: plan.cutoff, precision }
    }

    /// Set the accelerations of the owned particles, and leave the forces in their column. Returns whether all
    /// accelerations are finite.
    pub fn forces(&self, domain: &Domain, neighborhood: &Neighborhood, particles: &mut Particles) -> bool {
        self.evaluate_forces(domain, neighborhood, particles);
        by_pieces(particles, &Accelerate).into_iter().all(|finite| finite)
    }

    /// Leave the forces in their column, and no more.
    pub fn evaluate_forces(&self, domain: &Domain, neighborhood: &Neighborhood, particles: &mut Particles) {
        self.evaluate(Wanted::Forces, domain, neighborhood, particles);
    }

    /// Leave energies and virials at the present positions in their columns, where their halos and the list are those of
    /// the last forces.
    pub fn energies(&self, domain: &Domain, neighborhood: &Neighborhood, particles: &mut Particles) {
        self.evaluate(Wanted::Energies, domain, neighborhood, particles);
    }

    fn evaluate(
        &self,
        wanted: Wanted,
        domain: &Domain,
        neighborhood: &Neighborhood,
        particles: &mut Particles,
    ) {
        let Some(list) = neighborhood.list() else { return };
        let radius = vec![self.cutoff; particles.len()];
        let pass = Pass { bx: &domain.bx, radius: &radius, precision: self.precision, active: None };
        let (pass, list) = (&pass, list);
        match &self.interaction {
            Interaction::LennardJones(law) => wanted.sweep(law, pass, list, particles),
            Interaction::LennardJonesSwitched(law) => wanted.sweep(law, pass, list, particles),
            Interaction::Mie(law) => wanted.sweep(law, pass, list, particles),
            Interaction::Yukawa(law) => wanted.sweep(law, pass, list, particles),
        }
    }
}

/// What is evaluated of an interaction.
#[derive(Clone, Copy, Debug)]
enum Wanted {
    Forces,
    Energies,
}

impl Wanted {
    fn sweep<L: PairLaw>(self, law: &L, pass: &Pass, list: &NeighborList, particles: &mut Particles) {
        match self {
            Wanted::Forces => sweep(&Forces(*law), pass, list, particles),
            Wanted::Energies => sweep(&Energies(*law), pass, list, particles),
        };
    }
}

/// a = F / m.
struct Accelerate;

impl Work<7> for Accelerate {
    type Output = bool;
    const WANTED: [(Field, usize); 7] = [
        (Field::Mass, 0),
        (Field::Force, 0),
        (Field::Force, 1),
        (Field::Force, 2),
        (Field::Acceleration, 0),
        (Field::Acceleration, 1),
        (Field::Acceleration, 2),
    ];
    #[inline(always)]
    fn run<S: Simd>(&self, _: S, piece: Piece<7>) -> bool {
        let [mass, f0, f1, f2, a0, a1, a2] = piece.columns;
        // one division a row
        let mut inverse = [0.0; PIECE];
        inverse.iter_mut().zip(mass.iter()).for_each(|(inverse, mass)| *inverse = 1.0 / mass);
        let mut finite = true;
        for (force, acceleration) in [(f0, a0), (f1, a1), (f2, a2)] {
            for ((a, f), inverse) in acceleration.iter_mut().zip(force.iter()).zip(&inverse) {
                *a = f * inverse;
                finite &= a.is_finite();
            }
        }
        finite
    }
}
