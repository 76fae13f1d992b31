//! Keeps the status file of a run: gathers what [`Status`] has, about once a second of wall time.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use crate::comm::Communicator;
use crate::memory::Peak;
use crate::observe::{Drift, Observables};
use crate::plan::Plan;
use crate::report::{self, Estimate};
use crate::status::{self, End, Energy, FORMAT_VERSION, Memory, Neighbors, Rates, State, Status, finite};
use crate::step::{self, Simulation};
use crate::{Error, Result};

/// Shortest wall time between two writes.
const INTERVAL: Duration = Duration::from_secs(1);

/// Writes take at most one part in so many of the wall time, however slow the file system is.
const COST_LIMIT: u32 = 400;

/// Counters of the outputs that a status shows.
#[derive(Clone, Copy, Debug)]
pub struct Counters {
    /// Snapshots written so far.
    pub snapshots: u64,
    /// Step of the last checkpoint.
    pub checkpoint: Option<u64>,
    /// Particle updates of this rank.
    pub updates: u64,
}

/// The status of this run and its file, which rank 0 writes.
pub struct StatusFile {
    directory: PathBuf,
    status: Status,
    started: Instant,
    /// Time and duration of the last write.
    last_write: (Instant, Duration),
    left: Estimate,
    /// Wall time (s) and step of the last gathering, for recent rates.
    last: (f64, u64),
    has_warned: bool,
}

impl StatusFile {
    /// Writes the first status of a run that began at `started` and continues from `step` and `time`.
    /// Collective.
    ///
    /// # Errors
    /// [`Error::File`], on all ranks.
    pub fn create(
        plan: &Plan,
        comm: &Communicator,
        started: Instant,
        (step, time): (u64, f64),
    ) -> Result<Self> {
        let mut threads = [rayon::current_num_threads() as u64];
        comm.all_sum(&mut threads);
        let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
        let elapsed = started.elapsed().as_secs_f64();
        let now = status::now();
        let status = Status {
            format: FORMAT_VERSION,
            version: env!("CARGO_PKG_VERSION").into(),
            title: super::outputs::title(plan),
            state: State::Running,
            message: None,
            host: host.trim().to_owned(),
            process: std::process::id(),
            started: now - elapsed,
            updated: now,
            elapsed,
            ranks: comm.size() as u64,
            threads: threads[0],
            device: "cpu".into(),
            particles: 0,
            step,
            first_step: step,
            time,
            time_step: None,
            time_unit: plan.units.name([0, 0, 1]),
            end: End { time: plan.run.end_time, steps: plan.run.steps },
            fraction: 0.0,
            seconds_left: None,
            recent: Rates::default(),
            mean: Rates::default(),
            energy: None,
            phases: Vec::new(),
            total: None,
            memory: Memory::default(),
            neighbors: None,
            snapshots: 0,
            checkpoint: None,
        };
        let directory = plan.output.directory.clone();
        let begun = Instant::now();
        comm.on_root(|| status.write(&directory))?;
        Ok(StatusFile {
            directory,
            status,
            started,
            last_write: (begun, begun.elapsed()),
            left: Estimate::default(),
            last: (elapsed, step),
            has_warned: false,
        })
    }

    /// Whether a write is due, by the clock of this rank.
    pub fn is_due(&self) -> bool {
        let (begun, cost) = self.last_write;
        begun.elapsed() >= INTERVAL.max(cost * COST_LIMIT)
    }

    /// Records the conserved energy of a line of the observables.
    pub fn observed(&mut self, observed: &Observables, drift: &Drift) {
        self.status.energy = Some(Energy {
            first: finite(drift.first),
            now: finite(observed.conserved_energy()),
            relative_drift: drift.relative().and_then(finite),
            drift: drift.text(),
            unit: drift.units.name([1, 2, -2]),
        });
        if observed.time_step > 0.0 {
            self.status.time_step = finite(observed.time_step);
        }
    }

    /// Gathers the status of all ranks and writes it. A write that fails is logged once: the run goes on.
    /// Collective.
    pub fn update(&mut self, simulation: &Simulation, counters: Counters) {
        let begun = Instant::now();
        self.gather(simulation, counters);
        if !simulation.domain.comm.is_root() {
            return;
        }
        let written = self.status.write(&self.directory);
        self.last_write = (begun, begun.elapsed());
        if let Err(error) = written
            && !std::mem::replace(&mut self.has_warned, true)
        {
            report::line(&format!("warning: the status of the run is not up to date: {error}"));
        }
    }

