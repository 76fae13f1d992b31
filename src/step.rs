//! The step, written once: a list of verbs, each timed.

use crate::allocator;
use crate::clock::Clock;
use crate::comm::Communicator;
use crate::deck::BoxMismatch;
use crate::domain::{Domain, DomainSettings};
use crate::far::{self, Criterion, GravityPlan, SofteningKernel};
use crate::molecules::Molecules;
use crate::motion::steps;
use crate::motion::thermostat::Thermostat;
use crate::motion::time_step::{self, Limit};
use crate::neighborhood::{Costs, Due, InteractionRange, Neighborhood, Skins};
use crate::neighbors;
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
mod notes;
mod resident;
mod verlet;

pub use memory_estimate::Estimate;
pub use minimize::Minimized;
pub use resident::Resident;

/// The state of a run on this rank, and the machinery that advances it.
pub struct Simulation {
    /// What the deck says.
    pub plan: Plan,
    /// Who owns which keys; also holds the communicator and the box.
    pub domain: Domain,
    /// This rank's particles. Who moves them otherwise than by a step tells the neighborhood ([`Neighborhood::invalidate`]).
    pub particles: Particles,
    /// The list of neighbors.
    pub neighborhood: Neighborhood,
    /// The gas passes, with `[sph]`.
    pub hydrodynamics: Option<Hydrodynamics>,
    /// The forces of pairs, with `[interaction]`.
    pub molecules: Option<Molecules>,
    /// Gravity, with `[gravity]`.
    pub gravity: Option<GravityPlan>,
    /// What keeps molecules at a temperature, with `[thermostat]`.
    pub thermostat: Option<Thermostat>,
    /// Heat given to the particles so far, by the thermostat and, negative, by bringing the center of mass to rest.
    pub heat: f64,
    /// What lists cost, where skins were chosen by that.
    pub list_costs: Option<Costs>,
    /// Arithmetic of the passes.
    pub precision: Precision,
    /// Phase timers.
    pub clock: Clock,
    /// Simulated time.
    pub time: f64,
    /// Number of steps done.
    pub step: u64,
    /// Length that the criteria allow the next step.
    pub next_step: f64,
    /// Which criterion set it.
    pub limit: Limit,
    /// When forces count the work of each particle, by which ranks share them.
    pub(crate) counts_work: CountsWork,
    /// Whether the next forces do.
    counting: bool,
    /// Whether the energies of molecules are those of the present positions.
    energies_known: bool,
    /// Whether halos are still where the particles were before: the next forces bring them.
    halos_left: bool,
    /// The particles on a device, if they live there.
    resident: Option<Resident>,
    /// Whether the host's particles are those of the device.
    at_home: bool,
    /// The length of the last step, where the last half of its kick is still to be done.
    open_kick: Option<f64>,
}

impl Simulation {
    /// The fields that the particles of such a plan have between steps, beside what the forces leave for outputs.
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

    /// A simulation of these particles at time 0; its forces are not evaluated yet. Collective.
    pub fn new(plan: Plan, comm: &Communicator, space: SimulationBox, particles: Particles) -> Self {
        let precision = match plan.run.precision {
            plan::Precision::Mixed => Precision::Mixed,
            plan::Precision::Double => Precision::Double,
        };
        let reach = reach_of(&plan);
        let skins = skins_of(&plan, &space, FIRST_SKIN);
        let neighborhood = Neighborhood::new(&plan.neighbors, reach, skins);
        let settings = DomainSettings {
            bucket_size: plan.neighbors.bucket_size,
            across: neighborhood.across(),
            ..DomainSettings::default()
        };
        Simulation {
            domain: Domain::new(comm.clone(), space, settings),
            molecules: plan
                .interaction
                .as_ref()
                .map(|interaction| Molecules::new(&plan, interaction, comm, &particles, precision)),
            neighborhood,
            hydrodynamics: plan.sph.as_ref().map(|sph| Hydrodynamics::new(sph, precision)),
            gravity: plan.gravity.as_ref().map(gravity_of),
            thermostat: plan
                .motion
                .thermostat
                .as_ref()
                .map(|thermostat| Thermostat::new(thermostat, &plan.units)),
            heat: 0.0,
            list_costs: None,
            precision,
            clock: Clock::new(),
            time: 0.0,
            step: 0,
            next_step: 0.0,
            limit: Limit::Setting,
            counts_work: CountsWork::of(&plan, comm.size()),
            counting: true,
            energies_known: false,
            halos_left: false,
            resident: None,
            at_home: true,
            open_kick: None,
            particles,
            plan,
        }
    }

    /// One time step of length `dt`. On an error of the forces the particles are back at the start of the step.
    pub fn advance(&mut self, dt: f64) -> Result<()> {
        self.advance_with_pending_kick(dt)?;
        self.synchronize_velocities();
        Ok(())
    }

