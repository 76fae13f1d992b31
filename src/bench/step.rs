//! `bench step`: whole steps by phase, over all ranks.

use super::case::{Case, simulation};
use super::undisturbed::Quiet;
use super::{Cell, Column, Common, Findings, Table, machine};
use crate::clock::PhaseTable;
use crate::comm::Communicator;
use crate::device::{Device, Operations};
use crate::run::tuning;
use crate::step::Simulation;
use crate::{Result, device, memory};
use std::time::Instant;

/// Options of `bench step`.
#[derive(Clone, Debug, clap::Args)]
#[command(
    after_help = "Timed steps follow the first forces and the tuning of skins, without outputs. Seconds are sums over\n\
    all steps; microseconds per update are core time: mean seconds times the threads of all ranks, over\n\
    particles times steps. Quiet updates estimate the undisturbed rate: each step counts with the first\n\
    decile of its kind (list build, pruning only, or neither)."
)]
pub struct Options {
    /// Case to simulate
    #[arg(long, value_enum, default_value_t = Case::Evrard)]
    case: Case,
    /// Number of particles
    #[arg(long, default_value_t = 65_465, value_parser = clap::value_parser!(u64).range(200..1_000_000_000))]
    particles: u64,
    /// Override a key of the case's deck: --set run.precision=double
    #[arg(long = "set", value_name = "SECTION.KEY=VALUE")]
    set: Vec<String>,
    /// Time the kernels of further steps on a GPU, one launch after the other
    #[arg(long)]
    kernels: bool,
}

/// Steps whose kernels are timed.
const TIMED_STEPS: u64 = 10;

const KERNEL_COLUMNS: &[Column] = &[
    ("kernel", "kernel"),
    ("launches per step", "launches_per_step"),
    ("us per launch", "microseconds_per_launch"),
    ("us per step", "microseconds_per_step"),
];

const COLUMNS: &[Column] = &[
    ("phase", "phase"),
    ("min s", "least_seconds"),
    ("mean s", "mean_seconds"),
    ("max s", "most_seconds"),
    ("imbalance", "imbalance"),
    ("share %", "percent"),
    ("us per update", "core_microseconds_per_update"),
];

/// Measures steps after the first forces, without output.
pub(super) fn measure(options: &Options, common: &Common, comm: &Communicator) -> Result<Findings> {
    let plan = options.case.plan(options.particles, &options.set)?;
    let device = device::open(&plan, comm)?;
    let mut simulation = simulation(plan, comm)?;
    if let Some(device) = &device {
        simulation.move_to(device)?;
    }
    let steps = Steps::measure(&mut simulation, common.repeats(20), 0.0)?;
    let mut table = Table::new(COLUMNS);
    for phase in steps.phases.rows.iter().chain([&steps.phases.total]) {
        table.push(vec![
            Cell::text(phase.name.clone()),
            Cell::Number(phase.min, 3),
            Cell::Number(phase.mean, 3),
            Cell::Number(phase.max, 3),
            Cell::Number(phase.imbalance, 2),
            Cell::Number(100.0 * phase.mean / steps.phases.total.mean.max(f64::MIN_POSITIVE), 1),
            Cell::Number(steps.microseconds(phase.mean), 3),
        ]);
    }
    let mut findings = Findings::from(table);
    if let Some(device) = device.as_ref().filter(|_| options.kernels) {
        findings.tables.push(kernels(&mut simulation, device)?);
    }
    findings.remarks.extend([
        ("case", Cell::text(options.case.name())),
        ("particles", Cell::count(steps.particles)),
        ("steps", Cell::count(steps.count)),
        ("updates_per_second", Cell::Number(steps.phases.rate(), 0)),
        ("updates_per_second_and_core", Cell::Number(steps.phases.rate_per_core(), 0)),
        ("quiet_updates_per_second", Cell::Number(steps.particles as f64 / steps.quiet_seconds, 0)),
        ("processor_microseconds_per_update", Cell::Number(steps.processor_microseconds(), 3)),
        ("lists_built", Cell::count(steps.builds)),
        ("peak_memory_per_particle_in_bytes", Cell::Number(steps.bytes as f64 / steps.particles as f64, 0)),
    ]);
    findings.remarks.extend(steps.skins.map(|skins| ("skins", Cell::text(skins))));
    if let (Some(device), Some(operations)) = (&device, steps.operations) {
        let microjoules = steps.phases.microjoules_per_update();
        let microjoules = microjoules.map_or(Cell::Nothing, |microjoules| Cell::Number(microjoules, 3));
        let (free, total) = device.memory()?;
        let mut used = [total - free];
        comm.all_sum(&mut used);
        findings.remarks.extend([
            ("device", Cell::text(device.name())),
            ("microjoules_per_update", microjoules),
            ("launches_per_step", Cell::Number(operations.launches as f64 / steps.count as f64, 1)),
            ("host_waits_per_step", Cell::Number(operations.waits as f64 / steps.count as f64, 2)),
            ("device_memory_per_particle_in_bytes", Cell::Number(used[0] as f64 / steps.particles as f64, 0)),
        ]);
    }
    Ok(findings)
}

