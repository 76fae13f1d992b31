//! `bench size`: time and memory per particle as functions of the number of particles.

use super::case::{Case, on_processors, simulation};
use super::step::Steps;
use super::{Cell, Column, Common, Findings, Table, machine};
use crate::Result;
use crate::clock::PhaseTable;
use crate::comm::Communicator;
use crate::plan::Plan;
use crate::step::Estimate;
use std::time::Instant;

/// Options of `bench size`.
#[derive(Clone, Debug, clap::Args)]
#[command(
    after_help = "Microseconds are core time per update, as in bench step: of whole steps, and of their parts. The\n\
    processor column is CPU time, which excludes waiting for other programs. Each size runs at least\n\
    --repeats steps and at least one second. A size is not started if it would exceed the memory limit,\n\
    by the estimate of hilbrium check, scaled up if the previous size exceeded its own estimate, or the\n\
    time limit, in proportion to the previous size. A remark says so. Peak memory is the sum over all\n\
    processes, start included."
)]
pub struct Options {
    /// Cases to simulate, comma-separated
    #[arg(long, value_enum, value_delimiter = ',', default_value = "evrard,liquid")]
    case: Vec<Case>,
    /// Numbers of particles, comma-separated, ascending
    #[arg(long, value_delimiter = ',',
        default_value = "10000,30000,100000,300000,1000000,2000000,4000000,8000000",
        value_parser = clap::value_parser!(u64).range(200..100_000_000_000))]
    particles: Vec<u64>,
    /// Memory limit of all processes together in gigabytes [default: three quarters of the available memory]
    #[arg(long, value_name = "GIGABYTES", value_parser = positive)]
    memory: Option<f64>,
    /// Time limit of the benchmark in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 600.0, value_parser = positive)]
    time: f64,
    /// Override a key of the case's deck: --set run.precision=double
    #[arg(long = "set", value_name = "SECTION.KEY=VALUE")]
    set: Vec<String>,
}

fn positive(text: &str) -> std::result::Result<f64, String> {
    match text.parse() {
        Ok(number) if number > 0.0 && number <= 1e12 => Ok(number),
        _ => Err("a positive number is wanted".into()),
    }
}

const COLUMNS: &[Column] = &[
    ("case", "case"),
    ("particles", "particles"),
    ("steps", "steps"),
    ("us per update", "core_microseconds_per_update"),
    ("processor", "processor_microseconds_per_update"),
    ("domain", "domain"),
    ("lists", "lists"),
    ("pairs", "pairs"),
    ("gravity", "gravity"),
    ("other", "other"),
    ("updates per s", "updates_per_second"),
    ("peak bytes per particle", "peak_bytes_per_particle"),
    ("s with start", "seconds"),
];

/// The parts of a step, in column order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Domain,
    Lists,
    Pairs,
    Gravity,
    Other,
}

const PARTS: [Part; 5] = [Part::Domain, Part::Lists, Part::Pairs, Part::Gravity, Part::Other];

impl Part {
    /// Returns the part that a phase belongs to; all gas passes are part of the pairs.
    fn of(phase: &str) -> Self {
        match phase {
            "domain" => Part::Domain,
            "neighbors" => Part::Lists,
            "gravity" => Part::Gravity,
            "kick" | "drift" | "output" | "measurements" => Part::Other,
            _ => Part::Pairs,
        }
    }

    /// Returns the mean time (s).
    fn seconds(self, phases: &PhaseTable) -> f64 {
        let own = phases.rows.iter().filter(|phase| Part::of(&phase.name) == self);
        // `Iterator::sum` of no values would be -0.
        own.fold(0.0, |sum, phase| sum + phase.mean)
    }
}

/// Resources used by one size.
#[derive(Clone, Copy, Debug)]
struct Usage {
    particles: f64,
    bytes: f64,
    /// Estimated bytes.
    estimate: f64,
    seconds: f64,
}

/// Limits of the benchmark.
#[derive(Clone, Copy, Debug)]
struct Budget {
    bytes: f64,
    seconds: f64,
}

impl Budget {
    /// Returns a reason not to start a size, given its estimated bytes, the resources of the previous size,
    /// and the `spent` seconds; `None` if it fits.
    fn rejects(&self, particles: u64, estimate: f64, last: Option<Usage>, spent: f64) -> Option<String> {
        let bytes = estimate * last.map_or(1.0, |last| (last.bytes / last.estimate).max(1.0));
        let seconds = last.map_or(0.0, |last| last.seconds * particles as f64 / last.particles);
        if bytes > self.bytes {
            let [wanted, allowed] = [bytes, self.bytes].map(|bytes| bytes * 1e-9);
            return Some(format!("{particles} particles would take {wanted:.1} GB of {allowed:.1}"));
        }
        if spent + seconds > self.seconds {
            let left = (self.seconds - spent).max(0.0);
            return Some(format!(
                "{particles} particles would take {seconds:.0} s, and {left:.0} s are left"
            ));
        }
        None
    }
}

