//! `hilbrium tune`: measures how a deck's pairs are found fastest, and changes nothing.

use super::threads;
use super::{Ending, run};
use crate::comm::Communicator;
use crate::report::{self, line};
use crate::run::tuning_of;
use crate::{Error, Result, deck};
use std::path::Path;

/// Measures on all ranks that were started together. The exit status is the same on all.
pub(super) fn tune(path: &Path, overrides: &[String], json: bool) -> u8 {
    let comm = match Communicator::world() {
        Ok(comm) => comm,
        Err(error) => return super::status(Err(error)),
    };
    report::start(comm.is_root());
    run::end(&comm, measure(&comm, path, overrides, json))
}

fn measure(comm: &Communicator, path: &Path, overrides: &[String], json: bool) -> Result<Ending> {
    let checked = comm.agree_on(deck::read_checked(path, overrides))?;
    comm.agree(threads::start_for_run(comm, checked.plan.run.threads))?;
    let Some(tuned) = tuning_of(&checked.plan, comm)? else {
        return Err(Error::usage(
            "there is nothing to measure: the deck has no pairs, or leaves nothing open, or has too few \
             particles, or no fixed time step, or its particles are at rest",
            "remove `method` or `skin` from [neighbors], or give molecules a temperature and time_step.fixed",
        ));
    };
    if json {
        line(&tuned.to_json().to_string());
        return Ok(Ending::Done);
    }
    line(tuned.table().trim_end());
    line("");
    line(&tuned.summary());
    line(&format!("measured in {}; these keys repeat the choice:", report::duration(tuned.seconds)));
    line("");
    line("[neighbors]");
    tuned.keys().iter().for_each(|key| line(key));
    Ok(Ending::Done)
}
