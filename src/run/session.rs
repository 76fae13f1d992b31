//! A run that its caller advances, without outputs unless it asks for them: for programs and languages that
//! embed the crate.
//!
//! A session reaches the states of `hilbrium run` bit by bit: its steps end at the times of the deck's
//! outputs, and velocities are completed and lists are rebuilt where the run's outputs do so. Exceptions are
//! outputs by wall time and skins that are tuned by timing, whose runs differ from each other too.

use rayon::ThreadPool;

use super::outputs::Outputs;
use super::schedule::{Schedule, steps_until};
use super::{
    Outcome, RunDirectory, first_forces, first_outputs, is_done, keep_inputs, run_and_finish, run_directory,
    step_length, tuning,
};
use crate::comm::Communicator;
use crate::deck::Checked;
use crate::device::{self, Device};
use crate::observe::{Measurements, Observables};
use crate::particles::{Field, Particles};
use crate::plan::Plan;
use crate::snapshot::trajectory;
use crate::start::{self, Start};
use crate::step::Simulation;
use crate::{Error, Result};
use std::time::Instant;

/// Fields that a caller may set.
pub const SETTABLE: [Field; 7] = [
    Field::Position,
    Field::Velocity,
    Field::Mass,
    Field::Charge,
    Field::InternalEnergy,
    Field::SmoothingLength,
    Field::Viscosity,
];

/// A simulation of one process that its caller advances.
pub struct Session {
    /// The threads of this session; sums depend on their number, as in a run.
    threads: ThreadPool,
    state: SessionState,
    /// Whether a call has ended with an error of the device.
    device_failed: bool,
}

/// A simulation and what its steps depend on, used on the session's threads.
struct SessionState {
    deck: Checked,
    device: Option<Device>,
    simulation: Simulation,
    schedules: OutputSchedules,
    notes: Vec<String>,
    /// Length of the last step; 0 before the first.
    last_step: f64,
    /// Whether the forces belong to the particles.
    forces_known: bool,
}

/// Energies of a session, in the deck's units.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionEnergies {
    /// The line of the record.
    pub observed: Observables,
    /// Sum of the pair energies, those of a mesh included, without the tail correction; with an interaction.
    pub pair: Option<f64>,
    /// Sum of m phi / 2 of self-gravity, with gravity.
    pub gravity: Option<f64>,
}

/// When the outputs of a run affect its steps.
struct OutputSchedules {
    outputs: Vec<Schedule>,
    checkpoints: Schedule,
    measurements: Measurements,
}

impl OutputSchedules {
    fn of(plan: &Plan) -> Self {
        let schedule = |every| Schedule::new(every, plan.time_step.fixed);
        let output = &plan.output;
        let frames = output.trajectory.as_ref().map(|trajectory| trajectory.every);
        OutputSchedules {
            outputs: vec![schedule(output.snapshots), schedule(Some(output.observables)), schedule(frames)],
            checkpoints: schedule(output.checkpoint),
            measurements: Measurements::new(plan, &output.directory),
        }
    }

    fn next_time(&self, time: f64) -> f64 {
        let all = self.outputs.iter().chain([&self.checkpoints]);
        all.map(|schedule| schedule.next_time(time)).fold(f64::INFINITY, f64::min)
    }

    fn is_due(&self, before: f64, now: f64, step: u64) -> bool {
        self.measurements.due(step, now)
            || self.outputs.iter().any(|schedule| schedule.is_met(before, now, step))
            || self.checkpoints.is_met(before, now, step)
    }

    /// Does to the simulation what the outputs of a run do.
    fn after_steps(&self, simulation: &mut Simulation, before: f64) {
        let (now, step) = (simulation.time, simulation.step);
        if !self.is_due(before, now, step) {
            return;
        }
        simulation.synchronize_velocities();
        if self.checkpoints.is_met(before, now, step) {
            simulation.invalidate_lists();
        }
    }
}

impl Session {
    /// Performs all before the first step of a run: start, minimization, device, first forces, choice of
    /// method and skins. Starts the deck's number of threads. The deck is one of
    /// [`crate::deck::examine_for_session`], which requires what steps need.
    ///
    /// # Errors
    /// Those of a run before its first outputs; [`Error::Usage`] if the threads do not start.
    pub fn start(deck: &Checked) -> Result<Self> {
        Self::begin(deck, |plan, fields| start::build(plan, &Communicator::solo(), fields))
    }

