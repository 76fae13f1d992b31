//! When outputs are due.

use crate::deck::plan::Every;
use std::time::Duration;

/// When an output is due: a function of time and step alone (but for wall time), so that a restart keeps the rhythm.
#[derive(Clone, Copy, Debug)]
pub struct Schedule {
    every: Option<Every>,
}

impl Schedule {
    /// Due every so often, or never.
    pub fn new(every: Option<Every>) -> Self {
        Schedule { every }
    }

    /// The next multiple of the period after `time`; infinite where time does not matter.
    pub fn next_time(&self, time: f64) -> f64 {
        match self.every {
            // a time within rounding of a multiple has met it
            Some(Every::EveryTime(period)) => ((time / period * (1.0 + 1e-12)).floor() + 1.0) * period,
            _ => f64::INFINITY,
        }
    }

    /// Whether it is due after a step that led from time `before` to `now`; `wall` is the time since it was last due.
    pub fn due(&self, before: f64, now: f64, step: u64, wall: Duration) -> bool {
        match self.every {
            Some(Every::EveryTime(_)) => self.next_time(now) > self.next_time(before),
            Some(Every::EverySteps(steps)) => step.is_multiple_of(steps),
            Some(Every::EveryWall(seconds)) => wall.as_secs_f64() >= seconds,
            None => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_cut_to_the_next_time_meet_every_multiple_once() {
        let schedule = Schedule::new(Some(Every::EveryTime(0.1)));
        let (mut time, mut due) = (0.0, Vec::new());
        while time < 2.0 {
            let before = time;
            time += 0.03f64.min(schedule.next_time(time) - time);
            if schedule.due(before, time, 0, Duration::ZERO) {
                due.push(time);
            }
        }
        assert_eq!(due.len(), 20, "{due:?}");
        assert!(due.iter().zip(1..).all(|(time, k)| (time - 0.1 * f64::from(k)).abs() < 1e-12));
    }

    #[test]
    fn steps_and_wall_time_are_counted() {
        let steps = Schedule::new(Some(Every::EverySteps(5)));
        assert!(steps.due(0.0, 0.1, 10, Duration::ZERO) && !steps.due(0.0, 0.1, 11, Duration::ZERO));
        let wall = Schedule::new(Some(Every::EveryWall(2.0)));
        assert!(
            wall.due(0.0, 0.1, 1, Duration::from_secs(3)) && !wall.due(0.0, 0.1, 1, Duration::from_secs(1))
        );
        assert!(!Schedule::new(None).due(0.0, 1.0, 1, Duration::from_secs(9)));
    }
}