    /// [`Self::advance`] for who asks for the particles by [`Self::copy_to_host`] or [`Self::observe`]: without these velocities may
    /// lack half a kick, which then comes with the next step.
    pub fn advance_with_pending_kick(&mut self, dt: f64) -> Result<()> {
        // only the forces of a gas depend on velocities
        let advanced = match (&self.resident, &self.hydrodynamics) {
            (Some(_), _) => self.advance_resident(dt),
            (None, Some(_)) => steps::leapfrog_step(self, dt),
            (None, None) => self.advance_verlet(dt),
        };
        advanced.map_err(|error| error.at_step(self.step + 1))?;
        let (step, end) = (self.plan.time_step.fixed, self.plan.run.end_time);
        self.time = fixed::time_after(self.time, dt, step, end);
        self.step += 1;
        self.choose_step(Some(self.next_step.max(dt)))?;
        self.clock.lap("kick");
        Ok(())
    }

    /// The forces at the present positions and (predicted) velocities; `dt` is the time since the last ones.
    ///
    /// # Errors
    /// With step 0, on all ranks: positions or rates that are not finite, a periodic box too small for the supports.
    pub fn evaluate_forces(&mut self, dt: f64) -> Result<()> {
        if self.resident.is_some() {
            return self.evaluate_resident(dt);
        }
        let finite = self.forces(dt)?;
        let spoiled = if finite { None } else { self.spoiled_rate() };
        let sound = if spoiled.is_none() { Ok(()) } else { Err(Error::Elsewhere) };
        self.domain.comm.agree(sound).map_err(|_| self.spoiled_error(spoiled))
    }

    /// The forces, which may turn out not to be finite; returns whether they are known to be on this rank.
    fn forces(&mut self, dt: f64) -> Result<bool> {
        self.energies_known = false;
        self.sync()?;
        if let Some(mut gas) = self.gas() {
            sph::find_smoothing_lengths(&mut gas)?;
        }
        if self.molecules.is_none() {
            self.particles.fill(Field::Acceleration, 0.0);
        }
        // a column that is not there is left alone
        let work = (!self.counting).then(|| self.particles.take(Field::Work)).flatten();
        let finite = self.rates(dt);
        if let Some(work) = work {
            self.particles.put(Field::Work, work);
        }
        finite
    }

    /// The passes of the forces, for lists and smoothing lengths as they are now.
    fn rates(&mut self, dt: f64) -> Result<bool> {
        if let Some(mut gas) = self.gas() {
            sph::evaluate_passes(&mut gas, dt)?;
        }
        let mut finite = false;
        if let Some(molecules) = &self.molecules {
            let bring = std::mem::take(&mut self.halos_left);
            finite = molecules.forces(&self.domain, &self.neighborhood, &mut self.particles, bring);
            self.clock.lap("pair forces");
        }
        if let Some(gravity) = &self.gravity {
            finite = false;
            far::gravity(gravity, &self.domain, &mut self.particles, self.precision)?;
            allocator::give_back(self.particles.bytes());
            self.clock.lap("gravity");
        }
        Ok(finite)
    }

    /// Observe the host's particles, all of them, after a step of length `dt` (0 if there was none), what a tail adds
    /// included; collective. Those of a device are to be brought home before.
    pub fn observe(&mut self, dt: f64) -> Observables {
        self.synchronize_velocities();
        self.evaluate_energies();
        let (comm, bx, units) = (&self.domain.comm, &self.domain.bx, &self.plan.units);
        let observed = observe(comm, bx, &self.particles, units, self.step, self.time, dt);
        self.with_heat_and_tail(observed)
    }

    /// With the heat that was given, and what pairs beyond a cutoff add.
    fn with_heat_and_tail(&self, mut observed: Observables) -> Observables {
        observed.heat = self.plan.motion.exchanges_heat().then_some(self.heat);
        if let Some(tail) = self.molecules.as_ref().and_then(|molecules| molecules.tail) {
            let volume = self.domain.bx.lengths().product();
            observed.add_tail(tail.energy(volume), tail.virial(volume) / (3.0 * volume));
        }
        observed
    }

    /// Energies and virials of molecules at the present positions, which a step does without.
    pub fn evaluate_energies(&mut self) {
        if self.energies_known {
            return;
        }
        if let Some(molecules) = &self.molecules {
            molecules.energies(&self.domain, &self.neighborhood, &mut self.particles);
            self.clock.lap("pair energies");
        }
        self.energies_known = true;
    }

    /// Bring owners, order, halos and the list up to date.
    pub(crate) fn sync(&mut self) -> Result<()> {
        let due = self.neighborhood.due(&self.domain, &self.particles);
        if due == Due::Build {
            self.halos_left = false;
            if self.hydrodynamics.is_some() {
                // made anew by the passes: until then others can have the memory
                let derived = self.particles.fields_of(Role::Derived);
                self.particles.remove(&derived);
            }
            let neighborhood = &self.neighborhood;
            let entered = self.domain.sync(&mut self.particles, |particles| neighborhood.radii(particles));
            entered.map_err(|error| error.with_units(self.plan.units.of_numbers()))?;
            self.clock.lap("domain");
            self.check_space()?;
            self.neighborhood.rebuild(&self.domain, &self.particles)?;
        } else {
            // of what forces without a gas depend on only positions change, which can come with these forces
            let gas = self.hydrodynamics.is_some();
            self.halos_left = due == Due::Nothing && self.molecules.is_some() && !gas;
            if !self.halos_left {
                let changed = if gas { self.particles.fields_of_halos() } else { vec![Field::Position] };
                self.domain.exchange_halos(&mut self.particles, &changed);
            }
            if due == Due::Prune {
                self.neighborhood.prune(&self.domain, &self.particles)?;
            }
        }
        self.counting = match self.counts_work {
            CountsWork::Never => false,
            CountsWork::WithLists => due == Due::Build,
            CountsWork::Always => true,
        };
        if self.counting {
            self.particles.fill(Field::Work, 0.0);
        }
        self.clock.lap("neighbors");
        Ok(())
    }

