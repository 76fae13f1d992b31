//! A run: the loop of steps with its outputs, signals and ends.

mod carried;
mod changes;
mod folder;
pub mod lists;
pub mod lock;
mod outputs;
mod schedule;
pub mod signals;
pub mod stop;

use std::path::{Path, PathBuf};
use std::time::Instant;

use crate::comm::Communicator;
use crate::deck::Checked;
use crate::device::{self, Device};
use crate::report;
use crate::step::fixed::at_the_end;
use crate::step::{Minimized, Simulation};
use crate::units::Dimension;
use crate::{Error, Result};
use carried::Restart;
use lock::Lock;
use outputs::Outputs;
use signals::Signals;
use stop::Requests;

pub use folder::keep_inputs;

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// At its end time or number of steps.
    Done,
    /// By a signal or a request, after a checkpoint.
    Stopped,
}

/// What [`Run::asked_to_stop`] finds beside numbers of signals.
const REQUEST: u64 = 1 << 32;

/// Run a deck to its end, from its start or from a checkpoint. The folder of its files is locked meanwhile.
///
/// # Errors
/// Whatever goes wrong; all ranks return together. Outputs written before stay as they are.
pub fn run(deck: &Checked, comm: &Communicator, restart: Option<&Path>) -> Result<Outcome> {
    let signals = comm.agree_on(Signals::listen())?;
    run_listening(deck, comm, restart, &signals)
}

/// As [`run`], for who listens to signals already.
///
/// # Errors
/// As [`run`].
pub fn run_listening(
    deck: &Checked,
    comm: &Communicator,
    restart: Option<&Path>,
    signals: &Signals,
) -> Result<Outcome> {
    comm.on_root(|| keep_inputs(&deck.plan, &[]))?;
    // before the folder is made: a device that cannot be used leaves nothing behind
    let device = device::open(&deck.plan, comm)?;
    let mut held = Held::take(&deck.plan.output.directory, comm)?;
    let mut run = match restart {
        Some(checkpoint) => Run::restarted(deck, comm, device.as_ref(), checkpoint)?,
        None => Run::started(deck, comm, device.as_ref())?,
    };
    let outcome = run.until_the_end(signals, &mut held)?;
    run.outputs.finish(&mut run.simulation, outcome)?;
    held.say_end(outcome, run.simulation.step);
    Ok(outcome)
}

/// The run's folder, held by rank 0, and the requests that come there; nothing on other ranks.
struct Held {
    requests_and_lock: Option<(Requests, Lock)>,
    /// The folder, if it was made for this run: it goes with a run that has written nothing.
    made: Option<PathBuf>,
}

impl Drop for Held {
    fn drop(&mut self) {
        self.requests_and_lock = None;
        // a folder with files stays
        let _ = self.made.as_ref().map(std::fs::remove_dir);
    }
}

impl Held {
    /// Make the folder and lock it. Collective.
    fn take(directory: &Path, comm: &Communicator) -> Result<Self> {
        let mut held = Held { requests_and_lock: None, made: None };
        comm.on_root(|| {
            held.made = (!directory.exists()).then(|| directory.to_owned());
            std::fs::create_dir_all(directory).map_err(|cause| Error::file("create", directory, &cause))?;
            let lock::Taken { lock, notes } = lock::take(directory)?;
            notes.iter().for_each(|note| report::line(note));
            held.requests_and_lock = Some((Requests::new(directory, &lock), lock));
            Ok(())
        })?;
        Ok(held)
    }

    fn asked_to_stop(&mut self) -> bool {
        self.requests_and_lock.as_mut().is_some_and(|(requests, _)| requests.any())
    }

    fn say_end(&mut self, outcome: Outcome, step: u64) {
        if let Some((_, lock)) = &mut self.requests_and_lock {
            lock.say_end(&match outcome {
                Outcome::Done => format!("done at step {step}"),
                Outcome::Stopped => format!("stopped after a checkpoint at step {step}"),
            });
        }
    }
}

/// The particles go where they are to live, which is told where that is a device.
fn settle(simulation: &mut Simulation, device: Option<&Device>) -> Result<()> {
    let Some(device) = device else { return Ok(()) };
    let way = simulation.move_to(device)?;
    let text = match simulation.domain.comm.size() {
        1 => format!("particles live on {}", device.name()),
        ranks => format!(
            "particles live on {ranks} devices ({}) and go from one to another by {way}",
            device.name()
        ),
    };
    report::line(&text);
    Ok(())
}

/// Everything that a run does before its first forces: the folder, the device, the start, its domains and lists. Nothing is
/// written. Returns what a user should know. Collective.
///
/// # Errors
/// As [`run`] before its first forces.
pub fn can_begin(deck: &Checked, comm: &Communicator) -> Result<Vec<String>> {
    let plan = &deck.plan;
    device::open(plan, comm)?;
    comm.on_root(|| folder::keep_inputs(plan, &[]).and_then(|()| folder::prepare(plan)).map(drop))?;
    let start = crate::start::build(plan, comm, &Simulation::fields(plan))?;
    let mut notes = start.notes;
    let mut simulation = Simulation::new(plan.clone(), comm, start.bx, start.particles);
    simulation.check_particle_count()?;
    notes.extend(simulation.notes());
    simulation.sync()?;
    Ok(notes)
}

