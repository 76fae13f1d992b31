//! Refreshes the page of a run that goes on, on rank 0.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use super::{Circumstances, Problem, Samples};
use crate::Result;
use crate::plan::Every;

/// Pages take at most one part in so many of the wall time.
const COST_LIMIT: u32 = 200;

/// Shortest time until an open page loads itself again (s).
const SHORTEST_RELOAD: f64 = 5.0;

/// Longest such time (s): a state changes within a minute.
const LONGEST_RELOAD: f64 = 60.0;

/// Most particles of a last snapshot that the run itself compares with the solution of its case.
const MOST_JUDGED: u64 = 1_000_000;

/// Most particles of a last snapshot whose density the run itself maps.
const MOST_MAPPED: u64 = 1_000_000;

/// The page of a run, with the samples of snapshots that earlier pages have read.
#[derive(Debug)]
pub struct Refresh {
    directory: PathBuf,
    every: Every,
    samples: Samples,
    /// Start and duration of the last page, and its step.
    last: Option<(Instant, Duration, u64)>,
}

impl Refresh {
    /// Makes pages of the run in `directory`, every so many steps or seconds.
    pub fn new(directory: PathBuf, every: Every) -> Self {
        Refresh { directory, every, samples: Samples::default(), last: None }
    }

    /// Whether a page is due after a step; the first one is at once. It is put off while pages would take
    /// more than a 200th of the time.
    pub fn is_due(&self, step: u64) -> bool {
        let Some((begun, cost, last_step)) = self.last else { return true };
        let wanted = match self.every {
            Every::EverySteps(steps) => step / steps > last_step / steps,
            Every::EveryWall(seconds) => begun.elapsed().as_secs_f64() >= seconds,
            Every::EveryTime(_) => false,
        };
        wanted && begun.elapsed() >= cost * COST_LIMIT
    }

    /// Writes the page of the run that goes on; its directory is held.
    ///
    /// # Errors
    /// Those of [`super::write`].
    pub fn write(&mut self, step: u64) -> Result<Vec<Problem>> {
        let reload = match self.every {
            Every::EveryWall(seconds) => seconds,
            Every::EverySteps(_) | Every::EveryTime(_) => {
                self.last.map_or(0.0, |(begun, ..)| begun.elapsed().as_secs_f64())
            }
        };
        let circumstances = Circumstances {
            held: Some(true),
            reload: Some(reload.clamp(SHORTEST_RELOAD, LONGEST_RELOAD)),
            interval: Some(
                self.last
                    .map_or(reload, |(_, cost, _)| reload.max(f64::from(COST_LIMIT) * cost.as_secs_f64())),
            ),
            most_mapped: MOST_MAPPED,
            ..Circumstances::default()
        };
        self.page(step, &circumstances)
    }

    /// Writes the page of the run that has ended and recorded it, with the verdict on its last snapshot.
    ///
    /// # Errors
    /// Those of [`super::write`].
    pub fn finish(&mut self) -> Result<Vec<Problem>> {
        let circumstances = Circumstances {
            held: Some(false),
            most_judged: MOST_JUDGED,
            most_mapped: MOST_MAPPED,
            ..Circumstances::default()
        };
        self.page(u64::MAX, &circumstances)
    }

    fn page(&mut self, step: u64, circumstances: &Circumstances) -> Result<Vec<Problem>> {
        let begun = Instant::now();
        let output = super::path_in(&self.directory);
        let written = super::write(&self.directory, &output, circumstances, &mut self.samples);
        self.last = Some((begun, begun.elapsed(), step));
        written
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_due_by_steps_or_seconds_and_put_off_where_they_cost_too_much() {
        let mut pages = Refresh::new("out".into(), Every::EverySteps(10));
        assert!(pages.is_due(0), "the first page is written at once");
        let ago = |seconds, cost| {
            let then = Instant::now().checked_sub(Duration::from_secs(seconds)).unwrap();
            Some((then, Duration::from_secs(cost), 3))
        };
        pages.last = ago(10, 0);
        assert!(!pages.is_due(9) && pages.is_due(10) && pages.is_due(11));
        pages.last = ago(10, 1);
        assert!(!pages.is_due(20), "a page took a second, the last began ten ago");
        pages.last = ago(201, 1);
        assert!(pages.is_due(20) && !pages.is_due(9));
        pages.every = Every::EveryWall(300.0);
        assert!(!pages.is_due(20));
        pages.last = ago(301, 1);
        assert!(pages.is_due(20));
    }
}