    /// As [`Self::start`], from particles of the caller: see [`start::given`]. The deck is one of
    /// [`crate::deck::examine_for_session`].
    ///
    /// # Errors
    /// Those of [`Self::start`] and [`start::given`].
    pub fn start_from(deck: &Checked, species: &[String], particles: Particles) -> Result<Self> {
        Self::begin(deck, |plan, fields| start::given(plan, species, particles, fields))
    }

    fn begin(deck: &Checked, build: impl FnOnce(&Plan, &[Field]) -> Result<Start> + Send) -> Result<Self> {
        let offered = std::thread::available_parallelism().map_or(1, |offered| offered.get());
        let count = deck.plan.run.threads.unwrap_or(offered);
        let threads = rayon::ThreadPoolBuilder::new()
            .num_threads(count)
            .thread_name(|k| format!("session-{k}"))
            .build()
            .map_err(|cause| {
                Error::usage(
                    format!("cannot start {count} threads: {cause}"),
                    "ask for fewer with run.threads in the deck",
                )
            })?;
        let state = threads.install(|| SessionState::begin(deck, build))?;
        Ok(Session { threads, state, device_failed: false })
    }

    /// Calls `work` on the session's threads. After an error of the device the session is unusable: nobody
    /// knows what the particles on it are.
    fn compute<T: Send>(&mut self, work: impl FnOnce(&mut SessionState) -> Result<T> + Send) -> Result<T> {
        if self.device_failed {
            return Err(Error::usage("the device of this simulation has failed", "start a new simulation"));
        }
        let state = &mut self.state;
        let outcome = self.threads.install(|| work(state));
        self.device_failed = matches!(outcome, Err(Error::Device { .. }));
        outcome
    }

    /// Advances by `steps` steps, also beyond the end that the deck states. `interrupted` is asked between
    /// steps and ends the call early. Returns the number of steps performed. Writes nothing.
    ///
    /// # Errors
    /// Those of a step; the particles are then back at its start.
    pub fn advance(&mut self, steps: u64, mut interrupted: impl FnMut() -> bool) -> Result<u64> {
        let mut left = steps;
        while left > 0 {
            let most = left;
            left -= self.compute(|state| state.advance(most))?;
            if interrupted() {
                break;
            }
        }
        Ok(steps - left)
    }

    /// Runs to the end of the deck with the deck's outputs, the first of the present state, in the output
    /// directory. `caught` is asked between steps: a signal number other than 0 stops the run after a
    /// checkpoint.
    ///
    /// # Errors
    /// Those of [`super::run`].
    pub fn run(&mut self, caught: &mut (dyn FnMut() -> usize + Send)) -> Result<Outcome> {
        self.compute(|state| state.run(caught))
    }

    /// Returns the values of a field, particle by particle in the order of ascending ids, components
    /// adjacent; `None` if the particles do not have it now. Changes nothing.
    ///
    /// # Errors
    /// Those of the forces after [`Self::set`], and of the device.
    pub fn values(&mut self, field: Field) -> Result<Option<Vec<f64>>> {
        self.compute(|state| state.values(field))
    }

    /// Sets fields of all particles, in the layout of [`Self::values`], and evaluates the forces. Positions
    /// beyond periodic faces are wrapped; an open box follows the particles.
    ///
    /// # Errors
    /// [`Error::Usage`] for a field that cannot be set or another number of values, [`Error::Content`] for
    /// values that cannot be: nothing is set then. Those of the forces.
    pub fn set(&mut self, fields: &[(Field, Vec<f64>)]) -> Result<()> {
        self.compute(|state| state.set(fields))
    }

    /// Returns the energies and other observables of the present state. Changes nothing.
    ///
    /// # Errors
    /// Those of the forces after [`Self::set`], and of the device.
    pub fn energies(&mut self) -> Result<SessionEnergies> {
        self.compute(SessionState::energies)
    }

    /// Returns the ids, ascending: the order of the particles in [`Self::values`].
    pub fn ids(&self) -> Vec<u64> {
        let particles = &self.state.simulation.particles;
        let mut ids = particles.id[particles.owned()].to_vec();
        ids.sort_unstable();
        ids
    }

    /// Returns the fields that the particles have now.
    pub fn fields(&self) -> &[Field] {
        self.state.simulation.particles.fields()
    }

    /// Returns the simulation: its plan, time, step, box.
    pub fn simulation(&self) -> &Simulation {
        &self.state.simulation
    }

    /// Returns the checked deck.
    pub fn deck(&self) -> &Checked {
        &self.state.deck
    }

