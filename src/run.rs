//! Runs a deck: the step loop with its outputs, signals, stop requests and restart.

mod changes;
pub mod lock;
mod outputs;
mod pages;
mod restart;
mod run_directory;
mod schedule;
pub mod session;
pub mod signals;
mod status;
pub mod stop;
pub mod tuning;

use std::path::{Path, PathBuf};
use std::time::Instant;

use crate::comm::Communicator;
use crate::deck::Checked;
use crate::device::{self, Device};
use crate::faults::{self, Fault, planted};
use crate::neighborhood::Method;
use crate::plan::{self, Plan};
use crate::report;
use crate::snapshot::trajectory;
use crate::step::fixed::at_the_end;
use crate::step::{Minimized, Simulation};
use crate::units::Dimension;
use crate::{Error, Result};
use lock::Lock;
use outputs::Outputs;
use restart::Restart;
use signals::Signals;
use stop::StopRequests;

pub use run_directory::keep_inputs;

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// At its end time or number of steps.
    Done,
    /// By a signal or a request, after a checkpoint.
    Stopped,
}

/// First value of [`requested`] for a `hilbrium stop`, beside signal numbers.
const REQUEST: u64 = 1 << 32;

/// Runs a deck to its end, from its start or from a checkpoint. The output directory is locked meanwhile.
///
/// # Errors
/// Any failure; all ranks return together. Outputs written before stay as they are.
pub fn run(deck: &Checked, comm: &Communicator, restart: Option<&Path>) -> Result<Outcome> {
    let signals = comm.agree_on(Signals::listen())?;
    run_listening(deck, comm, restart, &signals)
}

/// Like [`run`], for a caller that has already installed the signal handlers.
///
/// # Errors
/// As [`run`].
pub fn run_listening(
    deck: &Checked,
    comm: &Communicator,
    restart: Option<&Path>,
    signals: &Signals,
) -> Result<Outcome> {
    if let Some(notice) = faults::notice() {
        report::line(&format!("warning: {notice}: results of this run are wrong on purpose"));
    }
    comm.on_root(|| keep_inputs(&deck.plan, &[]))?;
    // before the directory is created: a device that cannot be used leaves nothing behind
    let device = device::open(&deck.plan, comm)?;
    let mut run_directory = RunDirectory::take(&deck.plan.output.directory, comm)?;
    let mut run = match restart {
        Some(checkpoint) => Run::restarted(deck, comm, device.as_ref(), checkpoint)?,
        None => Run::started(deck, comm, device.as_ref())?,
    };
    let Run { simulation, outputs } = &mut run;
    run_and_finish(simulation, outputs, &mut || signals.caught(), &mut run_directory)
}

/// Runs to the end and writes the last outputs. `caught` returns the number of the signal that stops the run,
/// 0 for none. Collective.
fn run_and_finish(
    simulation: &mut Simulation,
    outputs: &mut Outputs,
    caught: &mut dyn FnMut() -> usize,
    run_directory: &mut RunDirectory,
) -> Result<Outcome> {
    let ended = run_to_end(simulation, outputs, caught, run_directory).and_then(|outcome| {
        outputs.finish(simulation, outcome)?;
        Ok(outcome)
    });
    match &ended {
        Ok(outcome) => run_directory.record_end(*outcome, simulation.step),
        Err(error) => outputs.record_failure(simulation, error),
    }
    ended
}

/// The output directory, locked by rank 0, and the stop requests in it; empty on other ranks.
struct RunDirectory {
    requests_and_lock: Option<(StopRequests, Lock)>,
    /// The directory, if it was created for this run; removed on drop if the run has written nothing.
    created: Option<PathBuf>,
}

impl Drop for RunDirectory {
    fn drop(&mut self) {
        self.requests_and_lock = None;
        // fails, as it should, if the directory has files
        let _ = self.created.as_ref().map(std::fs::remove_dir);
    }
}

