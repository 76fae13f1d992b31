//! Writes the output of a run: observables, snapshots, trajectory, checkpoints, progress, table of phases.

use std::path::PathBuf;
use std::time::Instant;

use super::Outcome;
use super::pages::Pages;
use super::restart::OutputState;
use super::run_directory::{remove_files, set_aside_snapshots, snapshot_path};
use super::schedule::{Schedule, steps_until};
use super::status::{Counters, StatusFile};
use crate::comm::Communicator;
use crate::deck::Checked;
use crate::faults;
use crate::memory::Peak;
use crate::observe::{Drift, Layout, Measurements, Observables, Record};
use crate::particles::{Field, Particles, Role};
use crate::plan::{EquationOfState, Plan, SphPlan};
use crate::report;
use crate::snapshot::trajectory::{self, Trajectory};
use crate::snapshot::{self, Header};
use crate::sph::SmoothingStatistics;
use crate::status::State;
use crate::step::Simulation;
use crate::step::fixed::at_the_end;
use crate::units::Dimension;
use crate::{Error, Result};

/// Trajectory output; the file is opened with the first frame.
struct TrajectoryOutput {
    content: trajectory::Content,
    schedule: Schedule,
    file: Option<Trajectory>,
}

/// Output files and progress of a run.
pub struct Outputs {
    comm: Communicator,
    /// The resolved deck, which is stored in the files.
    deck: String,
    directory: PathBuf,
    snapshots: Schedule,
    trajectory: Option<TrajectoryOutput>,
    observables: Schedule,
    checkpoints: Schedule,
    record: Record,
    measurements: Measurements,
    progress: report::Progress,
    status: StatusFile,
    pages: Pages,
    output_state: OutputState,
    last_checkpoint: Option<u64>,
    /// Whether the directory may contain snapshots that an earlier run wrote after the restart's checkpoint.
    may_supersede: bool,
    started: Instant,
    first_step: u64,
    updates: u64,
}

impl Outputs {
    /// Creates the outputs of a new run, in a directory that exists and is locked: rank 0 removes the files
    /// of an `earlier` run and starts a record. The run time counts from `started`.
    ///
    /// # Errors
    /// [`Error::File`], on all ranks.
    pub fn new(deck: &Checked, comm: &Communicator, earlier: &[PathBuf], started: Instant) -> Result<Self> {
        let plan = &deck.plan;
        comm.on_root(|| remove_files(earlier))?;
        let path = plan.output.directory.join("observables.csv");
        let record = Record::create(comm, &path, Layout::of(plan))?;
        let status = StatusFile::create(plan, comm, started, (0, 0.0))?;
        Ok(Outputs { started, ..Self::build(deck, comm, record, status, OutputState::default()) })
    }

    /// Creates the outputs of a run from a checkpoint, and the directory. Snapshots that an earlier run wrote
    /// after the checkpoint are set aside at the first step.
    ///
    /// # Errors
    /// [`Error::Usage`] if nothing is left to do; [`Error::File`]; on all ranks.
    pub fn resumed(
        deck: &Checked,
        comm: &Communicator,
        output_state: OutputState,
        simulation: &Simulation,
    ) -> Result<Self> {
        let directory = &deck.plan.output.directory;
        comm.on_root(|| {
            check_work_left(deck, simulation)?;
            std::fs::create_dir_all(directory).map_err(|cause| Error::file("create", directory, &cause))
        })?;
        let record = {
            let path = directory.join("observables.csv");
            Record::resume(comm, &path, Layout::of(&deck.plan), simulation.time)?
        };
        let (particles, step, bx) = (&simulation.particles, simulation.step, &simulation.domain.bx);
        let file = trajectory::Content::of(&deck.plan)
            .map(|content| Trajectory::resume(directory, comm, &content, bx, particles, step))
            .transpose()?;
        // last: a restart that is refused keeps the status of the earlier run
        let status = StatusFile::create(&deck.plan, comm, Instant::now(), (step, simulation.time))?;
        let mut outputs = Self::build(deck, comm, record, status, output_state);
        if let Some(frames) = &mut outputs.trajectory {
            frames.file = file;
        }
        simulation.notes().iter().for_each(|note| report::line(note));
        (outputs.first_step, outputs.last_checkpoint) = (simulation.step, Some(simulation.step));
        outputs.may_supersede = true;
        let tables = std::mem::take(&mut outputs.output_state.tables);
        outputs.measurements.resume(comm, &tables);
        Ok(outputs)
    }