    /// Writes the last status of a run that is done or stopped. Collective.
    ///
    /// # Errors
    /// [`Error::File`], on all ranks.
    pub fn end(&mut self, simulation: &Simulation, counters: Counters, state: State) -> Result<()> {
        self.gather(simulation, counters);
        (self.status.state, self.status.seconds_left) = (state, None);
        simulation.domain.comm.on_root(|| self.status.write(&self.directory))
    }

    /// Records that the run has failed on all ranks, with the message of the first that has one. A status
    /// that cannot be written is left out: the error itself is what the user must see. Collective.
    pub fn fail(&mut self, simulation: &Simulation, counters: Counters, error: &Error) {
        let comm = &simulation.domain.comm;
        let own = if matches!(error, Error::Elsewhere) { String::new() } else { error.to_string() };
        let texts = comm.all_gather(own.as_bytes());
        let message = texts.iter().find(|text| !text.is_empty());
        let message = message.map(|text| String::from_utf8_lossy(text).into_owned());
        let status = &mut self.status;
        status.state = State::Failed;
        status.message = Some(message.unwrap_or_else(|| error.to_string()));
        (status.updated, status.elapsed) = (status::now(), self.started.elapsed().as_secs_f64());
        status.seconds_left = None;
        let run = &simulation.plan.run;
        (status.step, status.time) = (simulation.step, simulation.time);
        status.fraction = report::fraction(run.end_time, run.steps, simulation.step, simulation.time);
        (status.snapshots, status.checkpoint) = (counters.snapshots, counters.checkpoint);
        if comm.is_root() {
            let _ = self.status.write(&self.directory);
        }
    }

    /// Brings the status up to date; the same on all ranks, but for wall times. Collective.
    fn gather(&mut self, simulation: &Simulation, counters: Counters) {
        let (comm, plan) = (&simulation.domain.comm, &simulation.plan);
        let (owned, elapsed) = (simulation.owned(), self.started.elapsed().as_secs_f64());
        let table = simulation.clock.phases(comm, counters.updates, rayon::current_num_threads());
        let peak = Peak::over_ranks(comm, owned).bytes;
        let mut sums = [owned as u64, simulation.neighbor_bytes()];
        comm.all_sum(&mut sums);
        let [particles, bytes] = sums;
        let steps = simulation.step - self.status.first_step;
        let total = table.total.max;
        let status = &mut self.status;
        status.particles = particles;
        (status.step, status.time) = (simulation.step, simulation.time);
        (status.updated, status.elapsed) = (status::now(), elapsed);
        status.mean = Rates {
            steps_per_second: finite(steps as f64 / total).filter(|_| steps > 0),
            updates_per_second: finite(table.rate()).filter(|_| steps > 0),
        };
        let (then, before) = self.last;
        if simulation.step > before && elapsed > then {
            let rate = (simulation.step - before) as f64 / (elapsed - then);
            let updates = rate * particles as f64;
            status.recent = Rates { steps_per_second: finite(rate), updates_per_second: finite(updates) };
            self.last = (elapsed, simulation.step);
        }
        status.fraction =
            report::fraction(plan.run.end_time, plan.run.steps, simulation.step, simulation.time);
        status.seconds_left = finite(self.left.left(elapsed, status.fraction));
        (status.phases, status.total) = (table.rows, Some(table.total));
        let resident = simulation.is_resident();
        let estimate = step::Estimate::of(plan);
        status.memory = Memory {
            peak: [peak.least, peak.mean, peak.largest],
            estimate: (!resident)
                .then(|| estimate.fixed * comm.size() as f64 + estimate.per_particle * particles as f64),
        };
        let has_pairs = plan.sph.is_some() || plan.interaction.is_some();
        status.neighbors = has_pairs.then(|| {
            let settings = simulation.neighbors();
            Neighbors {
                method: settings.method.name().into(),
                symmetric: settings.symmetric,
                skin: settings.skins.outer,
                inner_skin: settings.skins.inner,
                builds: simulation.lists_built(),
                bytes,
            }
        });
        (status.snapshots, status.checkpoint) = (counters.snapshots, counters.checkpoint);
    }

    /// Sets the name of the device on which particles live.
    pub fn set_device(&mut self, name: String) {
        self.status.device = name;
    }
}
