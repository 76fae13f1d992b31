//! `bench scaling`: whole steps on increasing numbers of threads, or on one rank and all ranks.

use super::case::{Case, on_processors, simulation};
use super::step::Steps;
use super::{Cell, Column, Common, Findings, Table, median_value};
use crate::comm::Communicator;
use crate::{Error, Result};

/// Options of `bench scaling`.
#[derive(Clone, Debug, clap::Args)]
#[command(
    after_help = "Without mpirun, the same steps run on 1, 2, 4, ... threads and on all threads; under mpirun on rank\n\
    0 alone, while the others wait, and on all ranks. Speedup is the rate relative to one thread or\n\
    rank, efficiency the speedup over their number. With --weak, each has as many particles as one\n\
    alone: a speedup of n means equal time per step. Rates are medians over --repeats, and means over\n\
    --steps within each."
)]
pub struct Options {
    /// Case to simulate
    #[arg(long, value_enum, default_value_t = Case::Evrard)]
    case: Case,
    /// Number of particles
    #[arg(long, default_value_t = 65_465, value_parser = clap::value_parser!(u64).range(200..1_000_000_000))]
    particles: u64,
    /// Weak scaling: this number of particles per thread or rank
    #[arg(long)]
    weak: bool,
    /// Steps per measurement
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..100_000))]
    steps: u64,
    /// Override a key of the case's deck: --set run.precision=double
    #[arg(long = "set", value_name = "SECTION.KEY=VALUE")]
    set: Vec<String>,
}

const COLUMNS: &[Column] = &[
    ("ranks", "ranks"),
    ("threads", "threads"),
    ("particles", "particles"),
    ("s per step", "seconds_per_step"),
    ("updates per s", "updates_per_second"),
    ("speedup", "speedup"),
    ("efficiency", "efficiency"),
    ("imbalance", "imbalance"),
];

/// Returns 1, 2, 4, ... below `most`, and `most`.
fn doubled(most: usize) -> Vec<usize> {
    let mut numbers: Vec<usize> = std::iter::successors(Some(1), |number| Some(2 * number))
        .take_while(|number| *number < most)
        .collect();
    numbers.push(most);
    numbers
}

/// Measures one row per number of threads or ranks.
pub(super) fn measure(options: &Options, common: &Common, comm: &Communicator) -> Result<Findings> {
    let mut table = Table::new(COLUMNS);
    let mut first = None;
    let over_ranks = comm.size() > 1;
    let numbers = if over_ranks { vec![1, comm.size()] } else { doubled(rayon::current_num_threads()) };
    for number in numbers {
        let particles = options.particles * if options.weak { number as u64 } else { 1 };
        let run = |comm: &Communicator| Rate::measure(options, particles, common.repeats(3), comm);
        let (ranks, threads, found) = if over_ranks {
            let found = match (number, comm.rank()) {
                (1, 0) => run(&Communicator::solo()),
                (1, _) => Ok(Rate::default()),
                _ => run(comm),
            };
            // The waiting ranks synchronize with rank 0 here.
            (number, rayon::current_num_threads(), comm.agree_on(found)?)
        } else {
            (1, number, with_threads(number, || run(comm))??)
        };
        let speedup = found.updates_per_second / *first.get_or_insert(found.updates_per_second);
        table.push(vec![
            Cell::count(ranks),
            Cell::count(threads),
            Cell::count(found.particles),
            Cell::Number(found.particles as f64 / found.updates_per_second, 4),
            Cell::Number(found.updates_per_second, 0),
            Cell::Number(speedup, 2),
            Cell::Number(speedup / number as f64, 3),
            Cell::Number(found.imbalance, 2),
        ]);
    }
    let mut findings = Findings::from(table);
    findings.remarks.extend([
        ("case", Cell::text(options.case.name())),
        ("growth", Cell::text(if options.weak { "weak" } else { "strong" })),
        ("steps", Cell::count(options.steps)),
        ("repeats", Cell::count(common.repeats(3))),
    ]);
    Ok(findings)
}

/// Result of a run.
#[derive(Clone, Copy, Debug, Default)]
struct Rate {
    particles: u64,
    updates_per_second: f64,
    imbalance: f64,
}

impl Rate {
    fn measure(options: &Options, particles: u64, repeats: usize, comm: &Communicator) -> Result<Self> {
        let (mut rates, mut imbalances, mut count) = (Vec::new(), Vec::new(), 0);
        for _ in 0..repeats {
            let plan = on_processors(options.case.plan(particles, &options.set)?)?;
            let mut simulation = simulation(plan, comm)?;
            let steps = Steps::measure(&mut simulation, options.steps as usize, 0.0)?;
            rates.push(steps.phases.rate());
            imbalances.push(steps.phases.total.imbalance);
            count = steps.particles;
        }
        Ok(Rate {
            particles: count,
            updates_per_second: median_value(rates),
            imbalance: median_value(imbalances),
        })
    }
}

/// Runs a task in a pool of `threads` threads.
fn with_threads<T: Send>(threads: usize, task: impl FnOnce() -> T + Send) -> Result<T> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().map_err(|cause| {
        Error::usage(format!("cannot start {threads} threads: {cause}"), "ask for fewer with --threads")
    })?;
    Ok(pool.install(task))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_double_up_to_the_most() {
        assert_eq!(doubled(1), [1]);
        assert_eq!(doubled(2), [1, 2]);
        assert_eq!(doubled(12), [1, 2, 4, 8, 12]);
    }
}
