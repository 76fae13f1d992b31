//! Pair forces of molecules on processors; the laws are in [`crate::laws`].

mod ewald;
mod tail;

pub use ewald::EwaldMesh;
pub use tail::Tail;

use fearless_simd::Simd;

use crate::comm::Communicator;
use crate::domain::Domain;
use crate::far::mesh::{ChargeStatistics, MeshSettings, Request};
use crate::faults::{Fault, planted};
use crate::laws::InteractionLaw;
use crate::laws::coulomb::{self, Charges, MOST_MESH_POINTS};
pub use crate::laws::interaction::LawVisitor;
use crate::laws::interaction::Laws;
use crate::neighborhood::Neighborhood;
use crate::neighbors::{Radii, SUPER_CLUSTER};
use crate::pair::smooth::MOST_SPLIT;
use crate::pair::{
    Energies, FinishedRows, Forces, Instructions, PairLaw, Pass, Precision, RowCallback, Sweep,
};
use crate::particles::{Field, OverlappedWork, Particles};
use crate::plan::{Interaction, InteractionPlan, Plan, SpeciesPlan};
use crate::simd::{Task, dispatch};
use crate::space::SimulationBox;
use crate::units::Units;
use rayon::prelude::*;
use std::sync::atomic::{AtomicBool, Ordering};

/// Pair interaction of molecules within a cutoff.
#[derive(Clone, Debug)]
pub struct Molecules {
    /// Pair law, including the interaction of charges.
    law: Option<InteractionLaw>,
    charges: Option<Charges>,
    /// Larger cutoff of the law and of the charges.
    cutoff: f64,
    /// [`crate::laws::interaction::Potential::mixed`]
    mixed: Vec<[f64; 2]>,
    precision: Precision,
    /// Tail correction of the observables for pairs beyond the cutoff.
    pub tail: Option<Tail>,
    /// Total charge of all particles.
    net_charge: f64,
    /// The mesh of an Ewald sum, if the charges have one.
    ewald: Option<Ewald>,
    /// Notes on the law.
    notes: Vec<String>,
}

/// The Ewald sum of the charges.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ewald {
    /// The mesh.
    pub settings: MeshSettings,
    /// Coulomb's constant in the units of the run.
    pub constant: f64,
    /// Estimated root mean square error of the forces, in units of the force between two typical charges at
    /// their mean distance, and the requested one.
    pub errors: [f64; 2],
}

/// Net charges up to this value are rounding errors.
const NEUTRAL: f64 = 1e-6;

/// Outputs of an evaluation.
#[derive(Clone, Copy, Debug)]
enum Wanted {
    Forces,
    /// Forces, overlapped with the exchange of halo positions.
    ForcesAndHalos,
    Energies,
}

/// Arguments of an evaluation.
struct Evaluation<'a> {
    wanted: Wanted,
    domain: &'a Domain,
    neighborhood: &'a Neighborhood,
    particles: &'a mut Particles,
    /// Callback on rows whose forces are written.
    row_callback: Option<&'a RowCallback<'a>>,
}

impl Molecules {
    /// Fields that the forces of a plan need.
    pub fn fields(plan: &Plan) -> Vec<Field> {
        let mut fields = Vec::new();
        let law = plan.interaction.as_ref().and_then(|interaction| interaction.law.as_ref());
        if plan.species.len() > 1 || law.is_some_and(Interaction::needs_species) {
            fields.push(Field::Species);
        }
        let Some(interaction) = &plan.interaction else { return fields };
        fields.extend([Field::Force, Field::PairEnergy, Field::Virial]);
        if interaction.coulomb.is_some() {
            fields.push(Field::Charge);
        }
        if !mixed_parameters(plan, interaction).is_empty() {
            fields.extend([Field::HalfSigma, Field::RootEpsilon]);
        }
        fields
    }

