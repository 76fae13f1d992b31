//! Benchmarks: one file per part of the step, each with a table of times on this machine.
//!
//! Times are medians over the repeats. Benchmarks report and never fail on slow results.

pub(crate) mod case;
mod cells;
pub mod decomposition;
mod device;
mod domain;
mod gravity;
mod keys;
mod machine;
mod neighbors;
mod operations;
mod pairs;
mod sample;
mod scaling;
mod search;
mod size;
mod spread;
mod step;
mod sweep;
mod table;
mod undisturbed;

pub use table::{Cell, Column, Findings, Remark, Table};

use std::time::Instant;

use crate::comm::Communicator;
use crate::{Error, Result};

/// A benchmark with its options.
#[derive(Clone, Debug, clap::Subcommand)]
pub enum Benchmark {
    /// Neighbor lists: memory, time to build, decode and sweep, by distribution, number of neighbors and
    /// coding
    Neighbors(neighbors::Options),
    /// Hilbert keys with and without sorting, by initial order of the particles
    Keys(keys::Options),
    /// Each law over a neighbor list, by precision, kind of list and instruction set
    Sweep(sweep::Options),
    /// Gravity: time of the tree walk and error against direct summation, by opening angle
    Gravity(gravity::Options),
    /// Spreading of particles onto a mesh and interpolation from it, by method, number of particles and mesh
    Spread(spread::Options),
    /// A pair law over the cells of a grid on a GPU, by strategy, beside lists; prefix sums in shared memory
    Cells(cells::Options),
    /// Neighbor search on a GPU by grids of cells and by lists, by scene, radius and number of particles
    Search(search::Options),
    /// Whole steps by phase; under mpirun, on all ranks
    Step(step::Options),
    /// Time and memory per particle of whole steps, by number of particles
    Size(size::Options),
    /// Particles, halos and traffic of the ranks of a large run, simulated in one process, and a weak scaling
    /// model
    Decomposition(decomposition::Options),
    /// Domain synchronization and halo exchange; under mpirun, on all ranks
    Domain(domain::Options),
    /// Scaling of whole steps with threads; under mpirun, with ranks
    Scaling(scaling::Options),
}

/// Options of all benchmarks.
#[derive(Clone, Copy, Debug, clap::Args)]
pub struct Common {
    /// Repetitions of each time, whose median counts [default: 5, for `scaling` 3]; for `step`, number of
    /// steps [default: 20]; for `size`, minimum number of steps [default: 3]
    #[arg(long, global = true, value_parser = clap::value_parser!(u64).range(1..100_000))]
    pub repeats: Option<u64>,
    /// Threads per rank [default: its share of the cores]
    #[arg(long, global = true, value_parser = clap::value_parser!(u64).range(1..10_000))]
    pub threads: Option<u64>,
    /// Print JSON instead of a table
    #[arg(long, global = true)]
    pub json: bool,
}

impl Common {
    /// Returns the number of repetitions, or the default of the benchmark.
    fn repeats(&self, usual: u64) -> usize {
        self.repeats.unwrap_or(usual) as usize
    }
}

impl Benchmark {
    /// Returns the name on the command line.
    pub fn name(&self) -> &'static str {
        match self {
            Benchmark::Neighbors(_) => "neighbors",
            Benchmark::Keys(_) => "keys",
            Benchmark::Sweep(_) => "sweep",
            Benchmark::Gravity(_) => "gravity",
            Benchmark::Spread(_) => "spread",
            Benchmark::Cells(_) => "cells",
            Benchmark::Search(_) => "search",
            Benchmark::Step(_) => "step",
            Benchmark::Size(_) => "size",
            Benchmark::Decomposition(_) => "decomposition",
            Benchmark::Domain(_) => "domain",
            Benchmark::Scaling(_) => "scaling",
        }
    }

    /// Returns whether the benchmark supports several ranks.
    fn collective(&self) -> bool {
        use Benchmark::{Domain, Scaling, Size, Step};
        matches!(self, Step(_) | Size(_) | Domain(_) | Scaling(_))
    }
}

/// Runs a benchmark. Collective.
///
/// # Errors
/// [`Error::Usage`] for several ranks if the benchmark supports one, [`Error::Deck`] for wrong overrides of a
/// deck, and errors of a step.
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
        Benchmark::Gravity(options) => gravity::measure(options, common)?,
        Benchmark::Spread(options) => spread::measure(options, common)?,
        Benchmark::Cells(options) => cells::measure(options, common)?,
        Benchmark::Search(options) => search::measure(options, common)?,
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
        ("lanes", Cell::text(crate::simd::widest())),
    ]);
    Ok(findings)
}

/// Returns the median of at least one number; the upper one if there are two.
fn median_value(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Returns the median time of a task (s) and its last result.
fn median<T>(repeats: usize, mut task: impl FnMut() -> T) -> (f64, T) {
    let mut seconds = Vec::with_capacity(repeats);
    loop {
        let start = Instant::now();
        let result = task();
        seconds.push(start.elapsed().as_secs_f64());
        if seconds.len() >= repeats {
            return (median_value(seconds), result);
        }
    }
}
