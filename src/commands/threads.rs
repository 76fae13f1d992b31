//! Threads of a rank.

use crate::comm::Communicator;
use crate::{Error, Result, report, turns};

/// What this rank may use of its machine.
#[derive(Clone, Copy, Debug)]
struct Share {
    /// Processors that the ranks which share them may use.
    offered: usize,
    /// How many ranks share them.
    sharing: usize,
}

impl Share {
    /// Collective.
    fn of(comm: &Communicator) -> Self {
        let places = comm.all_gather(place().as_bytes());
        let sharing = places.iter().filter(|other| **other == places[comm.rank()]).count().max(1);
        Share { offered: std::thread::available_parallelism().map_or(1, |offered| offered.get()), sharing }
    }

    /// Threads where nothing is asked for, such that the ranks of a machine do not crowd each other.
    fn usual(self) -> usize {
        (self.offered / self.sharing).max(1)
    }

    /// The most that are of use.
    fn most(self) -> usize {
        self.offered.div_ceil(self.sharing)
    }
}

/// Give this rank of a run its threads: as many as the deck says, else its share of the processors that it may use. Threads
/// beyond the processors would only wait for each other, and all of them look for work meanwhile: they are not started.
/// Sums are split as for all of them, so that the bits are those of a machine that has the processors. Collective.
pub(super) fn start_for_run(comm: &Communicator, wanted: Option<usize>) -> Result<()> {
    let share = Share::of(comm);
    let threads = wanted.unwrap_or(share.usual());
    let started = threads.min(share.most());
    if started < threads {
        turns::split_as_for(threads);
        report::line(&format!(
            "warning: run.threads = {threads}, but {} here: {started} {} started, and sums are split as for {threads}",
            processors(share),
            if started == 1 { "thread is" } else { "threads are" },
        ));
    }
    build(started)
}

fn processors(share: Share) -> String {
    let Share { offered, sharing } = share;
    let offer = if offered == 1 { "1 processor".into() } else { format!("{offered} processors") };
    match (offered, sharing) {
        (1, 1) => format!("there is {offer}"),
        (_, 1) => format!("there are {offer}"),
        _ => format!("{sharing} ranks share {offer}"),
    }
}

/// Give this rank of a benchmark its threads: as many as asked for, so that they can be measured, with a warning where
/// they are more than the processors. Collective.
pub(super) fn start_for_bench(comm: &Communicator, wanted: Option<usize>) -> Result<()> {
    let share = Share::of(comm);
    let threads = wanted.unwrap_or(share.usual());
    if threads > share.most() {
        report::error(&format!("warning: {threads} threads, but {} here", processors(share)));
    }
    build(threads)
}

fn build(threads: usize) -> Result<()> {
    // the thread that runs the steps is one of them, so that it need not wake another and wait for each loop
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

/// The machine and the processors on it that this process may use: equal for ranks that share them.
fn place() -> String {
    let read = |path| std::fs::read_to_string(path).unwrap_or_default();
    let status: String = read("/proc/self/status");
    let allowed = status.lines().find(|line| line.starts_with("Cpus_allowed_list")).unwrap_or("");
    format!("{} {allowed}", read("/proc/sys/kernel/hostname").trim())
}
