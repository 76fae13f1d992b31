//! `hilbrium run`: runs a deck on all ranks.

use super::{Ending, error_text, status, threads};
use crate::comm::Communicator;
use crate::deck::{self, Checked};
use crate::run::signals::Signals;
use crate::run::{self, Outcome};
use crate::{Error, Result, report, snapshot};
use std::path::Path;

/// Runs a deck on all ranks that were started together. The exit status is the same on all.
pub(super) fn run(path: &Path, overrides: &[String], restart: Option<&Path>) -> u8 {
    // Before MPI, which takes a while to start.
    let signals = Signals::listen();
    let comm = match Communicator::world() {
        Ok(comm) => comm,
        Err(error) => return status(Err(error)),
    };
    report::start(comm.is_root());
    signals.iter().for_each(Signals::keep_ignored);
    let signals = comm.agree_on(signals);
    let outcome = signals.and_then(|signals| advance(&comm, path, overrides, restart, &signals));
    end(&comm, outcome)
}

fn advance(
    comm: &Communicator,
    path: &Path,
    overrides: &[String],
    restart: Option<&Path>,
    signals: &Signals,
) -> Result<Ending> {
    let former = restart.and_then(|checkpoint| snapshot::deck_of_checkpoint(checkpoint, comm));
    let deck = prepare(comm, path, overrides, former.as_deref())?;
    Ok(match run::run_listening(&deck, comm, restart, signals)? {
        Outcome::Done => Ending::Done,
        Outcome::Stopped => Ending::Stopped,
    })
}

/// Reads the deck on all ranks and starts the threads. `former` is the deck of a checkpoint, which supplies
/// defaults.
fn prepare(comm: &Communicator, path: &Path, overrides: &[String], former: Option<&str>) -> Result<Checked> {
    let deck = comm.agree_on(match former {
        Some(printed) => deck::read_for_restart(path, overrides, printed),
        None => deck::read_checked(path, overrides),
    })?;
    comm.on_root(|| run::keep_inputs(&deck.plan, &[path]))?;
    comm.agree(threads::start_for_run(comm, deck.plan.run.threads))?;
    Ok(deck)
}

/// Gathers the errors of all ranks, prints the first one on rank 0, and returns the worst exit status on all
/// ranks. Incomplete standard output counts as an error. Collective.
pub(super) fn end(comm: &Communicator, outcome: Result<Ending>) -> u8 {
    let outcome = outcome.and_then(|ending| report::check_output("the log is incomplete").map(|()| ending));
    let error = match comm.agree_on(outcome) {
        Ok(ending) => return status(Ok(ending)),
        Err(error) => error,
    };
    let own = if matches!(error, Error::Elsewhere) { String::new() } else { error_text(&error) };
    let texts = comm.all_gather(own.as_bytes());
    if let Some(text) = texts.iter().find(|text| !text.is_empty()) {
        report::error(&String::from_utf8_lossy(text));
    }
    let mut worst = [u64::from(error.exit_status())];
    comm.all_max(&mut worst);
    worst[0] as u8
}
