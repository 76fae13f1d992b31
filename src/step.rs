//! A simulation and its time step: halos and lists, forces, motion, and the choice of the next step length,
//! each phase timed. The order of a step is in [`crate::motion::steps`], that of the gas passes in
//! [`crate::sph::passes`].

use crate::allocator;
use crate::clock::Clock;
use crate::comm::Communicator;
use crate::deck::BoxMismatch;
use crate::domain::{Domain, DomainSettings};
use crate::far::external::ExternalField;
use crate::far::net_force::{self, NetForce};
use crate::far::{self, Criterion, GravityPlan, SelfGravity, SofteningKernel};
use crate::faults::{Fault, planted};
use crate::molecules::{EwaldMesh, Molecules};
use crate::motion::steps;
use crate::motion::thermostat::Thermostat;
use crate::motion::time_step::{self, Limit};
use crate::neighborhood::{Chosen, Costs, Due, InteractionRange, Neighborhood};
use crate::neighbors::not_finite;
use crate::observe::{Observables, observe};
use crate::pair::Precision;
use crate::particles::{Field, Particles, Role};
use crate::plan::{self, Plan, TimeStepPlan};
use crate::space::SimulationBox;
use crate::sph::{self, Hydrodynamics, Processors};
use crate::{Error, Result};
use rayon::prelude::*;

pub mod fixed;
mod leapfrog;
mod memory_estimate;
mod minimize;
mod neighbors;
mod notes;
mod resident;
mod state;
mod verlet;

pub use memory_estimate::Estimate;
pub use minimize::Minimized;
pub use resident::Resident;

use state::{Freshness, Residence, Synced, Velocities};

/// State of a run on this rank, and everything that advances it.
pub struct Simulation {
    /// Settings from the deck.
    pub plan: Plan,
    /// Owners of the keys, halos, communicator and box.
    pub domain: Domain,
    /// Particles of this rank. Call [`Neighborhood::invalidate`] after moving them other than by a step.
    pub particles: Particles,
    /// Neighbor list.
    pub neighborhood: Neighborhood,
    /// Gas passes, with `[sph]`.
    pub hydrodynamics: Option<Hydrodynamics>,
    /// Pair forces, with `[interaction]`.
    pub molecules: Option<Molecules>,
    /// Mesh of the charges' Ewald sum, from its first evaluation on processors on.
    ewald: Option<EwaldMesh>,
    /// Gravity, with `[gravity]`.
    pub gravity: Option<SelfGravity>,
    /// External accelerations, with `[external]`.
    pub external: Option<ExternalField>,
    /// Thermostat, with `[thermostat]`.
    pub thermostat: Option<Thermostat>,
    /// Heat added to the particles so far, by the thermostat and (negative) by removing the drift of the
    /// center of mass.
    pub heat: f64,
    /// Measured costs of lists, if the skins were tuned by them.
    pub list_costs: Option<Costs>,
    /// Method and skins, if they were chosen by measuring.
    pub chosen: Option<Chosen>,
    /// The candidates of that choice with their times, for checkpoints.
    pub candidates: serde_json::Value,
    /// Arithmetic of the passes.
    pub precision: Precision,
    /// Phase timers.
    pub clock: Clock,
    /// Simulated time.
    pub time: f64,
    /// Number of steps done.
    pub step: u64,
    /// Length of the next step, as limited by the criteria.
    pub next_step: f64,
    /// The criterion that limits it.
    pub limit: Limit,
    /// When the forces measure the work per particle, for load balancing between ranks.
    pub(crate) counts_work: CountsWork,
    /// Pair energies and virials.
    energies: Freshness,
    /// Where the particles are.
    residence: Residence,
    /// Velocities of the host's particles.
    velocities: Velocities,
}

