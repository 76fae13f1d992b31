//! When outputs are due.

use std::time::Instant;

use crate::comm::Communicator;
use crate::deck::plan::Every;

/// When an output is due: a function of time and step alone (but for wall time), so that a restart keeps the rhythm.
#[derive(Clone, Debug)]
pub struct Schedule {
    every: Option<Every>,
    /// The length of all steps, where it is fixed.
    fixed: Option<f64>,
    /// From when this rank counts wall time.
    since: Instant,
}

impl Schedule {
    /// Due every so often, or never; wall time is counted from now on. Where all steps have the length `fixed`, what is due
    /// at a time is due at the step nearest to it.
    pub fn new(every: Option<Every>, fixed: Option<f64>) -> Self {
        Schedule { every, fixed, since: Instant::now() }
    }

    /// The next multiple of the period after `time`, which a step has to meet; infinite where time does not matter, or steps
    /// cannot be cut.
    pub fn next_time(&self, time: f64) -> f64 {
        match self.every {
            Some(Every::EveryTime(period)) if self.fixed.is_none() => multiple_after(time, period),
            _ => f64::INFINITY,
        }
    }

    /// Whether it is due after a step that led from time `before` to `now`: the same on all ranks, which share the longest
    /// wall time of any. Collective.
    pub fn due(&self, comm: &Communicator, before: f64, now: f64, step: u64) -> bool {
        match self.every {
            Some(Every::EveryTime(period)) => {
                let half = 0.5 * self.fixed.unwrap_or(0.0);
                multiple_after(now + half, period) > multiple_after(before + half, period)
            }
            Some(Every::EverySteps(steps)) => step.is_multiple_of(steps),
            Some(Every::EveryWall(seconds)) => {
                let mut wall = [self.since.elapsed().as_secs_f64()];
                comm.all_max(&mut wall);
                wall[0] >= seconds
            }
            None => false,
        }
    }

    /// What was due is done: wall time is counted from now on.
    pub fn met(&mut self) {
        self.since = Instant::now();
    }
}

/// The first multiple of `period` after `time`; a time within rounding of a multiple has met it.
fn multiple_after(time: f64, period: f64) -> f64 {
    ((time / period * (1.0 + 1e-12)).floor() + 1.0) * period
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comm::run_local;
    use std::time::Duration;

    #[test]
    fn steps_cut_to_the_next_time_meet_every_multiple_once() {
        let (schedule, solo) = (Schedule::new(Some(Every::EveryTime(0.1)), None), Communicator::solo());
        let (mut time, mut due) = (0.0, Vec::new());
        while time < 2.0 {
            let before = time;
            time += 0.03f64.min(schedule.next_time(time) - time);
            if schedule.due(&solo, before, time, 0) {
                due.push(time);
            }
        }
        assert_eq!(due.len(), 20, "{due:?}");
        assert!(due.iter().zip(1..).all(|(time, k)| (time - 0.1 * f64::from(k)).abs() < 1e-12));
    }

    /// The steps of length `fixed` after which an output every `period` is written, until time 3.
    fn steps_of_outputs(period: f64, fixed: f64) -> Vec<u64> {
        let (schedule, solo) =
            (Schedule::new(Some(Every::EveryTime(period)), Some(fixed)), Communicator::solo());
        assert_eq!(schedule.next_time(0.0), f64::INFINITY, "no step is cut");
        let time = |step: u64| step as f64 * fixed;
        let last = (3.0 / fixed).round() as u64;
        // as a run tells it: the time before is that after the step less its length
        (1..=last).filter(|&step| schedule.due(&solo, time(step) - fixed, time(step), step)).collect()
    }

    #[test]
    fn with_a_fixed_step_outputs_come_at_the_nearest_one() {
        assert_eq!(steps_of_outputs(0.5, 0.1), [5, 10, 15, 20, 25, 30]);
        // 1 / 0.3 = 3.33, 6.67, 10
        assert_eq!(steps_of_outputs(1.0, 0.3), [3, 7, 10]);
        // half way between two steps: each once
        assert_eq!(steps_of_outputs(0.25, 0.1).len(), 12);
        // shorter than a step: every one
        assert_eq!(steps_of_outputs(0.04, 0.1).len(), 30);
    }

    #[test]
    fn steps_are_counted() {
        let solo = Communicator::solo();
        let steps = Schedule::new(Some(Every::EverySteps(5)), None);
        assert!(steps.due(&solo, 0.0, 0.1, 10) && !steps.due(&solo, 0.0, 0.1, 11));
        assert!(!Schedule::new(None, None).due(&solo, 0.0, 1.0, 1));
    }

    /// Ranks do not start at one moment: where their clocks differ they say the same all the same.
    #[test]
    fn wall_time_is_that_of_the_rank_that_has_waited_longest() {
        let seen = run_local(3, |comm| {
            let mut wall = Schedule::new(Some(Every::EveryWall(1000.0)), None);
            let early = wall.due(&comm, 0.0, 0.1, 1);
            if comm.rank() == 1 {
                wall.since = wall.since.checked_sub(Duration::from_secs(1001)).unwrap();
            }
            let late = wall.due(&comm, 0.1, 0.2, 2);
            wall.met();
            [early, late, wall.due(&comm, 0.2, 0.3, 3)]
        });
        assert_eq!(seen, [[false, true, false]; 3]);
    }
}