/// Runs steps of all cases, size by size, within the limits.
pub(super) fn measure(options: &Options, common: &Common, comm: &Communicator) -> Result<Findings> {
    let begun = Instant::now();
    // Equal on all ranks, so that they stop together.
    let mut allowed = [options.memory.map_or_else(|| 0.75 * available_memory(), |gigabytes| gigabytes * 1e9)];
    comm.all_min(&mut allowed);
    let budget = Budget { bytes: allowed[0], seconds: options.time };
    let mut findings = Findings::from(Table::new(COLUMNS));
    for &case in &options.case {
        let mut last: Option<Usage> = None;
        for &particles in &options.particles {
            let mut spent = [begun.elapsed().as_secs_f64()];
            comm.all_max(&mut spent);
            let plan = on_processors(case.plan(particles, &options.set)?)?;
            let Estimate { fixed, per_particle } = Estimate::of(&plan);
            let estimate = fixed * comm.size() as f64 + per_particle * particles as f64;
            if let Some(reason) = budget.rejects(particles, estimate, last, spent[0]) {
                let field = match case {
                    Case::Uniform => "uniform_stopped",
                    Case::Evrard => "evrard_stopped",
                    Case::Sedov => "sedov_stopped",
                    Case::Plummer => "plummer_stopped",
                    Case::Liquid => "liquid_stopped",
                    Case::Ions => "ions_stopped",
                    Case::Salt => "salt_stopped",
                };
                findings.remarks.push((field, Cell::text(reason)));
                break;
            }
            let (row, usage) = size(case, plan, common, comm)?;
            findings.tables[0].push(row);
            last = Some(Usage { estimate, ..usage });
        }
    }
    findings.remarks.push(("memory_allowed_in_gigabytes", Cell::Number(budget.bytes * 1e-9, 1)));
    Ok(findings)
}

/// Runs one size. Returns its row and the resources used.
fn size(case: Case, plan: Plan, common: &Common, comm: &Communicator) -> Result<(Vec<Cell>, Usage)> {
    const LEAST_SECONDS: f64 = 1.0;
    machine::reset_peak_memory();
    let start = Instant::now();
    let mut simulation = simulation(plan, comm)?;
    let steps = Steps::measure(&mut simulation, common.repeats(3), LEAST_SECONDS)?;
    let mut seconds = [start.elapsed().as_secs_f64()];
    comm.all_max(&mut seconds);
    let cost = |seconds: f64| Cell::Number(steps.microseconds(seconds), 3);
    let mut row = vec![
        Cell::text(case.name()),
        Cell::count(steps.particles),
        Cell::count(steps.count),
        cost(steps.phases.total.mean),
        Cell::Number(steps.processor_microseconds(), 3),
    ];
    row.extend(PARTS.map(|part| cost(part.seconds(&steps.phases))));
    row.extend([
        Cell::Number(steps.phases.rate(), 0),
        Cell::Number(steps.bytes as f64 / steps.particles as f64, 0),
        Cell::Number(seconds[0], 1),
    ]);
    // Steps beyond the requested number, which fill a second, do not grow with the size.
    let filled = steps.seconds * (1.0 - (common.repeats(3) as f64 / steps.count as f64).min(1.0));
    let (particles, bytes) = (steps.particles as f64, steps.bytes as f64);
    Ok((row, Usage { particles, bytes, estimate: bytes, seconds: seconds[0] - filled }))
}

/// Returns the memory available without swapping (bytes); infinite if the system does not report it.
fn available_memory() -> f64 {
    let known = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let line = known.lines().find_map(|line| line.strip_prefix("MemAvailable:"));
    let kibibytes = line.and_then(|line| line.split_whitespace().next()?.parse::<f64>().ok());
    kibibytes.map_or(f64::INFINITY, |kibibytes| kibibytes * 1024.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pass_is_one_over_pairs() {
        for pass in ["smoothing lengths", "density", "gradients", "viscosity", "pair forces"] {
            assert_eq!(Part::of(pass), Part::Pairs);
        }
        let others = ["domain", "neighbors", "gravity", "kick", "drift"].map(Part::of);
        assert_eq!(others, [Part::Domain, Part::Lists, Part::Gravity, Part::Other, Part::Other]);
    }

    #[test]
    fn sizes_beyond_the_budget_are_refused() {
        let last = Some(Usage { particles: 1e6, bytes: 4e8, estimate: 3.2e8, seconds: 10.0 });
        let budget = Budget { bytes: 1e9, seconds: 100.0 };
        assert!(budget.rejects(2_000_000, 6.4e8, last, 50.0).is_none());
        // A quarter more than estimated, as for the previous size.
        assert!(budget.rejects(3_000_000, 9.6e8, last, 0.0).unwrap().contains("1.2 GB of 1.0"));
        let late = budget.rejects(2_000_000, 6.4e8, last, 85.0).unwrap();
        assert!(late.contains("20 s") && late.contains("15 s are left"), "{late}");
        assert!(Budget { bytes: f64::INFINITY, ..budget }.rejects(5_000_000, 1.6e9, last, 0.0).is_none());
        // Less than estimated, as for small sizes.
        let little = last.map(|last| Usage { bytes: 1e7, ..last });
        assert!(budget.rejects(2_000_000, 9.9e8, little, 0.0).is_none());
        // The first size is judged by its estimate alone.
        assert!(budget.rejects(4_000_000, 1.3e9, None, 0.0).unwrap().contains("1.3 GB of 1.0"));
        assert!(budget.rejects(2_000_000, 6.4e8, None, 1e3).unwrap().contains("0 s are left"));
    }
}