impl Simulation {
    /// Fields of the particles of a plan between steps, without outputs of the forces.
    pub fn fields(plan: &Plan) -> Vec<Field> {
        use Field::*;
        let mut fields = vec![Position, Velocity, Mass, Acceleration, Work];
        if plan.sph.is_some() {
            fields.extend(Hydrodynamics::FIELDS);
        }
        fields.extend(Molecules::fields(plan));
        let trajectory = plan.output.trajectory.as_ref();
        let images = trajectory.is_some_and(|trajectory| trajectory.images);
        if images || plan.measure.mean_square_displacement.is_some() {
            fields.push(Image);
        }
        fields
    }

    /// A simulation of these particles at time 0, before the first force evaluation. Collective.
    pub fn new(plan: Plan, comm: &Communicator, space: SimulationBox, particles: Particles) -> Self {
        let precision = match plan.run.precision {
            plan::Precision::Mixed => Precision::Mixed,
            plan::Precision::Double => Precision::Double,
        };
        let reach = reach_of(&plan);
        let skins = neighbors::first_skins(&plan, &space, neighbors::FIRST_SKIN);
        let neighborhood = Neighborhood::new(&plan.neighbors, reach, skins);
        let settings = DomainSettings {
            bucket_size: plan.neighbors.bucket_size,
            across: neighborhood.across(),
            ..DomainSettings::default()
        };
        let interaction = plan.interaction.as_ref();
        let molecules = interaction
            .map(|interaction| Molecules::new(&plan, interaction, comm, &space, &particles, precision));
        Simulation {
            ewald: None,
            domain: Domain::new(comm.clone(), space, settings),
            molecules,
            neighborhood,
            hydrodynamics: plan.sph.as_ref().map(|sph| Hydrodynamics::new(sph, precision)),
            gravity: plan.gravity.as_ref().map(|plan| SelfGravity::new(&gravity_of(plan))),
            external: plan.external.as_ref().map(external_of),
            thermostat: plan
                .motion
                .thermostat
                .as_ref()
                .map(|thermostat| Thermostat::new(thermostat, &plan.units)),
            heat: 0.0,
            list_costs: None,
            chosen: None,
            candidates: serde_json::Value::Null,
            precision,
            clock: Clock::new(),
            time: 0.0,
            step: 0,
            next_step: 0.0,
            limit: Limit::Setting,
            counts_work: CountsWork::of(&plan, comm.size()),
            energies: Freshness::Outdated,
            residence: Residence::Host,
            velocities: Velocities::Synchronized,
            particles,
            plan,
        }
    }

    /// Performs a time step of length `dt`.
    ///
    /// # Errors
    /// Those of [`steps::leapfrog_step`] and [`steps::verlet_step`], with the number of the step. After
    /// errors of the forces the particles are back at the start of the step.
    pub fn advance(&mut self, dt: f64) -> Result<()> {
        self.advance_with_pending_kick(dt)?;
        self.synchronize_velocities();
        Ok(())
    }

    /// As [`Self::advance`], but may leave the second half kick pending until the next step.
    /// [`Self::copy_to_host`] and [`Self::observe`] complete it.
    ///
    /// # Errors
    /// Those of [`Self::advance`].
    pub fn advance_with_pending_kick(&mut self, dt: f64) -> Result<()> {
        // only gas forces depend on velocities
        let advanced = match (&self.residence, &self.hydrodynamics) {
            (Residence::Device { .. }, _) => self.advance_resident(dt),
            (Residence::Host, Some(_)) => steps::leapfrog_step(self, dt),
            (Residence::Host, None) => self.advance_verlet(dt),
        };
        advanced.map_err(|error| error.at_step(self.step + 1))?;
        let (step, end) = (self.plan.time_step.fixed, self.plan.run.end_time);
        self.time = fixed::time_after(self.time, dt, step, end);
        self.step += 1;
        self.choose_step(Some(self.next_step.max(dt)))?;
        self.clock.lap("kick");
        Ok(())
    }