    /// The pairs of molecules must fit into the box, which follows the particles where it is open. The same on all ranks.
    ///
    /// # Errors
    /// [`Error::State`] with step 0.
    fn check_space(&self) -> Result<()> {
        match self.plan.check_box(&self.domain.bx) {
            Some(BoxMismatch { message, help }) => Err(Error::State { step: 0, what: message, remedy: help }),
            None => Ok(()),
        }
    }

    /// The gas of this rank, for a force evaluation.
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

    /// Let the criteria choose the next step after one that might have had the length `last`.
    ///
    /// # Errors
    /// Those of the device where particles live.
    pub fn choose_step(&mut self, last: Option<f64>) -> Result<()> {
        let softening = self.plan.gravity.as_ref().map_or(0.0, |gravity| gravity.softening);
        if self.resident.is_some() {
            return self.choose_step_of_resident(softening, last);
        }
        let chosen =
            time_step::next(&self.plan.time_step, softening, &self.particles, &self.domain.comm, last);
        (self.next_step, self.limit) = chosen;
        Ok(())
    }

    /// Halve the step after one that failed, and keep it within what the criteria say of the present state.
    pub fn shorten_step(&mut self) {
        let criteria = TimeStepPlan { fixed: None, ..self.plan.time_step.clone() };
        let softening = self.plan.gravity.as_ref().map_or(0.0, |gravity| gravity.softening);
        let (allowed, _) =
            time_step::next(&criteria, softening, &self.particles, &self.domain.comm, Some(self.next_step));
        self.next_step = 0.5 * self.next_step.min(allowed);
    }

    /// The first owned particle with a rate that is not a number: the rate, its value, and which of the owned ones.
    fn spoiled_rate(&self) -> Option<(Field, f64, usize)> {
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

    /// The error that names that particle, on the rank that has it. Collective, because its neighbors may be others' particles.
    fn spoiled_error(&self, spoiled: Option<(Field, f64, usize)>) -> Error {
        let mut near = self.particles.bare(&[Field::SmoothingLength]);
        let mut domain = self.domain.with_all_halos();
        domain.renew_halos(&mut near, |near| self.neighborhood.radii(near));
        spoiled.map_or(Error::Elsewhere, |(field, value, place)| {
            let error = neighbors::not_finite(&domain.bx, &near, field, value, near.owned().start + place);
            error.with_units(self.plan.units.of_numbers())
        })
    }
}

/// When forces count the work of each particle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CountsWork {
    /// Nobody asks for it.
    Never,
    /// Once for each list: all steps with it cost the same.
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

/// The first value that is not finite.
fn first_not_finite(values: &[f64]) -> Option<usize> {
    const BLOCK: usize = 8 * 1024;
    let spoiled = |block: &&[f64]| {
        // without an early end, so that lanes can look side by side
        block.iter().fold(false, |spoiled, value| spoiled | !value.is_finite())
    };
    let block = match values.len() {
        // not worth waking a thread
        0..=BLOCK => Some(0).filter(|_| spoiled(&values)),
        _ => values.par_chunks(BLOCK).position_first(|block| spoiled(&block)),
    }?;
    let row = values[block * BLOCK..].iter().position(|value| !value.is_finite())?;
    Some(block * BLOCK + row)
}

/// How far pairs act in such a run.
fn reach_of(plan: &Plan) -> InteractionRange {
    match (&plan.sph, &plan.interaction) {
        (Some(_), _) => InteractionRange::Supports,
        (None, Some(interaction)) => InteractionRange::Cutoff(interaction.cutoff),
        (None, None) => InteractionRange::Nowhere,
    }
}

/// How much wider than the cutoff processors make lists of molecules before they have measured what these cost.
const FIRST_SKIN: f64 = 0.2;

/// The skins of a plan's lists; what it leaves open for molecules is `open`, or as much of that as the box has room for.
fn skins_of(plan: &Plan, space: &SimulationBox, open: f64) -> Skins {
    let Some(interaction) = &plan.interaction else {
        return Skins { outer: plan.neighbors.min_skin(), inner: None };
    };
    let room = Skins::widest(space, interaction.cutoff).max(0.0);
    let outer = plan.neighbors.skin.unwrap_or(open.min(room));
    let inner = plan.neighbors.inner_skin.unwrap_or(0.3 * outer);
    Skins { outer, inner: (inner > 0.0).then_some(inner) }
}

/// Gravity as the deck asks for it.
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
        ..GravityPlan::default()
    }
}