    fn build(
        deck: &Checked,
        comm: &Communicator,
        record: Record,
        status: StatusFile,
        output_state: OutputState,
    ) -> Self {
        let (plan, fixed) = (&deck.plan, deck.plan.time_step.fixed);
        Outputs {
            comm: comm.clone(),
            deck: deck.resolved.clone(),
            directory: plan.output.directory.clone(),
            snapshots: Schedule::new(plan.output.snapshots, fixed),
            trajectory: trajectory::Content::of(plan).map(|content| TrajectoryOutput {
                schedule: Schedule::new(Some(content.plan.every), fixed),
                content,
                file: None,
            }),
            observables: Schedule::new(Some(plan.output.observables), fixed),
            checkpoints: Schedule::new(plan.output.checkpoint, fixed),
            record,
            measurements: Measurements::new(plan, &plan.output.directory),
            progress: report::Progress::new(plan.run.end_time.unwrap_or(f64::INFINITY), plan.run.steps),
            status,
            pages: Pages::new(plan, comm),
            output_state,
            last_checkpoint: None,
            may_supersede: false,
            started: Instant::now(),
            first_step: 0,
            updates: 0,
        }
    }

    /// Returns the next time at which a step must end.
    pub fn next_time(&self, time: f64) -> f64 {
        self.schedules().map(|schedule| schedule.next_time(time)).fold(f64::INFINITY, f64::min)
    }

    /// Writes observables, measurements, a frame and a snapshot of the first state, after its forces.
    ///
    /// # Errors
    /// [`Error::File`], on all ranks.
    pub fn first(&mut self, simulation: &mut Simulation) -> Result<()> {
        simulation.notes().iter().for_each(|note| report::line(note));
        self.first_step = simulation.step;
        let observed = self.observe(simulation, 0.0)?;
        self.output_state.first_energy = observed.conserved_energy();
        self.measure(simulation)?;
        self.append_frame(simulation)?;
        self.snapshot(simulation)?;
        self.status.update(simulation, self.counters());
        Ok(())
    }

    /// Number of steps of length `dt` to the first after which an output is due by step or time, or the run
    /// ends, or a number without one.
    pub fn steps_to_output(&self, simulation: &Simulation, dt: f64) -> u64 {
        steps_until(&simulation.plan, (simulation.step, simulation.time), dt, |before, now, step| {
            self.measurements.due(step, now)
                || self.schedules().any(|schedule| schedule.is_met(before, now, step))
        })
    }

    fn schedules(&self) -> impl Iterator<Item = &Schedule> {
        let frames = self.trajectory.as_ref().map(|frames| &frames.schedule);
        [&self.snapshots, &self.observables, &self.checkpoints].into_iter().chain(frames)
    }

    /// Writes the outputs that are due after `steps` steps of length `dt`, of which only the last can have
    /// any ([`Self::steps_to_output`]).
    ///
    /// # Errors
    /// [`Error::File`], on all ranks.
    pub fn after_steps(&mut self, simulation: &mut Simulation, dt: f64, steps: u64) -> Result<()> {
        let (now, step) = (simulation.time, simulation.step);
        let before = now - dt;
        self.updates += steps * simulation.particles.owned().len() as u64;
        if std::mem::take(&mut self.may_supersede) {
            self.comm.on_root(|| set_aside_snapshots(&self.directory, self.output_state.snapshots))?;
        }
        if self.observables.due(&self.comm, before, now, step) {
            let observed = self.observe(simulation, dt)?;
            let drift = self.drift(&observed, simulation).short();
            self.progress.update(step, now, dt, drift, observed.particles);
        }
        self.measure(simulation)?;
        if self.trajectory.as_ref().is_some_and(|frames| frames.schedule.due(&self.comm, before, now, step)) {
            self.append_frame(simulation)?;
        }
        if self.snapshots.due(&self.comm, before, now, step) {
            self.snapshot(simulation)?;
            let shares = if report::verbose() {
                let threads = rayon::current_num_threads();
                format!("; {}", simulation.clock.phases(&self.comm, self.updates, threads).line())
            } else {
                String::new()
            };
            let (number, time) = (self.output_state.snapshots - 1, report::rounded(now, 6));
            report::line(&format!("snapshot {number} at t = {time}{shares}"));
        }
        if self.checkpoints.due(&self.comm, before, now, step) {
            self.checkpoint(simulation)?;
        }
        simulation.clock.lap("output");
        Ok(())
    }