    /// Whether [`Self::advance_steps`] may perform several steps of length `dt`.
    pub fn enqueues_steps(&self, dt: f64) -> bool {
        let of_molecules = matches!(self.residence.resident(), Some(Resident::Verlet(_)));
        of_molecules && self.plan.time_step.fixed == Some(dt)
    }

    /// As [`Self::advance_with_pending_kick`], for at least one step and at most `most`; returns their
    /// number. A device performs several of a fixed length without the host, until its list ends.
    ///
    /// # Errors
    /// Those of [`Self::advance`]; the steps before the one that failed are performed and counted.
    pub fn advance_steps(&mut self, dt: f64, most: u64) -> Result<u64> {
        if most < 2 || !self.enqueues_steps(dt) {
            return self.advance_with_pending_kick(dt).map(|()| 1);
        }
        let advanced = self.advance_resident_steps(dt, most);
        let count = advanced.map_err(|error| error.at_step(self.step + 1))?;
        self.choose_step(Some(self.next_step.max(dt)))?;
        self.clock.lap("kick");
        Ok(count)
    }

    /// Evaluates the forces at the current positions and (predicted) velocities; `dt` is the time since the
    /// last evaluation. Collective.
    ///
    /// # Errors
    /// [`Error::State`] with step 0, on all ranks: positions or rates that are not finite, a box too small
    /// for the interaction range.
    pub fn evaluate_forces(&mut self, dt: f64) -> Result<()> {
        if self.is_resident() {
            return self.evaluate_resident(dt);
        }
        let rates = self.forces(dt)?;
        self.check_rates(rates)
    }

    /// Evaluates the forces without checking them.
    fn forces(&mut self, dt: f64) -> Result<Rates> {
        self.energies = Freshness::Outdated;
        let synced = self.sync()?;
        if let Some(mut gas) = self.gas() {
            sph::find_smoothing_lengths(&mut gas)?;
        }
        if self.molecules.is_none() {
            self.particles.fill(Field::Acceleration, 0.0);
        }
        // without the column the passes measure no work
        let work = (!synced.measures_work).then(|| self.particles.take(Field::Work)).flatten();
        let rates = self.rates(dt, synced.halos);
        if let Some(work) = work {
            self.particles.put(Field::Work, work);
        }
        rates
    }

    /// Runs the force passes with the current lists and smoothing lengths.
    fn rates(&mut self, dt: f64, halos: Freshness) -> Result<Rates> {
        if let Some(mut gas) = self.gas() {
            sph::evaluate_passes(&mut gas, dt)?;
        }
        let mut rates = Rates::Unchecked;
        if let Some(molecules) = &self.molecules {
            let exchange = halos == Freshness::Outdated;
            let finite = molecules.forces(&self.domain, &self.neighborhood, &mut self.particles, exchange);
            rates = if finite { Rates::Finite } else { Rates::Unchecked };
            self.clock.lap("pair forces");
        }
        if let Some(ewald) = mesh_of(&mut self.ewald, self.molecules.as_ref(), &self.domain, self.precision) {
            if !ewald.add_forces(&self.domain.comm, &mut self.particles) {
                rates = Rates::Unchecked;
            }
            self.clock.lap("mesh");
        }
        if let Some(gravity) = &mut self.gravity {
            rates = Rates::Unchecked;
            let alone = self.hydrodynamics.is_none() && self.molecules.is_none();
            let origin = self.domain.bx.center();
            let before = (!alone).then(|| NetForce::of(&self.particles, origin));
            gravity.evaluate(&self.domain, &mut self.particles, self.precision)?;
            if !planted(Fault::NetForce) {
                net_force::remove(before, &mut self.particles, &self.domain.comm, &self.domain.bx);
            }
            allocator::give_back(self.particles.bytes());
            self.clock.lap("gravity");
        }
        if let Some(field) = &self.external {
            rates = Rates::Unchecked;
            field.accelerate(&mut self.particles);
            self.clock.lap("external");
        }
        Ok(rates)
    }