/// Times of the kernels of this rank in further steps, the longest first.
fn kernels(simulation: &mut Simulation, device: &Device) -> Result<Table> {
    let mut count = 0;
    let times = device.time_kernels(|| {
        while count < TIMED_STEPS {
            count += simulation.advance_steps(simulation.next_step, TIMED_STEPS - count)?;
        }
        Ok(())
    })?;
    let mut times: Vec<_> = times.into_iter().collect();
    times.sort_by(|(_, (_, a)), (_, (_, b))| b.total_cmp(a));
    let mut table = Table::named("kernels", KERNEL_COLUMNS);
    for (kernel, (launches, seconds)) in times {
        table.push(vec![
            Cell::text(kernel),
            Cell::Number(launches as f64 / count as f64, 1),
            Cell::Number(1e6 * seconds / launches as f64, 1),
            Cell::Number(1e6 * seconds / count as f64, 1),
        ]);
    }
    Ok(table)
}

/// Measurements of steps over all ranks.
pub(super) struct Steps {
    /// Times by phase.
    pub phases: PhaseTable,
    /// Number of steps.
    pub count: u64,
    /// Number of particles.
    pub particles: u64,
    /// Lists built during the steps.
    pub builds: u64,
    /// Peak memory summed over all processes (bytes).
    pub bytes: u64,
    /// Wall time of all steps on the slowest rank (s).
    pub seconds: f64,
    /// Estimated undisturbed time of a step on the slowest rank (s).
    pub quiet_seconds: f64,
    /// CPU time summed over all ranks (s).
    pub processor_seconds: f64,
    /// Operations of this rank's device during the steps.
    pub operations: Option<Operations>,
    /// The skins that were tuned, if the deck left them open.
    pub skins: Option<String>,
}

impl Steps {
    /// Runs at least `least` steps for at least `seconds` seconds, after the first forces. Collective.
    ///
    /// # Errors
    /// Errors of a step.
    pub fn measure(simulation: &mut Simulation, least: usize, seconds: f64) -> Result<Self> {
        simulation.evaluate_forces(0.0)?;
        simulation.choose_step(None)?;
        let mut skins = tuning::tune(simulation)?.map(|tuned| tuned.summary());
        if simulation.is_resident() {
            // Warm-up: compiles the kernels of the step.
            simulation.advance(simulation.next_step)?;
        }
        simulation.clock.restart();
        let operations = simulation.device().map(Device::operations);
        let (start, built) = (Instant::now(), simulation.lists_built());
        let worked = machine::processor_seconds();
        let (mut updates, mut count, mut quiet) = (0, 0, Quiet::default());
        loop {
            let (begin, before, prunes) =
                (Instant::now(), simulation.lists_built(), simulation.neighborhood.prunes());
            let steps = simulation
                .advance_steps(simulation.next_step, (least as u64).saturating_sub(count).max(1))?;
            quiet.add(
                begin.elapsed().as_secs_f64(),
                steps,
                simulation.lists_built() - before,
                simulation.neighborhood.prunes() - prunes,
            );
            if simulation.lists_built() != before {
                skins = tuning::follow(simulation)?.pop().or(skins);
            }
            updates += steps * simulation.particles.owned().len() as u64;
            count += steps;
            let mut elapsed = [start.elapsed().as_secs_f64()];
            if count >= least as u64 {
                simulation.domain.comm.all_max(&mut elapsed);
                if elapsed[0] >= seconds {
                    let comm = &simulation.domain.comm;
                    let phases = simulation.clock.phases(comm, updates, rayon::current_num_threads());
                    let mut quiet = [quiet.seconds()];
                    comm.all_max(&mut quiet);
                    let mut processor = [machine::processor_seconds() - worked];
                    comm.all_sum(&mut processor);
                    let mut sums = [memory::peak(), simulation.particles.owned().len() as u64];
                    comm.all_sum(&mut sums);
                    let [bytes, particles] = [sums[0], sums[1].max(1)];
                    let builds = simulation.lists_built() - built;
                    let operations = operations.zip(simulation.device());
                    let operations = operations.map(|(before, device)| device.operations().since(before));
                    let [seconds, processor_seconds] = [elapsed[0], processor[0]];
                    return Ok(Steps {
                        phases,
                        count,
                        particles,
                        builds,
                        bytes,
                        seconds,
                        quiet_seconds: quiet[0],
                        processor_seconds,
                        operations,
                        skins,
                    });
                }
            }
        }
    }

    /// Returns the CPU time per update (us). Without disturbance by other processes it equals the core time.
    pub fn processor_microseconds(&self) -> f64 {
        self.processor_seconds * 1e6 / self.phases.updates.max(1) as f64
    }

    /// Returns the core time per update (us) for a mean time per rank (s).
    pub fn microseconds(&self, seconds: f64) -> f64 {
        seconds * 1e6 * self.phases.threads as f64 / self.phases.updates.max(1) as f64
    }
}