/// How a search for a minimum of the energy ended, in words.
fn minimized(found: &Minimized) -> String {
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

/// A simulation with its outputs.
struct Run {
    simulation: Simulation,
    outputs: Outputs,
}

impl Run {
    /// From the deck's start: the forces are evaluated, the first observables and snapshot written.
    fn started(deck: &Checked, comm: &Communicator, device: Option<&Device>) -> Result<Self> {
        let plan = &deck.plan;
        let (started, mut earlier) = (Instant::now(), Vec::new());
        comm.on_root(|| folder::prepare(plan).map(|found| earlier = found))?;
        let start = crate::start::build(plan, comm, &Simulation::fields(plan))?;
        start.notes.iter().for_each(|note| report::line(note));
        // not before: a start that cannot be read costs no earlier run
        let outputs = Outputs::new(deck, comm, &earlier, started)?;
        let mut simulation = Simulation::new(plan.clone(), comm, start.bx, start.particles);
        simulation.plan.units.cgs = start.units;
        simulation.check_particle_count()?;
        if let Some(found) = simulation.minimize()? {
            report::line(&minimized(&found));
        }
        settle(&mut simulation, device)?;
        simulation.evaluate_forces(0.0)?;
        simulation.choose_step(None)?;
        if let Some(chosen) = lists::tune(&mut simulation)? {
            report::line(&chosen);
        }
        let mut run = Run { simulation, outputs };
        run.outputs.first(&mut run.simulation)?;
        run.simulation.clock.lap("output");
        Ok(run)
    }

    /// From a checkpoint: everything goes on as if the run had not ended.
    fn restarted(
        deck: &Checked,
        comm: &Communicator,
        device: Option<&Device>,
        checkpoint: &Path,
    ) -> Result<Self> {
        let Restart { deck, mut simulation, carried, notes } =
            carried::read_checkpoint(deck, comm, checkpoint)?;
        notes.iter().for_each(|note| report::line(note));
        simulation.check_particle_count()?;
        settle(&mut simulation, device)?;
        let directory = &deck.plan.output.directory;
        comm.on_root(|| {
            folder::keep_checkpoint(directory, checkpoint, simulation.step)?;
            folder::clear_partial(directory)
        })?;
        let outputs = Outputs::resumed(&deck, comm, carried, &simulation)?;
        Ok(Run { simulation, outputs })
    }

    fn until_the_end(&mut self, signals: &Signals, held: &mut Held) -> Result<Outcome> {
        while !self.done() {
            let built = self.simulation.lists_built();
            let advanced = self.length_of_step().and_then(|dt| self.simulation.advance_on(dt).map(|()| dt));
            let dt = match advanced {
                Ok(dt) => dt,
                Err(error) => {
                    self.outputs.rescue(&mut self.simulation);
                    return Err(error);
                }
            };
            if self.simulation.lists_built() != built
                && let Some(chosen) = lists::follow(&mut self.simulation)
            {
                report::line(&chosen);
            }
            self.outputs.after_step(&mut self.simulation, dt)?;
            match self.asked_to_stop(signals, held) {
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

    fn done(&self) -> bool {
        let Simulation { plan, step, time, .. } = &self.simulation;
        at_the_end(&plan.run, plan.time_step.fixed, *step, *time)
    }

    /// The step that the criteria allow, cut to meet the end and the next output exactly; a fixed one is never cut.
    fn length_of_step(&self) -> Result<f64> {
        let simulation = &self.simulation;
        let (time, allowed) = (simulation.time, simulation.next_step);
        let end = simulation.plan.run.end_time.unwrap_or(f64::INFINITY);
        let remaining = end.min(self.outputs.next_time(time)) - time;
        if allowed < simulation.plan.time_step.smallest || allowed <= time * f64::EPSILON {
            return Err(Error::State {
                step: simulation.step,
                what: format!(
                    "the time step fell to {}, limited by {:?}",
                    simulation.plan.units.told(allowed, Dimension::Time),
                    simulation.limit
                ),
                remedy: "look for particles that come too close; more softening or viscosity often helps"
                    .into(),
            });
        }
        if let Some(fixed) = simulation.plan.time_step.fixed {
            return Ok(fixed);
        }
        if !allowed.is_finite() && !remaining.is_finite() {
            return Err(Error::State {
                step: simulation.step,
                what: "nothing limits the time step".into(),
                remedy: "set time_step.largest or run.end_time".into(),
            });
        }
        // two nearly equal steps to the output rather than one that leaves a sliver
        Ok(if allowed >= remaining {
            remaining
        } else if 2.0 * allowed > remaining {
            0.5 * remaining
        } else {
            allowed
        })
    }

    /// A signal that a rank has caught, or [`REQUEST`]; 0 for none. Collective.
    fn asked_to_stop(&self, signals: &Signals, held: &mut Held) -> u64 {
        let request = if held.asked_to_stop() { REQUEST } else { 0 };
        let mut asked = [request.max(signals.caught() as u64)];
        self.simulation.domain.comm.all_max(&mut asked);
        asked[0]
    }
}