    /// Checks that the rates are finite on all ranks. Collective.
    ///
    /// # Errors
    /// [`Error::State`] with step 0, which names the particle on its rank.
    fn check_rates(&self, rates: Rates) -> Result<()> {
        let invalid = match rates {
            Rates::Finite => None,
            Rates::Unchecked => self.first_invalid_rate(),
        };
        let checked = if invalid.is_none() { Ok(()) } else { Err(Error::Elsewhere) };
        self.domain.comm.agree(checked).map_err(|_| self.invalid_rate_error(invalid))
    }

    /// Computes the observables of the host's particles after a step of length `dt` (0 before the first
    /// step), including the tail correction. Copy particles of a device to the host before. Collective.
    pub fn observe(&mut self, dt: f64) -> Observables {
        self.synchronize_velocities();
        self.evaluate_energies();
        let (comm, bx, units) = (&self.domain.comm, &self.domain.bx, &self.plan.units);
        let mut observed = observe(comm, bx, &self.particles, units, self.step, self.time, dt);
        observed.external = self.external.map(|field| field.energy(&self.particles, comm));
        self.with_heat_and_tail(observed)
    }

    /// Adds heat and tail correction.
    fn with_heat_and_tail(&self, mut observed: Observables) -> Observables {
        observed.heat = self.plan.motion.exchanges_heat().then_some(self.heat);
        let tail = self.molecules.as_ref().and_then(|molecules| molecules.tail);
        if let Some(tail) = tail.filter(|_| !planted(Fault::TailMissing)) {
            let volume = self.domain.bx.lengths().product();
            observed.add_tail(tail.energy(volume), tail.virial(volume) / (3.0 * volume));
        }
        observed
    }

    /// Evaluates pair energies and virials at the current positions, which a step does not need.
    pub fn evaluate_energies(&mut self) {
        if self.energies == Freshness::Current {
            return;
        }
        if let Some(molecules) = &self.molecules {
            molecules.energies(&self.domain, &self.neighborhood, &mut self.particles);
            self.clock.lap("pair energies");
        }
        if let Some(ewald) = mesh_of(&mut self.ewald, self.molecules.as_ref(), &self.domain, self.precision) {
            ewald.add_energies(&self.domain.comm, &mut self.particles);
            self.clock.lap("mesh");
        }
        self.energies = Freshness::Current;
    }

    /// Updates owners, order, halos and list, or only what is due. Collective.
    ///
    /// Precondition: the owned particles may have moved; columns of halos and the list belong to the last
    /// call.
    /// Postcondition: the list covers all pairs within range, and halos have current positions, except
    /// that without a gas and with a valid list the pair sweep exchanges them ([`Synced::halos`]).
    ///
    /// 1. Decide by the used skins what is due.
    /// 2. Build: wrap positions, migrate and sort particles, find halos, build the list.
    /// 3. Otherwise exchange the halos' changed fields; prune the inner list if that is due.
    ///
    /// # Errors
    /// [`Error::State`] with step 0 on all ranks: positions that are not finite, a box too small.
    pub(crate) fn sync(&mut self) -> Result<Synced> {
        let due = self.neighborhood.due(&self.domain, &self.particles)?;
        let mut halos = Freshness::Current;
        if due == Due::Build {
            self.rebuild_lists()?;
        } else {
            // without a gas only halo positions change; their exchange can overlap the pair sweep
            let gas = self.hydrodynamics.is_some();
            if due == Due::Nothing && self.molecules.is_some() && !gas {
                halos = Freshness::Outdated;
            } else {
                let changed = if gas { self.particles.fields_of_halos() } else { vec![Field::Position] };
                self.domain.exchange_halos(&mut self.particles, &changed);
            }
            if due == Due::Prune {
                self.neighborhood.prune(&self.domain, &self.particles)?;
            }
        }
        let measures_work = match self.counts_work {
            CountsWork::Never => false,
            CountsWork::WithLists => due == Due::Build,
            CountsWork::Always => true,
        };
        if measures_work {
            self.particles.fill(Field::Work, 0.0);
        }
        self.clock.lap("neighbors");
        Ok(Synced { halos, measures_work })
    }