impl RunDirectory {
    /// Makes the directory and locks it. Collective.
    fn take(directory: &Path, comm: &Communicator) -> Result<Self> {
        let mut run_directory = RunDirectory { requests_and_lock: None, created: None };
        comm.on_root(|| {
            run_directory.created = (!directory.exists()).then(|| directory.to_owned());
            std::fs::create_dir_all(directory).map_err(|cause| Error::file("create", directory, &cause))?;
            let lock::Acquired { lock, notes } = lock::take(directory)?;
            notes.iter().for_each(|note| report::line(note));
            run_directory.requests_and_lock = Some((StopRequests::new(directory, &lock), lock));
            Ok(())
        })?;
        Ok(run_directory)
    }

    fn stop_requested(&mut self) -> bool {
        self.requests_and_lock.as_mut().is_some_and(|(requests, _)| requests.pending())
    }

    fn record_end(&mut self, outcome: Outcome, step: u64) {
        if let Some((_, lock)) = &mut self.requests_and_lock {
            lock.record_end(&match outcome {
                Outcome::Done => format!("done at step {step}"),
                Outcome::Stopped => format!("stopped after a checkpoint at step {step}"),
            });
        }
    }
}

/// Moves the particles to the device, if there is one, and logs it.
fn move_to_device(simulation: &mut Simulation, device: Option<&Device>) -> Result<()> {
    let Some(device) = device else { return Ok(()) };
    simulation.unused_on_device().iter().for_each(|note| report::line(note));
    let way = simulation.move_to(device)?;
    let text = match simulation.domain.comm.size() {
        1 => format!("particles live on {}", device.name()),
        ranks => format!(
            "particles live on {ranks} devices ({}) and go from one to another by {way}",
            device.name()
        ),
    };
    report::line(&text);
    if simulation.plan.sph.is_some() && simulation.plan.neighbors.method.is_none() {
        report::line(match simulation.neighbors().method {
            Method::Particles => {
                "pairs are found by lists of particles; neighbors.method = \"clusters\" takes less memory and \
                 more time"
            }
            _ => {
                "pairs are found by lists of clusters: the free memory may not suffice for lists of particles"
            }
        });
    }
    Ok(())
}

/// Performs all preparations of a run before its first forces: output directory, device, start, domain
/// decomposition and neighbor lists. Writes nothing. Returns notes for the user. Collective.
///
/// # Errors
/// Like [`run`] before its first forces.
pub fn can_begin(deck: &Checked, comm: &Communicator) -> Result<Vec<String>> {
    let plan = &deck.plan;
    device::open(plan, comm)?;
    comm.on_root(|| {
        run_directory::keep_inputs(plan, &[]).and_then(|()| run_directory::files_to_replace(plan)).map(drop)
    })?;
    let start = crate::start::build(plan, comm, &Simulation::fields(plan))?;
    let mut notes = start.notes;
    trajectory::check_box(plan, &start.bx)?;
    let mut simulation = Simulation::new(plan.clone(), comm, start.bx, start.particles);
    simulation.check_particle_count()?;
    notes.extend(simulation.notes());
    simulation.sync()?;
    Ok(notes)
}

/// Logs how the run finds its pairs, if it has chosen.
fn report_choice(tuned: Option<tuning::Tuned>) {
    tuned.iter().flat_map(tuning::Tuned::lines).for_each(|line| report::line(&line));
}

/// Describes the result of an energy minimization.
fn minimization_text(found: &Minimized) -> String {
    let asked = if found.converged {
        "as asked for"
    } else {
        "more than asked for: minimize.most_steps ended the search"
    };
    format!(
        "minimized in {} steps: potential energy {:e}, before {:e}; largest force {:.3e}, {asked}",
        found.steps, found.energy, found.energy_before, found.largest_force,
    )
}

/// Measures which method finds the pairs of a plan fastest, whatever method the plan names. Writes nothing.
/// `None` if there is nothing to choose. Collective.
///
/// # Errors
/// Those of the start, of the first forces and of [`tuning::tune`].
pub fn tuning_of(plan: &Plan, comm: &Communicator) -> Result<Option<tuning::Tuned>> {
    let mut plan = plan.clone();
    plan.neighbors.method = Some(plan::Method::Auto);
    let device = device::open(&plan, comm)?;
    let start = crate::start::build(&plan, comm, &Simulation::fields(&plan))?;
    let mut simulation = Simulation::new(plan, comm, start.bx, start.particles);
    simulation.plan.units.cgs = start.units;
    simulation.check_particle_count()?;
    move_to_device(&mut simulation, device.as_ref())?;
    simulation.evaluate_forces(0.0)?;
    simulation.choose_step(None)?;
    tuning::tune(&mut simulation)
}

