//! `hilbrium stop`: makes the run in a folder write a checkpoint and end.

use super::Ending;
use crate::run::{lock, stop};
use crate::{Error, Result, report};
use std::path::Path;
use std::time::{Duration, Instant};

/// Interval between checks whether the run has ended.
const POLL_INTERVAL: Duration = Duration::from_millis(200);

/// Requests the run that writes to `directory` to stop, and waits at most `wait` for its end.
pub(super) fn stop(directory: &Path, wait: Duration) -> Result<Ending> {
    let folder = directory.display();
    let Some(run) = lock::find(directory)? else {
        return Err(Error::usage(
            format!("no run writes into {folder}"),
            "name the output directory of a run that goes on, from a host that sees its files",
        ));
    };
    stop::request(directory, &run.holder)?;
    report::line(&format!("asked {} to stop after its step", run.holder));
    if wait.is_zero() {
        return Ok(Ending::Done);
    }
    let asked = Instant::now();
    while run.goes_on() {
        if asked.elapsed() >= wait {
            let waited = report::duration(wait.as_secs_f64());
            return Err(Error::File {
                action: "wait longer for the run in",
                path: directory.to_owned(),
                cause: format!("it still goes on after {waited}"),
                remedy: "the request stays: the run stops at the end of its step. Wait longer with --wait"
                    .into(),
            });
        }
        std::thread::sleep(POLL_INTERVAL);
    }
    match run.end() {
        Some(how) => report::line(&format!("the run in {folder} has ended: {how}")),
        None => {
            return Err(Error::File {
                action: "tell how the run ended in",
                path: directory.to_owned(),
                cause: "it left no record of its end: it failed, or was killed".into(),
                remedy:
                    "see its log; `hilbrium run DECK --restart FOLDER` goes on from its newest checkpoint"
                        .into(),
            });
        }
    }
    Ok(Ending::Done)
}
