//! Output schedules.

use std::time::Instant;

use crate::comm::Communicator;
use crate::plan::{Every, Plan};
use crate::step::fixed::{at_the_end, time_after};

/// Decides when an output is due. Except for wall time this depends on time and step only, so that a restart
/// keeps the rhythm.
#[derive(Clone, Debug)]
pub struct Schedule {
    every: Option<Every>,
    /// Length of all steps, if it is fixed.
    fixed: Option<f64>,
    /// Start of the wall-time interval on this rank.
    wall_start: Instant,
}

impl Schedule {
    /// Creates a schedule, `None` for never; wall time counts from now. If all steps have the length `fixed`,
    /// an output by time is due at the nearest step.
    pub fn new(every: Option<Every>, fixed: Option<f64>) -> Self {
        Schedule { every, fixed, wall_start: Instant::now() }
    }

    /// Returns the next multiple of the period after `time`, at which a step must end; infinite if the output
    /// is not by time, or steps are fixed.
    pub fn next_time(&self, time: f64) -> f64 {
        match self.every {
            Some(Every::EveryTime(period)) if self.fixed.is_none() => next_multiple(time, period),
            _ => f64::INFINITY,
        }
    }

    /// Whether the output is due after a step from time `before` to `now`. All ranks agree: the longest wall
    /// time of any rank counts. Collective.
    pub fn due(&self, comm: &Communicator, before: f64, now: f64, step: u64) -> bool {
        match self.every {
            Some(Every::EveryWall(seconds)) => {
                let mut wall = [self.wall_start.elapsed().as_secs_f64()];
                comm.all_max(&mut wall);
                wall[0] >= seconds
            }
            _ => self.is_met(before, now, step),
        }
    }

    /// Whether an output by time or step is due after a step from time `before` to `now`; those by wall time
    /// are known only then.
    pub fn is_met(&self, before: f64, now: f64, step: u64) -> bool {
        match self.every {
            Some(Every::EveryTime(period)) => {
                let half = 0.5 * self.fixed.unwrap_or(0.0);
                next_multiple(now + half, period) > next_multiple(before + half, period)
            }
            Some(Every::EverySteps(steps)) => step.is_multiple_of(steps),
            Some(Every::EveryWall(_)) | None => false,
        }
    }

    /// Restarts the wall-time interval after an output.
    pub fn restart_wall_clock(&mut self) {
        self.wall_start = Instant::now();
    }
}

/// Most steps without a look at the schedules, so that outputs by wall time, signals and requests to stop are
/// not late.
const MOST_STEPS: u64 = 32;

/// Returns the number of steps of length `dt` from this step and time to the first one after which the run
/// ends or `is_due(time before, time, step)`: at most [`MOST_STEPS`]. Beyond the end of the run only
/// `is_due` counts.
pub fn steps_until(
    plan: &Plan,
    (mut step, mut time): (u64, f64),
    dt: f64,
    is_due: impl Fn(f64, f64, u64) -> bool,
) -> u64 {
    let (run, fixed) = (&plan.run, plan.time_step.fixed);
    let has_ended = at_the_end(run, fixed, step, time);
    (1..MOST_STEPS)
        .find(|_| {
            (step, time) = (step + 1, time_after(time, dt, fixed, run.end_time));
            !has_ended && at_the_end(run, fixed, step, time) || is_due(time - dt, time, step)
        })
        .unwrap_or(MOST_STEPS)
}

/// Returns the first multiple of `period` after `time`; a time within rounding of a multiple has reached it.
fn next_multiple(time: f64, period: f64) -> f64 {
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
        // as in a run: the time before a step is the time after it less its length
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
    fn several_steps_are_taken_beyond_the_end_too() {
        let deck = "[run]\nsteps = 10\n[start.lattice]\nkind = \"fcc\"\ncells = 3\nspacing = 1.7\n\
            [space]\nboundary = \"periodic\"\n[interaction.lennard-jones]\ncutoff = 2.0\n\
            [time_step]\nfixed = 0.125\n";
        let plan = crate::deck::examine("deck", deck, &[]).unwrap_or_else(|report| panic!("{report}")).plan;
        let steps = |step: u64, due: u64| {
            steps_until(&plan, (step, 0.125 * step as f64), 0.125, |_, _, step| step.is_multiple_of(due))
        };
        assert_eq!([steps(0, 4), steps(0, 100), steps(8, 100)], [4, 10, 2]);
        assert_eq!([steps(10, 100), steps(10, 4), steps(50, 4)], [MOST_STEPS, 2, 2]);
    }

    #[test]
    fn steps_are_counted() {
        let solo = Communicator::solo();
        let steps = Schedule::new(Some(Every::EverySteps(5)), None);
        assert!(steps.due(&solo, 0.0, 0.1, 10) && !steps.due(&solo, 0.0, 0.1, 11));
        assert!(!Schedule::new(None, None).due(&solo, 0.0, 1.0, 1));
    }

    /// The clocks of ranks differ; all ranks must agree nevertheless.
    #[test]
    fn wall_time_is_that_of_the_rank_that_has_waited_longest() {
        let seen = run_local(3, |comm| {
            let mut wall = Schedule::new(Some(Every::EveryWall(1000.0)), None);
            let early = wall.due(&comm, 0.0, 0.1, 1);
            if comm.rank() == 1 {
                wall.wall_start = wall.wall_start.checked_sub(Duration::from_secs(1001)).unwrap();
            }
            let late = wall.due(&comm, 0.1, 0.2, 2);
            wall.restart_wall_clock();
            [early, late, wall.due(&comm, 0.2, 0.3, 3)]
        });
        assert_eq!(seen, [[false, true, false]; 3]);
    }
}