/// Performs all before the first step of a new run.
fn first_forces(simulation: &mut Simulation, device: Option<&Device>) -> Result<()> {
    simulation.check_particle_count()?;
    if let Some(found) = simulation.minimize()? {
        report::line(&minimization_text(&found));
    }
    move_to_device(simulation, device)?;
    simulation.evaluate_forces(0.0)?;
    simulation.choose_step(None)?;
    report_choice(tuning::tune(simulation)?);
    Ok(())
}

/// Writes the outputs of the first state.
fn first_outputs(simulation: &mut Simulation, outputs: &mut Outputs) -> Result<()> {
    outputs.first(simulation)?;
    simulation.clock.lap("output");
    Ok(())
}

/// A simulation with its outputs.
struct Run {
    simulation: Simulation,
    outputs: Outputs,
}

impl Run {
    /// Starts from the deck's start: evaluates the forces, writes the first observables and snapshot.
    fn started(deck: &Checked, comm: &Communicator, device: Option<&Device>) -> Result<Self> {
        let plan = &deck.plan;
        let (started, mut earlier) = (Instant::now(), Vec::new());
        comm.on_root(|| run_directory::files_to_replace(plan).map(|found| earlier = found))?;
        let start = crate::start::build(plan, comm, &Simulation::fields(plan))?;
        start.notes.iter().for_each(|note| report::line(note));
        trajectory::check_box(plan, &start.bx)?;
        // only now: a start that cannot be read must not cost the files of an earlier run
        let mut outputs = Outputs::new(deck, comm, &earlier, started)?;
        let mut simulation = Simulation::new(plan.clone(), comm, start.bx, start.particles);
        simulation.plan.units.cgs = start.units;
        device.into_iter().for_each(|device| outputs.set_device(device.name()));
        let first =
            first_forces(&mut simulation, device).and_then(|()| first_outputs(&mut simulation, &mut outputs));
        if let Err(error) = first {
            outputs.record_failure(&simulation, &error);
            return Err(error);
        }
        Ok(Run { simulation, outputs })
    }

    /// Continues from a checkpoint as if the run had not ended.
    fn restarted(
        deck: &Checked,
        comm: &Communicator,
        device: Option<&Device>,
        checkpoint: &Path,
    ) -> Result<Self> {
        let Restart { deck, mut simulation, output_state, notes } =
            restart::read_checkpoint(deck, comm, checkpoint)?;
        notes.iter().for_each(|note| report::line(note));
        simulation.check_particle_count()?;
        move_to_device(&mut simulation, device)?;
        // a choice that was made for processors does not hold on a device, nor the other way round
        let resident = simulation.is_resident();
        if simulation.chosen.map_or(resident, |chosen| chosen.on_device != resident) {
            (simulation.chosen, simulation.list_costs) = (None, None);
            report_choice(tuning::tune(&mut simulation)?);
        }
        let directory = &deck.plan.output.directory;
        comm.on_root(|| {
            run_directory::protect_checkpoint(directory, checkpoint, simulation.step)?;
            run_directory::remove_partial_files(directory)
        })?;
        let mut outputs = Outputs::resumed(&deck, comm, output_state, &simulation)?;
        device.into_iter().for_each(|device| outputs.set_device(device.name()));
        Ok(Run { simulation, outputs })
    }
}

