//! `bench size`: what a particle costs among few and among many.

use super::case::{Case, on_processors, simulation};
use super::step::Steps;
use super::{Cell, Column, Common, Findings, Table, machine};
use crate::Result;
use crate::clock::PhaseTable;
use crate::comm::Communicator;
use crate::deck::plan::Plan;
use crate::memory::Estimate;
use std::time::Instant;

/// What `bench size` measures.
#[derive(Clone, Debug, clap::Args)]
#[command(
    after_help = "Microseconds are those of a core per update, as in bench step: of whole steps, and of their parts.\n\
    Those that processors worked, waiting for other programs left out, stand beside.\n\
    Each size has at least as many steps as --repeats says, and goes on for a second. A size is not\n\
    begun where it would pass the memory that is allowed, by the estimate of hilbrium check, raised where\n\
    the size before took more than its own; nor where it would pass the time, in proportion to the size\n\
    before. The remark says so. Peak memory is that of all processes, start included."
)]
pub struct Options {
    /// What is simulated, with commas between
    #[arg(long, value_enum, value_delimiter = ',', default_value = "evrard,liquid")]
    case: Vec<Case>,
    /// Numbers of particles, with commas between, ascending
    #[arg(long, value_delimiter = ',',
        default_value = "10000,30000,100000,300000,1000000,2000000,4000000,8000000",
        value_parser = clap::value_parser!(u64).range(200..100_000_000_000))]
    particles: Vec<u64>,
    /// Gigabytes that all processes together may take [default: three quarters of what is available]
    #[arg(long, value_name = "GIGABYTES", value_parser = positive)]
    memory: Option<f64>,
    /// Seconds that all may take
    #[arg(long, value_name = "SECONDS", default_value_t = 600.0, value_parser = positive)]
    time: f64,
    /// Set a key over the case's deck: --set run.precision=double
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

/// The parts of a step, in the order of their columns.
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
    /// The part that a phase belongs to; a gas has many passes over pairs.
    fn of(phase: &str) -> Self {
        match phase {
            "domain" => Part::Domain,
            "neighbors" => Part::Lists,
            "gravity" => Part::Gravity,
            "kick" | "drift" | "output" | "measurements" => Part::Other,
            _ => Part::Pairs,
        }
    }

    /// Its mean seconds.
    fn seconds(self, phases: &PhaseTable) -> f64 {
        let own = phases.rows.iter().filter(|phase| Part::of(&phase.name) == self);
        // the sum of none is 0, not -0
        own.fold(0.0, |sum, phase| sum + phase.mean)
    }
}

/// What one size took in all.
#[derive(Clone, Copy, Debug)]
struct Taken {
    particles: f64,
    bytes: f64,
    /// What bytes were expected.
    estimate: f64,
    seconds: f64,
}

/// How much may be taken.
#[derive(Clone, Copy, Debug)]
struct Budget {
    bytes: f64,
    seconds: f64,
}

impl Budget {
    /// Why so many particles, estimated to take so many bytes, would be too many after a smaller size, if they would;
    /// `spent` seconds are gone.
    fn refuses(&self, particles: u64, estimate: f64, last: Option<Taken>, spent: f64) -> Option<String> {
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

/// Steps of all cases, size by size, within the budget.
pub(super) fn measure(options: &Options, common: &Common, comm: &Communicator) -> Result<Findings> {
    let begun = Instant::now();
    // the same on all ranks, which stop together
    let mut allowed = [options.memory.map_or_else(|| 0.75 * available_memory(), |gigabytes| gigabytes * 1e9)];
    comm.all_min(&mut allowed);
    let budget = Budget { bytes: allowed[0], seconds: options.time };
    let mut findings = Findings::from(Table::new(COLUMNS));
    for &case in &options.case {
        let mut last: Option<Taken> = None;
        for &particles in &options.particles {
            let mut spent = [begun.elapsed().as_secs_f64()];
            comm.all_max(&mut spent);
            let plan = on_processors(case.plan(particles, &options.set)?)?;
            let Estimate { fixed, per_particle } = Estimate::of(&plan);
            let estimate = fixed * comm.size() as f64 + per_particle * particles as f64;
            if let Some(reason) = budget.refuses(particles, estimate, last, spent[0]) {
                let field = match case {
                    Case::Uniform => "uniform_stopped",
                    Case::Evrard => "evrard_stopped",
                    Case::Sedov => "sedov_stopped",
                    Case::Plummer => "plummer_stopped",
                    Case::Liquid => "liquid_stopped",
                    Case::Ions => "ions_stopped",
                };
                findings.remarks.push((field, Cell::text(reason)));
                break;
            }
            let (row, taken) = size(case, plan, common, comm)?;
            findings.tables[0].push(row);
            last = Some(Taken { estimate, ..taken });
        }
    }
    findings.remarks.push(("memory_allowed_in_gigabytes", Cell::Number(budget.bytes * 1e-9, 1)));
    Ok(findings)
}

/// One size: its row, and what it took.
fn size(case: Case, plan: Plan, common: &Common, comm: &Communicator) -> Result<(Vec<Cell>, Taken)> {
    const LEAST_SECONDS: f64 = 1.0;
    machine::forget_memory();
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
    // what a second is filled with beyond the steps asked for does not grow with the size
    let filled = steps.seconds * (1.0 - (common.repeats(3) as f64 / steps.count as f64).min(1.0));
    let (particles, bytes) = (steps.particles as f64, steps.bytes as f64);
    Ok((row, Taken { particles, bytes, estimate: bytes, seconds: seconds[0] - filled }))
}

/// Bytes that programs can have without others being put aside; without limit where the system does not tell.
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
        let last = Some(Taken { particles: 1e6, bytes: 4e8, estimate: 3.2e8, seconds: 10.0 });
        let budget = Budget { bytes: 1e9, seconds: 100.0 };
        assert!(budget.refuses(2_000_000, 6.4e8, last, 50.0).is_none());
        // a quarter more than was expected, as before
        assert!(budget.refuses(3_000_000, 9.6e8, last, 0.0).unwrap().contains("1.2 GB of 1.0"));
        let late = budget.refuses(2_000_000, 6.4e8, last, 85.0).unwrap();
        assert!(late.contains("20 s") && late.contains("15 s are left"), "{late}");
        assert!(Budget { bytes: f64::INFINITY, ..budget }.refuses(5_000_000, 1.6e9, last, 0.0).is_none());
        // less than was expected, as programs of few particles take
        let little = last.map(|last| Taken { bytes: 1e7, ..last });
        assert!(budget.refuses(2_000_000, 9.9e8, little, 0.0).is_none());
        // the first size is judged by what is expected alone
        assert!(budget.refuses(4_000_000, 1.3e9, None, 0.0).unwrap().contains("1.3 GB of 1.0"));
        assert!(budget.refuses(2_000_000, 6.4e8, None, 1e3).unwrap().contains("0 s are left"));
    }
}