    /// Updates owners and order of the particles, and builds halos and list.
    fn rebuild_lists(&mut self) -> Result<()> {
        if self.hydrodynamics.is_some() {
            // the passes recompute these fields: free their memory until then
            let derived = self.particles.fields_of(Role::Derived);
            self.particles.remove(&derived);
        }
        let neighborhood = &self.neighborhood;
        let entered = self.domain.sync(&mut self.particles, |particles| neighborhood.radii(particles));
        entered.map_err(|error| error.with_units(self.plan.units.of_numbers()))?;
        self.clock.lap("domain");
        self.check_space()?;
        self.neighborhood.rebuild(&self.domain, &self.particles)
    }

    /// Checks that the pairs of molecules fit the box, whose open faces follow the particles. The result is
    /// the same on all ranks.
    ///
    /// # Errors
    /// [`Error::State`] with step 0.
    fn check_space(&self) -> Result<()> {
        match self.plan.check_box(&self.domain.bx) {
            Some(BoxMismatch { message, help }) => Err(Error::State { step: 0, what: message, remedy: help }),
            None => Ok(()),
        }
    }

    /// Returns the gas backend for a force evaluation; `None` without a gas.
    fn gas(&mut self) -> Option<Processors<'_>> {
        let hydrodynamics = self.hydrodynamics.as_mut()?;
        Some(Processors {
            hydrodynamics,
            domain: &mut self.domain,
            neighborhood: &mut self.neighborhood,
            particles: &mut self.particles,
            clock: &mut self.clock,
            supports: Vec::new(),
        })
    }

    /// Chooses the next step length by the criteria; `last` is the longest length the last step could have
    /// had. Collective.
    ///
    /// # Errors
    /// Those of the device on which the particles reside.
    pub fn choose_step(&mut self, last: Option<f64>) -> Result<()> {
        let softening = self.plan.softening_length();
        if self.is_resident() {
            return self.choose_step_of_resident(softening, last);
        }
        let chosen =
            time_step::next(&self.plan.time_step, softening, &self.particles, &self.domain.comm, last);
        (self.next_step, self.limit) = chosen;
        Ok(())
    }

    /// Halves the step length after a failed step, with the criteria of the current state as upper bound.
    /// Collective.
    pub fn shorten_step(&mut self) {
        let criteria = TimeStepPlan { fixed: None, ..self.plan.time_step.clone() };
        let softening = self.plan.softening_length();
        let (allowed, _) =
            time_step::next(&criteria, softening, &self.particles, &self.domain.comm, Some(self.next_step));
        self.next_step = 0.5 * self.next_step.min(allowed);
    }

    /// Returns field, value and owned index of the first particle with a rate that is not finite.
    fn first_invalid_rate(&self) -> Option<(Field, f64, usize)> {
        let mut rates = vec![Field::Acceleration];
        if self.hydrodynamics.is_some() {
            rates.extend([Field::InternalEnergyRate, Field::Density, Field::SmoothingLength]);
        }
        let owned = self.particles.owned();
        for field in rates {
            for component in 0..field.components() {
                let column = &self.particles.component(field, component)[owned.clone()];
                if let Some(place) = first_not_finite(column) {
                    return Some((field, column[place], place));
                }
            }
        }
        None
    }

    /// Returns the error that names this particle, on its rank; [`Error::Elsewhere`] on the others.
    /// Collective: its neighbors may be halos.
    fn invalid_rate_error(&self, invalid: Option<(Field, f64, usize)>) -> Error {
        let mut near = self.particles.bare(&[Field::SmoothingLength]);
        let mut domain = self.domain.with_all_halos();
        domain.renew_halos(&mut near, |near| self.neighborhood.radii(near));
        invalid.map_or(Error::Elsewhere, |(field, value, place)| {
            let error = not_finite(&domain.bx, &near, field, value, near.owned().start + place);
            error.with_units(self.plan.units.of_numbers())
        })
    }
}

