//! Threads of a rank.

use crate::comm::Communicator;
use crate::{Error, Result};

/// Give this rank its threads: as many as the deck says, else its share of the processors that it may use, so that
/// the ranks of a machine do not crowd each other. Collective. Returns the number.
pub(super) fn start(comm: &Communicator, wanted: Option<usize>) -> Result<usize> {
    let threads = match wanted {
        Some(threads) => threads,
        None => {
            let places = comm.all_gather(place().as_bytes());
            let sharing = places.iter().filter(|other| **other == places[comm.rank()]).count();
            let offered = std::thread::available_parallelism().map_or(1, |offered| offered.get());
            (offered / sharing.max(1)).max(1)
        }
    };
    // the thread that runs the steps is one of them, so that it need not wake another and wait for each loop
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .use_current_thread()
        .thread_name(|k| format!("worker-{k}"));
    pool.build_global().map(|()| threads).map_err(|cause| {
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