    /// Returns the notes of the start, as a run logs them.
    pub fn notes(&self) -> &[String] {
        &self.state.notes
    }

    /// Whether the deck's end is reached.
    pub fn is_done(&self) -> bool {
        is_done(&self.state.simulation)
    }
}

impl SessionState {
    fn begin(deck: &Checked, build: impl FnOnce(&Plan, &[Field]) -> Result<Start>) -> Result<Self> {
        let (plan, comm) = (&deck.plan, Communicator::solo());
        let device = device::open(plan, &comm)?;
        let Start { bx, particles, units, mut notes } = build(plan, &Simulation::fields(plan))?;
        let mut simulation = Simulation::new(plan.clone(), &comm, bx, particles);
        simulation.plan.units.cgs = units;
        first_forces(&mut simulation, device.as_ref())?;
        notes.extend(simulation.notes());
        Ok(SessionState {
            deck: deck.clone(),
            device,
            simulation,
            schedules: OutputSchedules::of(plan),
            notes,
            last_step: 0.0,
            forces_known: true,
        })
    }

    /// Evaluates the forces if particles were set since.
    fn update_forces(&mut self) -> Result<()> {
        if !self.forces_known {
            // a change of the particles may have failed on the way to the device
            if let Some(device) = self.device.as_ref().filter(|_| !self.simulation.is_resident()) {
                self.simulation.move_to(device)?;
            }
            self.simulation.evaluate_forces(0.0)?;
            self.simulation.choose_step(None)?;
            self.forces_known = true;
        }
        Ok(())
    }

    /// Performs at least one step and at most `most`; returns their number.
    fn advance(&mut self, most: u64) -> Result<u64> {
        self.update_forces()?;
        let (simulation, schedules) = (&mut self.simulation, &self.schedules);
        let dt = step_length(simulation, schedules.next_time(simulation.time))?;
        let most = match simulation.enqueues_steps(dt) {
            true => {
                let now = (simulation.step, simulation.time);
                most.min(steps_until(&simulation.plan, now, dt, |before, now, step| {
                    schedules.is_due(before, now, step)
                }))
            }
            false => 1,
        };
        let built = simulation.lists_built();
        let steps = simulation.advance_steps(dt, most)?;
        self.last_step = dt;
        if simulation.lists_built() != built {
            tuning::follow(simulation)?;
        }
        schedules.after_steps(simulation, simulation.time - dt);
        Ok(steps)
    }

    fn run(&mut self, caught: &mut dyn FnMut() -> usize) -> Result<Outcome> {
        self.update_forces()?;
        let (plan, comm) = (&self.deck.plan, Communicator::solo());
        keep_inputs(plan, &[])?;
        trajectory::check_box(plan, &self.simulation.domain.bx)?;
        let mut run_directory = RunDirectory::take(&plan.output.directory, &comm)?;
        let earlier = run_directory::files_to_replace(plan)?;
        let mut outputs = Outputs::new(&self.deck, &comm, &earlier, Instant::now())?;
        self.device.iter().for_each(|device| outputs.set_device(device.name()));
        let simulation = &mut self.simulation;
        if let Err(error) = first_outputs(simulation, &mut outputs) {
            outputs.record_failure(simulation, &error);
            return Err(error);
        }
        run_and_finish(simulation, &mut outputs, caught, &mut run_directory)
    }

    fn values(&mut self, field: Field) -> Result<Option<Vec<f64>>> {
        self.update_forces()?;
        self.simulation.with_synchronized_velocities(|simulation| {
            simulation.copy_to_host()?;
            if [Field::PairEnergy, Field::Virial].contains(&field) {
                simulation.evaluate_energies();
            }
            let particles = &simulation.particles;
            if !particles.has(field) {
                return Ok(None);
            }
            let width = field.components();
            let mut values = Vec::with_capacity(width * particles.owned().len());
            for row in rows_by_id(particles) {
                values.extend((0..width).map(|component| particles.component(field, component)[row]));
            }
            Ok(Some(values))
        })
    }