/// What is known of new rates on this rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rates {
    /// They are finite.
    Finite,
    /// They have not been checked.
    Unchecked,
}

/// When forces measure the work per particle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CountsWork {
    /// Never: molecules on one rank.
    Never,
    /// Once per list: all steps with the same list have the same cost.
    WithLists,
    /// In every step.
    Always,
}

impl CountsWork {
    fn of(plan: &Plan, ranks: usize) -> Self {
        match (&plan.interaction, &plan.gravity) {
            (Some(_), _) if ranks == 1 => CountsWork::Never,
            (Some(_), None) => CountsWork::WithLists,
            _ => CountsWork::Always,
        }
    }
}

/// Returns the index of the first value that is not finite.
fn first_not_finite(values: &[f64]) -> Option<usize> {
    const BLOCK: usize = 8 * 1024;
    let invalid = |block: &&[f64]| {
        // no early exit: this vectorizes
        block.iter().fold(false, |invalid, value| invalid | !value.is_finite())
    };
    let block = match values.len() {
        // too small for threads
        0..=BLOCK => Some(0).filter(|_| invalid(&values)),
        _ => values.par_chunks(BLOCK).position_first(|block| invalid(&block)),
    }?;
    let row = values[block * BLOCK..].iter().position(|value| !value.is_finite())?;
    Some(block * BLOCK + row)
}

/// Interaction range of a plan.
fn reach_of(plan: &Plan) -> InteractionRange {
    match (&plan.sph, &plan.interaction) {
        (Some(_), _) => InteractionRange::Supports,
        (None, Some(interaction)) => InteractionRange::Cutoff(interaction.cutoff),
        (None, None) => InteractionRange::Nowhere,
    }
}

/// The mesh of the charges, created at its first use; `None` if they have none.
fn mesh_of<'e>(
    mesh: &'e mut Option<EwaldMesh>,
    molecules: Option<&Molecules>,
    domain: &Domain,
    precision: Precision,
) -> Option<&'e mut EwaldMesh> {
    let ewald = molecules?.ewald()?;
    Some(mesh.get_or_insert_with(|| EwaldMesh::new(&domain.comm, &domain.bx, ewald, precision)))
}

/// Converts the external accelerations of the deck.
fn external_of(plan: &plan::ExternalPlan) -> ExternalField {
    let point = plan.point_mass.as_ref();
    let cylindrical = point.is_some_and(|point| point.distance == plan::Distance::Cylindrical);
    ExternalField {
        uniform: plan.uniform,
        center: point.map_or([0.0; 3], |point| point.position),
        counted: [1.0, 1.0, if cylindrical { 0.0 } else { 1.0 }],
        strength: point.map_or(0.0, |point| point.constant * point.mass),
        squared_softening: point.map_or(0.0, |point| point.softening * point.softening),
    }
}

/// Converts the gravity settings of the deck.
fn gravity_of(plan: &plan::GravityPlan) -> GravityPlan {
    GravityPlan {
        constant: plan.constant,
        opening_angle: plan.opening_angle,
        expansion: match plan.order {
            plan::MultipoleOrder::Quadrupole => far::Expansion::Quadrupole,
            plan::MultipoleOrder::Octupole => far::Expansion::Octupole,
        },
        criterion: match plan.criterion {
            plan::OpeningCriterion::Geometric => Criterion::Geometric,
            plan::OpeningCriterion::Relative => Criterion::RelativeError(plan.force_error),
        },
        softening: plan.softening,
        kernel: match plan.softening_kernel {
            plan::SofteningKernel::Plummer => SofteningKernel::Plummer,
            plan::SofteningKernel::Spline => SofteningKernel::Spline,
        },
        mesh: plan.mesh.map(|points| points.map(|points| points as usize)),
        split: plan.split,
        ..GravityPlan::default()
    }
}
