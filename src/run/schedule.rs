//! When outputs are due.

use std::time::Instant;

use crate::comm::Communicator;
use crate::deck::plan::Every;

/// When an output is due: a function of time and step alone (but for wall time), so that a restart keeps the rhythm.
#[derive(Clone, Debug)]
pub struct Schedule {
    every: Option<Every>,
    /// From when this rank counts wall time.
    since: Instant,
}

impl Schedule {
    /// Due every so often, or never; wall time is counted from now on.
    pub fn new(every: Option<Every>) -> Self {
        Schedule { every, since: Instant::now() }
    }

    /// The next multiple of the period after `time`; infinite where time does not matter.
    pub fn next_time(&self, time: f64) -> f64 {
        match self.every {
            // a time within rounding of a multiple has met it
            Some(Every::EveryTime(period)) => ((time / period * (1.0 + 1e-12)).floor() + 1.0) * period,
            _ => f64::INFINITY,
        }
    }

    /// Whether it is due after a step that led from time `before` to `now`: the same on all ranks, which share the longest
    /// wall time of any. Collective.
    pub fn due(&self, comm: &Communicator, before: f64, now: f64, step: u64) -> bool {
        match self.every {
            Some(Every::EveryTime(_)) => self.next_time(now) > self.next_time(before),
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comm::run_local;
    use std::time::Duration;

    #[test]
    fn steps_cut_to_the_next_time_meet_every_multiple_once() {
        let (schedule, solo) = (Schedule::new(Some(Every::EveryTime(0.1))), Communicator::solo());
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

    #[test]
    fn steps_are_counted() {
        let solo = Communicator::solo();
        let steps = Schedule::new(Some(Every::EverySteps(5)));
        assert!(steps.due(&solo, 0.0, 0.1, 10) && !steps.due(&solo, 0.0, 0.1, 11));
        assert!(!Schedule::new(None).due(&solo, 0.0, 1.0, 1));
    }

    /// Ranks do not start at one moment: where their clocks differ they say the same all the same.
    #[test]
    fn wall_time_is_that_of_the_rank_that_has_waited_longest() {
        let seen = run_local(3, |comm| {
            let mut wall = Schedule::new(Some(Every::EveryWall(1000.0)));
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