    /// Ends the run: writes the last observables, a snapshot if the run is done, and a checkpoint to continue
    /// from; prints the table of phases.
    ///
    /// # Errors
    /// [`Error::File`], on all ranks.
    pub fn finish(&mut self, simulation: &mut Simulation, outcome: Outcome) -> Result<()> {
        self.progress.finish();
        let steps = simulation.step - self.first_step;
        if steps == 0 && self.first_step > 0 {
            report::line(&format!("the checkpoint is the end already: {}", end_text(simulation)));
            self.write_missing_files(simulation)?;
            return self.end(simulation, State::Done);
        }
        let observed = self.observe(simulation, 0.0)?;
        self.measurements.write(&self.comm)?;
        let last_snapshot =
            outcome == Outcome::Done && self.output_state.last_snapshot != Some(simulation.step);
        if last_snapshot {
            self.snapshot(simulation)?;
        }
        // a run of no steps needs no checkpoint; an existing one of this step does not count the new snapshot
        // yet
        let wanted = steps > 0 || outcome == Outcome::Stopped;
        if wanted && (last_snapshot || self.last_checkpoint != Some(simulation.step)) {
            self.checkpoint(simulation)?;
        }
        simulation.clock.lap("output");
        if steps > 0 {
            let table = simulation.clock.phases(&self.comm, self.updates, rayon::current_num_threads());
            report::line(&table.text());
        }
        if let Some(hydrodynamics) = &simulation.hydrodynamics {
            report::line(&smoothing_summary(&hydrodynamics.smoothing, steps + 1, observed.particles));
        }
        self.measurements.summary().iter().for_each(|line| report::line(line));
        let (drift, owned) = (self.drift(&observed, simulation), simulation.particles.owned().len());
        if let Some(warning) = drift_warning(&drift, &simulation.plan) {
            report::line(&warning);
        }
        report::line(&Peak::over_ranks(&self.comm, owned).to_string());
        report::line(&format!(
            "{} at t = {} after {steps} steps and {}: energy drift {}, files in {}",
            if outcome == Outcome::Done { "done" } else { "stopped" },
            simulation.plan.units.format_quantity(simulation.time, Dimension::Time),
            report::duration(self.started.elapsed().as_secs_f64()),
            drift.text(),
            self.directory.display(),
        ));
        let state = if outcome == Outcome::Done { State::Done } else { State::Stopped };
        self.end(simulation, state)
    }

    /// Writes the last files that the earlier run did not write, after a restart at its end.
    fn write_missing_files(&mut self, simulation: &mut Simulation) -> Result<()> {
        // number of this step's snapshot if the checkpoint counts it, else of the next, which may exist or
        // have been the last
        let counted = self.output_state.last_snapshot == Some(simulation.step);
        let number = self.output_state.snapshots.saturating_sub(u64::from(counted));
        let of_now = |number: u64| {
            let path = snapshot_path(&self.directory, number);
            snapshot::read_header(&path).is_ok_and(|head| head.step == simulation.step)
        };
        let there = snapshot_path(&self.directory, number).exists()
            || !counted && number.checked_sub(1).is_some_and(of_now);
        self.output_state.snapshots = number;
        // the root's view decides, so that all ranks take the same branch
        let mut lacking = vec![u8::from(!there)];
        self.comm.broadcast(&mut lacking, 0);
        if lacking == [1] {
            // forces are not known after a restart
            simulation.evaluate_forces(0.0)?;
            self.observe(simulation, 0.0)?;
            self.snapshot(simulation)?;
            report::line("its last snapshot was missing and is written now");
        }
        self.measurements.write(&self.comm)
    }

    /// Saves the last good state as a checkpoint after a failed step. A failure to write it is logged, not
    /// returned.
    pub fn save_after_failure(&mut self, simulation: &mut Simulation) {
        self.progress.finish();
        let home = simulation.copy_to_host();
        simulation.shorten_step();
        let whole = self.comm.agree(home.and_then(|()| all_finite(&simulation.particles)));
        match whole.and_then(|()| self.checkpoint(simulation)) {
            Ok(()) => report::error("the state before the failed step is kept as a checkpoint"),
            Err(error) => {
                report::error(&format!("the state before the failed step could not be kept: {error}"))
            }
        }
    }

    /// Whether the status is due, by the clock of this rank; [`Self::write_status`] must follow if it is on
    /// rank 0.
    pub fn status_is_due(&self) -> bool {
        self.status.is_due()
    }

    /// Writes the status of a run that goes on. Collective.
    pub fn write_status(&mut self, simulation: &mut Simulation) {
        self.status.update(simulation, self.counters());
        simulation.clock.lap("output");
    }

    /// Records the device on which the particles live.
    pub fn set_device(&mut self, name: String) {
        self.status.set_device(name);
    }