/// Advances to the end of the deck, or until a signal or a request stops the run. Collective.
fn run_to_end(
    simulation: &mut Simulation,
    outputs: &mut Outputs,
    caught: &mut dyn FnMut() -> usize,
    run_directory: &mut RunDirectory,
) -> Result<Outcome> {
    let (mut fallback_logged, mut choice_logged) = (false, false);
    while !is_done(simulation) {
        let built = simulation.lists_built();
        let next_output = outputs.next_time(simulation.time);
        let advanced = step_length(simulation, next_output).and_then(|dt| {
            let several = simulation.enqueues_steps(dt);
            let most = if several { outputs.steps_to_output(simulation, dt) } else { 1 };
            simulation.advance_steps(dt, most).map(|steps| (dt, steps))
        });
        let (dt, steps) = match advanced {
            Ok(performed) => performed,
            Err(error) => {
                outputs.save_after_failure(simulation);
                return Err(error);
            }
        };
        if simulation.lists_built() != built {
            let lines = tuning::follow(simulation)?;
            if !lines.is_empty() && (report::verbose() || !std::mem::replace(&mut choice_logged, true)) {
                lines.iter().for_each(|line| report::line(line));
                if !report::verbose() {
                    report::line("later choices are logged with --verbose");
                }
            }
            if simulation.particle_lists_fell_back() && !std::mem::replace(&mut fallback_logged, true) {
                report::line(
                    "lists of particles cannot number the neighbors of all super-clusters in 16 bits, or \
                     meet several images of a particle in this box: lists of clusters are swept instead",
                );
            }
        }
        outputs.after_steps(simulation, dt, steps)?;
        let [stop, status_due] = requested(simulation, outputs, caught(), run_directory);
        if status_due > 0 {
            outputs.write_status(simulation);
        }
        outputs.refresh_page(simulation);
        match stop {
            0 => {}
            REQUEST => {
                report::line("stopping: asked to by `hilbrium stop`");
                return Ok(Outcome::Stopped);
            }
            signal => {
                report::line(&format!("stopping after {}", signals::name(signal as usize)));
                return Ok(Outcome::Stopped);
            }
        }
    }
    Ok(Outcome::Done)
}

fn is_done(simulation: &Simulation) -> bool {
    let Simulation { plan, step, time, .. } = simulation;
    at_the_end(&plan.run, plan.time_step.fixed, *step, *time)
}

/// Returns the time step that the criteria allow, shortened to hit the end time and the next output exactly;
/// a fixed step is never shortened.
fn step_length(simulation: &Simulation, next_output: f64) -> Result<f64> {
    let (time, allowed) = (simulation.time, simulation.next_step);
    // beyond the end only a session goes on
    let end = simulation.plan.run.end_time.filter(|end| *end > time).unwrap_or(f64::INFINITY);
    let remaining = end.min(next_output) - time;
    if allowed < simulation.plan.time_step.smallest || allowed <= time * f64::EPSILON {
        return Err(Error::State {
            step: simulation.step,
            what: format!(
                "the time step fell to {}, limited by {:?}",
                simulation.plan.units.format_quantity(allowed, Dimension::Time),
                simulation.limit
            ),
            remedy: "look for particles that come too close; more softening or viscosity often helps".into(),
        });
    }
    if let Some(fixed) = simulation.plan.time_step.fixed {
        return Ok(fixed);
    }
    if planted(Fault::EndOvershot) && allowed.is_finite() {
        return Ok(allowed);
    }
    if !allowed.is_finite() && !remaining.is_finite() {
        return Err(Error::State {
            step: simulation.step,
            what: "nothing limits the time step".into(),
            remedy: "set time_step.largest or run.end_time".into(),
        });
    }
    // two nearly equal steps to the output, rather than a full one and a tiny one
    Ok(if allowed >= remaining {
        remaining
    } else if 2.0 * allowed > remaining {
        0.5 * remaining
    } else {
        allowed
    })
}

/// Returns the largest signal number caught by any rank, or [`REQUEST`], 0 for none; and 1 if the status is
/// due by the clock of rank 0, else 0. Collective.
fn requested(
    simulation: &Simulation,
    outputs: &Outputs,
    caught: usize,
    run_directory: &mut RunDirectory,
) -> [u64; 2] {
    let request = if run_directory.stop_requested() { REQUEST } else { 0 };
    let comm = &simulation.domain.comm;
    let status_due = comm.is_root() && outputs.status_is_due();
    let mut asked = [request.max(caught as u64), u64::from(status_due)];
    comm.all_max(&mut asked);
    asked
}