    /// The interaction of a plan for these particles. Collective.
    pub fn new(
        plan: &Plan,
        interaction: &InteractionPlan,
        comm: &Communicator,
        bx: &SimulationBox,
        particles: &Particles,
        precision: Precision,
    ) -> Self {
        let ewald = ewald(plan, interaction, comm, bx, particles);
        let coulomb = interaction.coulomb.as_ref();
        let splitting = ewald.map(|ewald| ewald.settings.splitting);
        let charges = coulomb.map(|coulomb| coulomb.charges(plan.units.coulomb, splitting));
        let law = interaction.law.as_ref();
        let tail = law
            .filter(|law| law.tail_corrected())
            .map(|law| Tail::new(law, &counts(&plan.species, comm, particles)));
        let net_charge = if charges.is_some() { net_charge(comm, particles) } else { 0.0 };
        Molecules {
            mixed: mixed_parameters(plan, interaction),
            law: law.map(|law| law.law(charges.as_ref())),
            charges,
            cutoff: interaction.cutoff,
            precision,
            tail,
            net_charge,
            ewald,
            notes: law.map_or_else(Vec::new, Interaction::notes),
        }
    }

    /// Notes for the user before the run, in a box of this volume.
    pub fn notes(&self, units: &Units, volume: f64) -> Vec<String> {
        let mut notes = self.notes.clone();
        if let Some(tail) = &self.tail {
            let (energy, pressure) = (tail.energy(volume), tail.virial(volume) / (3.0 * volume));
            notes.push(format!(
                "tail: pairs beyond {} {} add {energy:.6e} {} to the potential energy and {pressure:.6e} {} to the \
                 pressure of the record",
                tail.cutoff,
                units.name([0, 1, 0]),
                units.name([1, 2, -2]),
                units.name([1, -1, -2]),
            ));
        }
        if let Some(Ewald { settings, errors, .. }) = &self.ewald {
            let MeshSettings { points: [x, y, z], order, splitting } = settings;
            let [error, requested] = errors;
            let beyond = if error > requested { ", more than the tolerance" } else { "" };
            notes.push(format!(
                "Ewald sum: splitting {splitting:.6} {}, mesh {x} x {y} x {z}, order {order}; estimated error of the forces \
                 {error:.1e} of that between two charges at their mean distance{beyond}",
                units.name([0, -1, 0]),
            ));
        }
        if self.net_charge.abs() > NEUTRAL {
            let effect = match self.ewald {
                Some(_) => "an even background of the opposite charge makes the box neutral",
                None => "their energy depends on the cutoff without limit",
            };
            notes.push(format!(
                "the particles have a net charge of {} {}: {effect}",
                self.net_charge,
                units.charge_name()
            ));
        }
        notes
    }

    /// Computes forces and accelerations of the owned particles. With `halo_exchange` it receives the halo
    /// positions while interior super-clusters are swept. Returns whether all accelerations are finite.
    /// Collective with `halo_exchange`.
    pub fn forces(
        &self,
        domain: &Domain,
        neighborhood: &Neighborhood,
        particles: &mut Particles,
        halo_exchange: bool,
    ) -> bool {
        self.prepare(particles);
        let wanted = if halo_exchange { Wanted::ForcesAndHalos } else { Wanted::Forces };
        let finite = AtomicBool::new(true);
        let accelerate = |finished: FinishedRows| {
            if !dispatch(Instructions::Best, Accelerate(finished)) {
                finite.store(false, Ordering::Relaxed);
            }
        };
        let callback = RowCallback { fields: &[Field::Acceleration], call: &accelerate };
        let row_callback = Some(&callback);
        let mut evaluation = Evaluation { wanted, domain, neighborhood, particles, row_callback };
        if !self.evaluate(&mut evaluation) {
            // no interaction or no list
            particles.fill(Field::Acceleration, 0.0);
        }
        finite.into_inner()
    }

    /// Computes the forces only, without accelerations.
    pub fn evaluate_forces(&self, domain: &Domain, neighborhood: &Neighborhood, particles: &mut Particles) {
        self.prepare(particles);
        let wanted = Wanted::Forces;
        self.evaluate(&mut Evaluation { wanted, domain, neighborhood, particles, row_callback: None });
    }