    /// Writes the page of the run if it is due.
    pub fn refresh_page(&mut self, simulation: &mut Simulation) {
        self.pages.refresh(simulation);
    }

    /// Writes the last status and the last page. Collective.
    fn end(&mut self, simulation: &Simulation, state: State) -> Result<()> {
        self.status.end(simulation, self.counters(), state)?;
        self.pages.end();
        Ok(())
    }

    /// Records the failure of the run in its status and page. Collective.
    pub fn record_failure(&mut self, simulation: &Simulation, error: &Error) {
        self.status.fail(simulation, self.counters(), error);
        self.pages.fail();
    }

    fn counters(&self) -> Counters {
        Counters {
            snapshots: self.output_state.snapshots,
            checkpoint: self.last_checkpoint,
            updates: self.updates,
        }
    }

    fn observe(&mut self, simulation: &mut Simulation, dt: f64) -> Result<Observables> {
        let observed = simulation.observe_resident(dt)?;
        // after a restart with other physics, or without the earlier thermostat, another energy is conserved
        if self.output_state.first_energy.is_nan() {
            self.output_state.first_energy = observed.conserved_energy();
        }
        self.record.append(&self.comm, &observed)?;
        let drift = self.drift(&observed, simulation);
        self.status.observed(&observed, &drift);
        Ok(observed)
    }

    fn measure(&mut self, simulation: &mut Simulation) -> Result<()> {
        if !self.measurements.due(simulation.step, simulation.time) {
            return Ok(());
        }
        simulation.copy_to_host()?;
        let Simulation { domain, particles, step, time, clock, .. } = simulation;
        clock.lap("output");
        self.measurements.measure(domain, particles, *step, *time)?;
        clock.lap("measurements");
        Ok(())
    }

    /// Returns the energy drift since the start.
    fn drift(&self, observed: &Observables, simulation: &Simulation) -> Drift {
        let volume = simulation.domain.bx.lengths().product();
        Drift::since(self.output_state.first_energy, observed, &simulation.plan, volume)
    }

    fn snapshot(&mut self, simulation: &mut Simulation) -> Result<()> {
        simulation.copy_to_host()?;
        simulation.evaluate_energies();
        let path = snapshot_path(&self.directory, self.output_state.snapshots);
        let header = self.header(simulation);
        // numbers of species mean nothing without names
        let named = |field| field != Field::Species || !simulation.plan.species.is_empty();
        let wanted = [
            Field::Velocity,
            Field::Species,
            Field::Charge,
            Field::InternalEnergy,
            Field::SmoothingLength,
            Field::Density,
            Field::Pressure,
            Field::Potential,
            Field::PairEnergy,
            Field::Virial,
            Field::Viscosity,
            Field::VelocityDivergence,
            Field::Acceleration,
        ];
        let fields: Vec<Field> =
            wanted.into_iter().filter(|&field| simulation.particles.has(field) && named(field)).collect();
        snapshot::write_snapshot(&path, &self.comm, &simulation.particles, &header, &fields)?;
        self.output_state.snapshots += 1;
        self.output_state.last_snapshot = Some(simulation.step);
        Ok(())
    }

    /// Appends a frame to the trajectory, if one is written.
    fn append_frame(&mut self, simulation: &mut Simulation) -> Result<()> {
        let Some(frames) = &mut self.trajectory else { return Ok(()) };
        simulation.copy_to_host()?;
        let (comm, particles) = (&self.comm, &simulation.particles);
        let mut file = match frames.file.take() {
            Some(file) => file,
            None => {
                Trajectory::create(&self.directory, comm, &frames.content, &simulation.domain.bx, particles)?
            }
        };
        let moment =
            trajectory::Moment { step: simulation.step, time: simulation.time, bx: simulation.domain.bx };
        file.append(comm, particles, &moment)?;
        frames.file = Some(file);
        Ok(())
    }

    fn header(&self, simulation: &Simulation) -> Header {
        let mut header = Header::new(simulation.domain.bx);
        header.time = simulation.time;
        header.step = simulation.step;
        header.units = simulation.plan.units.cgs;
        header.title = title(&simulation.plan);
        header.deck = self.deck.clone();
        header.species = simulation.plan.species.iter().map(|kind| kind.name.clone()).collect();
        header.adiabatic_index = simulation.plan.sph.as_ref().and_then(|sph| match sph.equation_of_state {
            EquationOfState::IdealGas { gamma } => Some(gamma),
            EquationOfState::Isothermal { .. } => None,
        });
        header
    }

