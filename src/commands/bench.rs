//! `hilbrium bench`: benchmarks with a table of timings.

use super::{Ending, run::end, status, threads};
use crate::Result;
use crate::bench::{Benchmark, Common, measure};
use crate::comm::Communicator;
use crate::report;

/// Runs a benchmark on all ranks that were started together. The exit status is the same on all.
pub(super) fn bench(benchmark: &Benchmark, common: &Common) -> u8 {
    let comm = match Communicator::world() {
        Ok(comm) => comm,
        Err(error) => return status(Err(error)),
    };
    report::start(comm.is_root());
    let outcome = print(benchmark, common, &comm);
    end(&comm, outcome)
}

fn print(benchmark: &Benchmark, common: &Common, comm: &Communicator) -> Result<Ending> {
    let wanted = common.threads.map(|count| count as usize);
    comm.agree(threads::start_for_bench(comm, wanted))?;
    let findings = measure(benchmark, common, comm)?;
    report::line(&if common.json { format!("{:#}", findings.json()) } else { findings.text() });
    Ok(Ending::Done)
}
