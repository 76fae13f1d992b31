//! Number of threads of a rank.

use crate::comm::Communicator;
use crate::{Error, Result, parallel, report};

/// The processors available to this rank.
#[derive(Clone, Copy, Debug)]
struct ProcessorShare {
    /// Number of processors available to the ranks that share them.
    offered: usize,
    /// Number of ranks that share them.
    sharing: usize,
}

impl ProcessorShare {
    /// Determines the share of this rank. Collective.
    fn of(comm: &Communicator) -> Self {
        let places = comm.all_gather(processor_set().as_bytes());
        let sharing = places.iter().filter(|other| **other == places[comm.rank()]).count().max(1);
        ProcessorShare {
            offered: std::thread::available_parallelism().map_or(1, |offered| offered.get()),
            sharing,
        }
    }

    /// Returns the default number of threads: an even share of the processors.
    fn default_threads(self) -> usize {
        (self.offered / self.sharing).max(1)
    }

    /// Returns the largest useful number of threads.
    fn max_useful_threads(self) -> usize {
        self.offered.div_ceil(self.sharing)
    }
}

/// Starts the threads of this rank for a run: as many as the deck sets, by default its share of the
/// processors. Threads beyond the number of processors would only compete for them and are not started. Sums
/// are still partitioned for the requested number, so that results are bitwise equal to those of a machine
/// with enough processors. Collective.
pub(super) fn start_for_run(comm: &Communicator, wanted: Option<usize>) -> Result<()> {
    let share = ProcessorShare::of(comm);
    let threads = wanted.unwrap_or(share.default_threads());
    let started = threads.min(share.max_useful_threads());
    if started < threads {
        parallel::set_reduction_threads(threads);
        report::line(&format!(
            "warning: run.threads = {threads}, but {} here: {started} {} started, and sums are split as for {threads}",
            describe(share),
            if started == 1 { "thread is" } else { "threads are" },
        ));
    }
    build(started)
}

fn describe(share: ProcessorShare) -> String {
    let ProcessorShare { offered, sharing } = share;
    let offer = if offered == 1 { "1 processor".into() } else { format!("{offered} processors") };
    match (offered, sharing) {
        (1, 1) => format!("there is {offer}"),
        (_, 1) => format!("there are {offer}"),
        _ => format!("{sharing} ranks share {offer}"),
    }
}

/// Starts the threads of this rank for a benchmark: exactly as many as requested, with a warning if they
/// exceed the processors. Collective.
pub(super) fn start_for_bench(comm: &Communicator, wanted: Option<usize>) -> Result<()> {
    let share = ProcessorShare::of(comm);
    let threads = wanted.unwrap_or(share.default_threads());
    if threads > share.max_useful_threads() {
        report::error(&format!("warning: {threads} threads, but {} here", describe(share)));
    }
    build(threads)
}

fn build(threads: usize) -> Result<()> {
    // The calling thread is part of the pool: it need not wake another thread and wait for it in each loop.
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .use_current_thread()
        .thread_name(|k| format!("worker-{k}"));
    pool.build_global().map_err(|cause| {
        Error::usage(
            format!("cannot start {threads} threads: {cause}"),
            "ask for fewer with run.threads in the deck",
        )
    })
}

/// Returns the host name and the allowed processors of this process: equal for ranks that share them.
fn processor_set() -> String {
    let read = |path| std::fs::read_to_string(path).unwrap_or_default();
    let status: String = read("/proc/self/status");
    let allowed = status.lines().find(|line| line.starts_with("Cpus_allowed_list")).unwrap_or("");
    format!("{} {allowed}", read("/proc/sys/kernel/hostname").trim())
}
