//! `hilbrium run`: a deck, on all ranks.

use super::{Ending, status, threads, told};
use crate::comm::Communicator;
use crate::deck::{self, Checked};
use crate::run::Outcome;
use crate::{Error, Result, report};
use std::path::Path;

/// Run a deck on all ranks that were started together. The exit status is the same on all.
pub(super) fn run(path: &Path, overrides: &[String], restart: Option<&Path>) -> u8 {
    let comm = match Communicator::world() {
        Ok(comm) => comm,
        Err(error) => return status(Err(error)),
    };
    report::start(comm.is_root());
    let outcome = prepare(&comm, path, overrides).and_then(|deck| advance(&deck, &comm, restart));
    end(&comm, outcome)
}

/// The deck, which all ranks must have read.
fn prepare(comm: &Communicator, path: &Path, overrides: &[String]) -> Result<Checked> {
    let deck = comm.agree_on(deck::read_checked(path, overrides))?;
    comm.agree_on(threads::start(comm, deck.plan.run.threads))?;
    Ok(deck)
}

fn advance(deck: &Checked, comm: &Communicator, restart: Option<&Path>) -> Result<Ending> {
    Ok(match crate::run::run(deck, comm, restart)? {
        Outcome::Done => Ending::Done,
        Outcome::Stopped => Ending::Stopped,
    })
}

/// All ranks tell what went wrong on them, rank 0 says the first of it, and all end with the worst status.
pub(super) fn end(comm: &Communicator, outcome: Result<Ending>) -> u8 {
    let error = match comm.agree_on(outcome) {
        Ok(ending) => return status(Ok(ending)),
        Err(error) => error,
    };
    let own = if matches!(error, Error::Elsewhere) { String::new() } else { told(&error) };
    let texts = comm.all_gather(own.as_bytes());
    if let Some(text) = texts.iter().find(|text| !text.is_empty()) {
        report::error(&String::from_utf8_lossy(text));
    }
    let mut worst = [u64::from(error.exit_status())];
    comm.all_max(&mut worst);
    worst[0] as u8
}
