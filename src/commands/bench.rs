//! `hilbrium bench`: a table of times.

use super::{Ending, run::end, status, threads};
use crate::Result;
use crate::bench::{Benchmark, Settings, decomposition, measure};
use crate::comm::Communicator;
use crate::report;

/// Measure on all ranks that were started together. The exit status is the same on all.
pub(super) fn bench(benchmark: Benchmark, settings: &Settings, wanted: Option<usize>, json: bool) -> u8 {
    let comm = match Communicator::world() {
        Ok(comm) => comm,
        Err(error) => return status(Err(error)),
    };
    report::start(comm.is_root());
    let outcome = print(benchmark, settings, wanted, json, &comm);
    end(&comm, outcome)
}

fn print(
    benchmark: Benchmark,
    settings: &Settings,
    wanted: Option<usize>,
    json: bool,
    comm: &Communicator,
) -> Result<Ending> {
    comm.agree(threads::start(comm, wanted).map(drop))?;
    let table = measure(benchmark, settings, comm)?;
    report::line(&if json { format!("{:#}", table.json()) } else { table.text() });
    Ok(Ending::Done)
}

/// Decompose for ranks that this one simulates.
pub(super) fn decomposition(options: &decomposition::Options, wanted: Option<usize>, json: bool) -> u8 {
    let comm = match Communicator::world() {
        Ok(comm) => comm,
        Err(error) => return status(Err(error)),
    };
    report::start(comm.is_root());
    let found = comm.agree(threads::start(&comm, wanted).map(drop));
    let found = found.and_then(|()| decomposition::measure(options, &comm)).map(|findings| {
        report::line(&if json { format!("{:#}", findings.json()) } else { findings.text() });
        Ending::Done
    });
    end(&comm, found)
}