    /// Computes energies and virials at the current positions, with the halos and the list of the last force
    /// evaluation.
    pub fn energies(&self, domain: &Domain, neighborhood: &Neighborhood, particles: &mut Particles) {
        let wanted = Wanted::Energies;
        self.evaluate(&mut Evaluation { wanted, domain, neighborhood, particles, row_callback: None });
    }

    /// Returns whether a sweep took place: there are a law and a list.
    fn evaluate(&self, evaluation: &mut Evaluation) -> bool {
        let mut visitor = SweepVisitor { molecules: self, evaluation, swept: false };
        self.visit(&mut visitor);
        visitor.swept
    }

    /// Calls the visitor with the pair law, including the interaction of charges.
    pub fn visit<V: LawVisitor>(&self, visitor: &mut V) {
        match (&self.law, &self.charges) {
            (Some(law), _) => law.visit(visitor),
            (None, Some(charges)) => visitor.visit(&charges.law),
            (None, None) => {}
        }
    }

    /// The Ewald sum of the charges, if they have one.
    pub fn ewald(&self) -> Option<&Ewald> {
        self.ewald.as_ref()
    }

    /// Larger cutoff of the law and of the charges.
    pub fn cutoff(&self) -> f64 {
        self.cutoff
    }

    /// sigma / 2 and sqrt(epsilon) per species, or one entry for all particles, if the law mixes them by
    /// rule; otherwise empty.
    pub fn mixed(&self) -> &[[f64; 2]] {
        &self.mixed
    }

    /// Fills the columns `HalfSigma` and `RootEpsilon` of all rows from the species.
    fn prepare(&self, particles: &mut Particles) {
        for (k, field) in [Field::HalfSigma, Field::RootEpsilon].into_iter().enumerate() {
            match self.mixed.as_slice() {
                [] => {}
                [one] => particles.fill(field, one[k]),
                kinds => {
                    let [species, column] = particles.components_mut([(Field::Species, 0), (field, 0)]);
                    column.par_iter_mut().with_min_len(4096).zip(&*species).for_each(|(value, &species)| {
                        *value = kinds[species as usize][k];
                    });
                }
            }
        }
    }

    /// Sweeps a law over the list. Returns false if there is no list.
    fn sweep<L: PairLaw>(&self, law: &L, evaluation: &mut Evaluation) -> bool {
        let (domain, Some(list)) = (evaluation.domain, evaluation.neighborhood.list()) else { return false };
        let factor = if planted(Fault::CutoffShort) { 0.98 } else { 1.0 };
        let radius = Radii::All(factor * self.cutoff());
        let pass = Pass { bx: &domain.bx, radius, precision: self.precision, active: None };
        let mut halo_exchange = |particles: &mut Particles, meanwhile: &mut OverlappedWork| {
            domain.exchange_halos_while(particles, &[Field::Position], Some(meanwhile));
        };
        let mut sweep = Sweep::new(&pass, list);
        if let Wanted::ForcesAndHalos = evaluation.wanted {
            sweep = sweep.exchanging_halos(&mut halo_exchange);
        }
        if list.shares_pairs() {
            sweep = sweep.returning_reactions(domain);
        }
        if let Some(callback) = evaluation.row_callback {
            sweep = sweep.on_rows(callback);
        }
        match evaluation.wanted {
            // rare, and printed with many digits: double precision
            Wanted::Energies => sweep.run_in_double(&Energies(*law), evaluation.particles),
            Wanted::Forces | Wanted::ForcesAndHalos => sweep.run(&Forces(*law), evaluation.particles),
        };
        true
    }
}

/// Sweeps the law that it visits.
struct SweepVisitor<'s, 'p> {
    molecules: &'s Molecules,
    evaluation: &'s mut Evaluation<'p>,
    swept: bool,
}