    fn set(&mut self, fields: &[(Field, Vec<f64>)]) -> Result<()> {
        let simulation = &mut self.simulation;
        let count = simulation.particles.owned().len();
        let names: Vec<Field> = fields.iter().map(|(field, _)| *field).collect();
        let mut wanted = Particles::new(&names, count);
        wanted.id = {
            let particles = &simulation.particles;
            rows_by_id(particles).into_iter().map(|row| particles.id[row]).collect()
        };
        for (field, values) in fields {
            let width = field.components();
            if !SETTABLE.contains(field) || !simulation.particles.has(*field) {
                let known = SETTABLE.iter().filter(|field| simulation.particles.has(**field));
                let known: Vec<&str> = known.map(|field| field.name()).collect();
                return Err(Error::usage(
                    format!("{} cannot be set here", field.name()),
                    format!("set one of {}", known.join(", ")),
                ));
            }
            if values.len() != width * count {
                return Err(Error::usage(
                    format!("{} values of {} are given for {count} particles", values.len(), field.name()),
                    format!("give {width} for each particle, in the order of ascending ids"),
                ));
            }
            for component in 0..width {
                let column = values.iter().skip(component).step_by(width);
                wanted
                    .component_mut(*field, component)
                    .iter_mut()
                    .zip(column)
                    .for_each(|(to, from)| *to = *from);
            }
            start::check_values(&wanted, *field)?;
        }
        simulation.copy_to_host()?;
        // the order of a device may have changed since the last copy
        let rows = rows_by_id(&simulation.particles);
        for &(field, _) in fields {
            for component in 0..field.components() {
                let column = simulation.particles.component_mut(field, component);
                for (&row, value) in rows.iter().zip(wanted.component(field, component)) {
                    column[row] = *value;
                }
            }
        }
        self.forces_known = false;
        simulation.adopt_changes(&names, self.device.as_ref())?;
        self.update_forces()
    }

    fn energies(&mut self) -> Result<SessionEnergies> {
        self.update_forces()?;
        let dt = self.last_step;
        self.simulation.with_synchronized_velocities(|simulation| {
            let observed = simulation.observe_resident(dt)?;
            simulation.copy_to_host()?;
            let particles = &simulation.particles;
            let sum = |field: Field, weight: &dyn Fn(usize) -> f64| {
                let column = particles.has(field).then(|| particles.component(field, 0))?;
                Some(particles.owned().map(|row| weight(row) * column[row]).sum())
            };
            let masses = particles.scalar(Field::Mass);
            Ok(SessionEnergies {
                pair: sum(Field::PairEnergy, &|_| 1.0),
                gravity: sum(Field::Potential, &|row| 0.5 * masses[row]),
                observed,
            })
        })
    }
}

/// The owned rows in the order of ascending ids.
fn rows_by_id(particles: &Particles) -> Vec<usize> {
    let mut rows: Vec<usize> = particles.owned().collect();
    rows.sort_unstable_by_key(|&row| particles.id[row]);
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::deck;

    /// A few molecules of a fluid, with another `[run]` and `[time_step]`.
    #[allow(clippy::result_large_err)]
    fn fluid(sections: &str) -> Result<Checked, deck::Report> {
        let text = format!(
            "{sections}\n[start.lattice]\nkind = \"fcc\"\ncells = 3\nspacing = 1.7\n\
             [space]\nboundary = \"periodic\"\n[interaction.lennard-jones]\ncutoff = 2.0\n\
             [neighbors]\nskin = 0.2\n"
        );
        deck::examine_for_session("deck", &text, &[], false)
    }

    #[test]
    fn a_deck_without_steps_must_have_what_steps_need() {
        let report = fluid("[run]\nsteps = 0\n").unwrap_err().to_string();
        assert!(report.contains("needs a fixed time step"), "{report}");
        let stars = "[run]\nsteps = 0\n[start.plummer]\nparticles = 100\n[gravity]\nsoftening = 0.0\n";
        let report = deck::examine_for_session("deck", stars, &[], false).unwrap_err().to_string();
        assert!(report.contains("nothing limits the time step"), "{report}");
        assert!(deck::examine("deck", stars, &[]).is_ok(), "a run performs no steps");
    }

    #[test]
    fn a_session_ends_with_its_device() {
        let deck = fluid("[run]\nsteps = 0\nthreads = 1\ndevice = \"cpu\"\n[time_step]\nfixed = 0.002\n");
        let mut session = Session::start(&deck.unwrap()).unwrap();
        assert_eq!(session.advance(2, || false).unwrap(), 2);
        let failed = session.compute(|_| Err::<(), _>(Error::usage("something else", "do this")));
        assert!(failed.is_err() && session.energies().is_ok(), "other errors do not end it");
        let failed = || Err::<(), _>(Error::Device { what: "lost".into(), remedy: "look".into() });
        assert!(session.compute(|_| failed()).is_err());
        for _ in 0..2 {
            let error = session.advance(1, || false).unwrap_err().to_string();
            assert!(error.contains("device of this simulation has failed"), "{error}");
        }
    }
}
