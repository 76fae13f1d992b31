//! Benchmarks: one file a part of the step, each a table of times on this machine.
//!
//! Times are medians over the repeats. Nothing here is a test: what is slow is written down, never failed.

pub(crate) mod case;
pub mod decomposition;
mod device;
mod domain;
mod gravity;
mod keys;
mod machine;
mod neighbors;
mod operations;
mod pairs;
mod quiet;
mod sample;
mod scaling;
mod size;
mod step;
mod sweep;
mod table;

pub use table::{Cell, Column, Findings, Remark, Table};

use std::time::Instant;

use crate::comm::Communicator;
use crate::{Error, Result};

/// What can be measured, with its own options.
#[derive(Clone, Debug, clap::Subcommand)]
pub enum Benchmark {
    /// Neighbor lists: memory by part, times to build, decode and sweep, by distribution, number of neighbors and coding
    Neighbors(neighbors::Options),
    /// Hilbert keys, and keys with their sorting, by the order that the particles are in
    Keys(keys::Options),
    /// Every law over a neighbor list, by precision, list and instructions
    Sweep(sweep::Options),
    /// The tree's time and its error against direct summation, by opening angle
    Gravity(gravity::Options),
    /// Whole steps, by phase; under mpirun, on all ranks
    Step(step::Options),
    /// The time and memory per particle of whole steps, from few particles to many
    Size(size::Options),
    /// What the ranks of a large run would own, hold and send, found by this one process; and weak scaling from it
    Decomposition(decomposition::Options),
    /// Exchange of particles and halos; under mpirun, on all ranks
    Domain(domain::Options),
    /// Whole steps on one thread and more; under mpirun, on one rank and more
    Scaling(scaling::Options),
}

/// What all benchmarks have in common.
#[derive(Clone, Copy, Debug, clap::Args)]
pub struct Common {
    /// How often each time is measured, the median counts [default: 5, of `scaling` 3]; of `step`, how many steps
    /// [default: 20], of `size`, how many at least [default: 3]
    #[arg(long, global = true, value_parser = clap::value_parser!(u64).range(1..100_000))]
    pub repeats: Option<u64>,
    /// Threads of a rank [default: its share of the cores]
    #[arg(long, global = true, value_parser = clap::value_parser!(u64).range(1..10_000))]
    pub threads: Option<u64>,
    /// Print JSON instead of a table
    #[arg(long, global = true)]
    pub json: bool,
}

impl Common {
    /// How often each is measured, where a benchmark usually takes so many.
    fn repeats(&self, usual: u64) -> usize {
        self.repeats.unwrap_or(usual) as usize
    }
}

impl Benchmark {
    /// Its name on the command line.
    pub fn name(&self) -> &'static str {
        match self {
            Benchmark::Neighbors(_) => "neighbors",
            Benchmark::Keys(_) => "keys",
            Benchmark::Sweep(_) => "sweep",
            Benchmark::Gravity(_) => "gravity",
            Benchmark::Step(_) => "step",
            Benchmark::Size(_) => "size",
            Benchmark::Decomposition(_) => "decomposition",
            Benchmark::Domain(_) => "domain",
            Benchmark::Scaling(_) => "scaling",
        }
    }

    /// Whether several ranks can be measured.
    fn collective(&self) -> bool {
        use Benchmark::{Domain, Scaling, Size, Step};
        matches!(self, Step(_) | Size(_) | Domain(_) | Scaling(_))
    }
}

/// Measure; collective.
///
/// # Errors
/// [`Error::Usage`] for several ranks where one is measured, [`Error::Deck`] for wrong options of a deck, and whatever a
/// step can fail with.
pub fn measure(benchmark: &Benchmark, common: &Common, comm: &Communicator) -> Result<Findings> {
    if !benchmark.collective() && comm.size() > 1 {
        return Err(Error::usage(
            format!("bench {} measures one rank, and {} were started", benchmark.name(), comm.size()),
            "start it without mpirun; --threads sets the number of threads",
        ));
    }
    let mut findings = match benchmark {
        Benchmark::Neighbors(options) => neighbors::measure(options, common, comm)?,
        Benchmark::Keys(options) => keys::measure(options, common, comm)?,
        Benchmark::Sweep(options) => sweep::measure(options, common, comm)?,
        Benchmark::Gravity(options) => gravity::measure(options, common),
        Benchmark::Step(options) => step::measure(options, common, comm)?,
        Benchmark::Size(options) => size::measure(options, common, comm)?,
        Benchmark::Decomposition(options) => decomposition::measure(options, comm)?,
        Benchmark::Domain(options) => domain::measure(options, common, comm)?,
        Benchmark::Scaling(options) => scaling::measure(options, common, comm)?,
    };
    findings.remarks.extend([
        ("benchmark", Cell::text(benchmark.name())),
        ("ranks", Cell::count(comm.size())),
        ("threads_per_rank", Cell::count(rayon::current_num_threads())),
        ("lanes", Cell::text(crate::pair::lane::widest())),
    ]);
    Ok(findings)
}

/// The median of numbers, of which there is at least one; the upper one of two in the middle.
fn middle(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// The median of the seconds that a task takes, and what it returned last.
fn median<T>(repeats: usize, mut task: impl FnMut() -> T) -> (f64, T) {
    let mut seconds = Vec::with_capacity(repeats);
    loop {
        let start = Instant::now();
        let result = task();
        seconds.push(start.elapsed().as_secs_f64());
        if seconds.len() >= repeats {
            return (middle(seconds), result);
        }
    }
}