impl LawVisitor for SweepVisitor<'_, '_> {
    fn visit<L: PairLaw>(&mut self, law: &L) {
        self.swept = self.molecules.sweep(law, self.evaluation);
    }
}

/// Chooses the mesh of the charges, if the plan has one. Collective.
fn ewald(
    plan: &Plan,
    interaction: &InteractionPlan,
    comm: &Communicator,
    bx: &SimulationBox,
    particles: &Particles,
) -> Option<Ewald> {
    let coulomb = interaction.coulomb.as_ref()?;
    let requested = coulomb.ewald?;
    let charges = particles.scalar(Field::Charge);
    let owned = particles.owned();
    let mut sums = [owned.len() as f64, owned.map(|row| charges[row] * charges[row]).sum()];
    comm.all_sum(&mut sums);
    let lengths = bx.lengths();
    let statistics = ChargeStatistics {
        particles: sums[0].max(1.0),
        squared: sums[1].max(1e-100),
        lengths: [0, 1, 2].map(|d| lengths[d]),
    };
    let request = Request {
        tolerance: requested.tolerance,
        cutoff: coulomb.cutoff,
        points: requested.mesh,
        order: requested.order,
        splitting: requested.splitting,
        most_points: MOST_MESH_POINTS,
        most_split: MOST_SPLIT,
    };
    let settings = statistics.choose(&request);
    let errors = [statistics.error(&settings, coulomb.cutoff), requested.tolerance];
    Some(Ewald { settings, constant: plan.units.coulomb, errors })
}

/// Returns [`Molecules::mixed`] of a plan.
fn mixed_parameters(plan: &Plan, interaction: &InteractionPlan) -> Vec<[f64; 2]> {
    // only the cutoff matters
    let law = coulomb::Law::plain(plan.units.coulomb);
    let charges = interaction.coulomb.as_ref().map(|coulomb| Charges { law, cutoff: coulomb.cutoff });
    interaction.law.as_ref().map_or_else(Vec::new, |law| law.mixed(charges.as_ref()))
}

/// Returns the total charge over all ranks. Collective.
fn net_charge(comm: &Communicator, particles: &Particles) -> f64 {
    let charges = particles.scalar(Field::Charge);
    let mut sum = [particles.owned().map(|row| charges[row]).sum()];
    comm.all_sum(&mut sum);
    sum[0]
}

/// Counts the particles per species over all ranks. Collective.
fn counts(species: &[SpeciesPlan], comm: &Communicator, particles: &Particles) -> Vec<u64> {
    let mut counts = vec![0; species.len().max(1)];
    for row in particles.owned() {
        let of =
            if particles.has(Field::Species) { particles.scalar(Field::Species)[row] as usize } else { 0 };
        counts[of] += 1;
    }
    comm.all_sum(&mut counts);
    counts
}

/// Computes a = F / m of a row range. Returns whether all are finite.
struct Accelerate<'f, 'c>(FinishedRows<'f, 'c>);

impl Task for Accelerate<'_, '_> {
    type Output = bool;
    type Scalar = f64;

    #[inline(always)]
    fn run<S: Simd>(self, _: S) -> bool {
        let FinishedRows { particles, rows, outputs: force, columns: acceleration } = self.0;
        let mass = &particles.scalar(Field::Mass)[rows];
        let (mut inverse, mut finite) = ([0.0; SUPER_CLUSTER], true);
        for (block, mass) in mass.chunks(SUPER_CLUSTER).enumerate() {
            // one division per row
            inverse.iter_mut().zip(mass).for_each(|(inverse, mass)| *inverse = 1.0 / mass);
            let rows = block * SUPER_CLUSTER..block * SUPER_CLUSTER + mass.len();
            for (force, acceleration) in force.iter().zip(acceleration.iter_mut()) {
                let rows = acceleration[rows.clone()].iter_mut().zip(&force[rows.clone()]);
                for ((a, f), inverse) in rows.zip(&inverse) {
                    *a = f * inverse;
                    finite &= a.is_finite();
                }
            }
        }
        finite
    }
}