    fn checkpoint(&mut self, simulation: &mut Simulation) -> Result<()> {
        simulation.copy_to_host()?;
        // the following steps must not depend on a neighbor list that a restart does not have
        simulation.invalidate_lists();
        let tables = self.measurements.tables(&self.comm);
        let state = self.output_state.checkpoint_state(simulation, &self.deck, tables);
        snapshot::write_checkpoint(&self.directory, &self.comm, &simulation.particles, &state)?;
        self.checkpoints.restart_wall_clock();
        self.last_checkpoint = Some(simulation.step);
        Ok(())
    }
}

/// Returns the title of a run in its files, with a notice of a planted fault.
pub(super) fn title(plan: &Plan) -> String {
    match faults::notice() {
        Some(notice) => format!("{notice}; {}", plan.title),
        None => plan.title.clone(),
    }
}

/// Fails if a run from a checkpoint has nothing to do: the checkpoint is at the deck's end, and the directory
/// holds no earlier run that might lack its last files.
fn check_work_left(deck: &Checked, simulation: &Simulation) -> Result<()> {
    let plan = &deck.plan;
    let ended = at_the_end(&plan.run, plan.time_step.fixed, simulation.step, simulation.time);
    if !ended || plan.output.directory.join("observables.csv").exists() {
        return Ok(());
    }
    Err(Error::usage(
        format!("there is nothing to do after the checkpoint: {}", end_text(simulation)),
        "write a larger number in the deck, or give one with --set; another folder with --set output.directory=... keeps the \
         files of the run before",
    ))
}

/// Describes which end of the plan the simulation has reached.
fn end_text(simulation: &Simulation) -> String {
    let (plan, step, time) = (&simulation.plan, simulation.step, simulation.time);
    match (plan.run.steps, plan.run.end_time) {
        (Some(steps), _) if step >= steps => format!(
            "it is at step {step} and run.steps is {steps}, which counts from the start of the first run: give more"
        ),
        (_, end) => format!(
            "it is at time {} and run.end_time is {}, which counts from the start of the first run: give more",
            plan.units.format_quantity(time, Dimension::Time),
            plan.units.format_quantity(end.unwrap_or(time), Dimension::Time)
        ),
    }
}

/// Returns a warning if the energy drift shows that the time step is too long.
fn drift_warning(drift: &Drift, plan: &Plan) -> Option<String> {
    let isothermal = |sph: &SphPlan| matches!(sph.equation_of_state, EquationOfState::Isothermal { .. });
    if !drift.is_large() || plan.sph.as_ref().is_some_and(isothermal) {
        return None;
    }
    let remedy = match plan.time_step.fixed {
        Some(fixed) => {
            format!("shorten time_step.fixed (now {})", plan.units.format_quantity(fixed, Dimension::Time))
        }
        None => "lower time_step.courant and time_step.acceleration, or give time_step.largest".to_owned(),
    };
    let other = match (&plan.gravity, drift.at_cutoff > 0.0) {
        (Some(_), _) => ", or lower gravity.opening_angle",
        (None, true) => ", or choose a truncation without a jump at the cutoff, such as \"shifted\"",
        (None, false) => "",
    };
    Some(format!(
        "warning: energy drift {} is large: {:.1e} of the kinetic and thermal energy, more than {:.0e}: {remedy}{other}",
        drift.text(),
        drift.of_motion(),
        drift.limit,
    ))
}

/// Summarizes the smoothing-length iterations of `evaluations` force evaluations.
fn smoothing_summary(smoothing: &SmoothingStatistics, evaluations: u64, particles: u64) -> String {
    format!(
        "smoothing lengths: {:.2} evaluations per particle and step, {} outgrew a list, {} not converged, {} without \
         enough neighbors",
        smoothing.evaluations as f64 / (evaluations * particles).max(1) as f64,
        report::grouped(smoothing.outgrown),
        report::grouped(smoothing.unconverged),
        report::grouped(smoothing.lonely),
    )
}

/// Fails with the first state value that is not finite, as left by failed forces.
fn all_finite(particles: &Particles) -> Result<()> {
    for field in particles.fields_of(Role::State) {
        for component in 0..field.components() {
            let column = particles.component(field, component);
            if let Some(row) = particles.owned().find(|&row| !column[row].is_finite()) {
                return Err(Error::State {
                    step: 0,
                    what: format!("{} of particle {} is {}", field.name(), particles.id[row], column[row]),
                    remedy: "restart from an earlier checkpoint".into(),
                });
            }
        }
    }
    Ok(())
}
