//! A run: the loop of steps with its outputs, signals and ends.

mod carried;
mod changes;
mod folder;
pub mod lists;
mod outputs;
mod schedule;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use signal_hook::consts::{SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::flag;

use crate::comm::Communicator;
use crate::deck::Checked;
use crate::device::{self, Device};
use crate::report;
use crate::step::fixed::at_the_end;
use crate::step::{Minimized, Simulation};
use crate::units::Dimension;
use crate::{Error, Result};
use carried::Restart;
use outputs::Outputs;

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// At its end time or number of steps.
    Done,
    /// By a signal, after a checkpoint.
    Stopped,
}

/// Run a deck to its end, from its start or from a checkpoint.
///
/// # Errors
/// Whatever goes wrong; all ranks return together. Outputs written before stay as they are.
pub fn run(deck: &Checked, comm: &Communicator, restart: Option<&Path>) -> Result<Outcome> {
    let stop = Arc::new(AtomicBool::new(false));
    comm.agree(listen_to_signals(&stop))?;
    let mut run = match restart {
        Some(checkpoint) => Run::restarted(deck, comm, checkpoint)?,
        None => Run::started(deck, comm)?,
    };
    let outcome = run.until_the_end(&stop)?;
    run.outputs.finish(&mut run.simulation, outcome)?;
    Ok(outcome)
}

/// Let SIGTERM and SIGINT raise a flag, and end the process at once when they come again. SIGXFSZ is caught too, so
/// that a file that grows beyond the user's limit is an error of the call that writes it.
fn listen_to_signals(stop: &Arc<AtomicBool>) -> Result<()> {
    let told = |outcome: std::io::Result<signal_hook::SigId>| {
        outcome.map(drop).map_err(|cause| {
            Error::usage(format!("cannot listen to signals: {cause}"), "run on a system with POSIX signals")
        })
    };
    for signal in [SIGTERM, SIGINT] {
        // in this order: the first signal finds the flag lowered
        told(flag::register_conditional_shutdown(signal, 128 + signal, stop.clone()))?;
        told(flag::register(signal, stop.clone()))?;
    }
    told(flag::register(SIGXFSZ, Arc::default()))
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
    comm.on_root(|| folder::examine(plan).map(drop))?;
    let start = crate::start::build(plan, comm, &Simulation::fields(plan))?;
    let mut notes = start.notes;
    let mut simulation = Simulation::new(plan.clone(), comm, start.bx, start.particles);
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
    fn started(deck: &Checked, comm: &Communicator) -> Result<Self> {
        let plan = &deck.plan;
        let device = device::open(plan, comm)?;
        let (started, mut earlier) = (Instant::now(), Vec::new());
        comm.on_root(|| folder::prepare(plan).map(|found| earlier = found))?;
        let start = crate::start::build(plan, comm, &Simulation::fields(plan))?;
        start.notes.iter().for_each(|note| report::line(note));
        // not before: a start that cannot be read costs no earlier run
        let outputs = Outputs::new(deck, comm, &earlier, started)?;
        let mut simulation = Simulation::new(plan.clone(), comm, start.bx, start.particles);
        simulation.plan.units.cgs = start.units;
        if let Some(found) = simulation.minimize()? {
            report::line(&minimized(&found));
        }
        settle(&mut simulation, device.as_ref())?;
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
    fn restarted(deck: &Checked, comm: &Communicator, checkpoint: &Path) -> Result<Self> {
        let device = device::open(&deck.plan, comm)?;
        let Restart { deck, mut simulation, carried, notes } =
            carried::read_checkpoint(deck, comm, checkpoint)?;
        notes.iter().for_each(|note| report::line(note));
        settle(&mut simulation, device.as_ref())?;
        let outputs = Outputs::resumed(&deck, comm, carried, &simulation)?;
        Ok(Run { simulation, outputs })
    }

    fn until_the_end(&mut self, stop: &AtomicBool) -> Result<Outcome> {
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
            if self.told_to_stop(stop) {
                report::line("stopping after a signal");
                return Ok(Outcome::Stopped);
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

    /// Whether any rank has caught a signal.
    fn told_to_stop(&self, stop: &AtomicBool) -> bool {
        let mut raised = [u64::from(stop.load(Ordering::Relaxed))];
        self.simulation.domain.comm.all_max(&mut raised);
        raised[0] > 0
    }
}
