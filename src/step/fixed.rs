//! Time steps of fixed length (`time_step.fixed`): times are integer multiples of it; no step is shortened.

use crate::plan::RunPlan;

/// Relative tolerance for equal times: a few rounding errors.
const ROUNDING: f64 = 4.0 * f64::EPSILON;

/// Times within this fraction of a step before the end count as the end. It covers rounding of sums of steps
/// in a run that continues a checkpoint with another step length.
const SLACK: f64 = 1e-6;

/// Returns the time after a step of length `dt` from `time`. For steps of length `fixed` rounding errors do
/// not accumulate: the result is the multiple of `fixed`, or the end of the run, that equals the sum within
/// rounding. It depends on the arguments only, so a restarted run has the same times.
pub fn time_after(time: f64, dt: f64, fixed: Option<f64>, end: Option<f64>) -> f64 {
    let sum = time + dt;
    let Some(fixed) = fixed.filter(|fixed| *fixed == dt) else { return sum };
    let same = |other: f64| (other - sum).abs() <= ROUNDING * sum.abs();
    let multiple = (sum / fixed).round() * fixed;
    match end {
        Some(end) if same(end) => end,
        _ if same(multiple) => multiple,
        _ => sum,
    }
}

/// Whether a run has reached its end after `step` steps at `time`. With a fixed step this is the first step
/// at or after the end time.
pub fn at_the_end(plan: &RunPlan, fixed: Option<f64>, step: u64, time: f64) -> bool {
    let slack = fixed.map_or(0.0, |fixed| SLACK * fixed);
    plan.steps.is_some_and(|steps| step >= steps) || plan.end_time.is_some_and(|end| time + slack >= end)
}

/// Returns the number of steps of length `fixed` to `time`; `None` if it is not an integer within rounding.
pub fn whole_steps(time: f64, fixed: f64) -> Option<u64> {
    let steps = (time / fixed).round();
    ((steps * fixed - time).abs() <= SLACK * fixed).then_some(steps as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Device, Precision};

    fn until(end: f64) -> RunPlan {
        RunPlan {
            end_time: Some(end),
            steps: None,
            device: Device::Cpu,
            precision: Precision::Double,
            threads: None,
        }
    }

    /// Returns number of steps and final time of a run from `time` to `end`.
    fn run(mut time: f64, fixed: f64, end: f64) -> (u64, f64) {
        let mut step = 0;
        while !at_the_end(&until(end), Some(fixed), step, time) {
            (time, step) = (time_after(time, fixed, Some(fixed), Some(end)), step + 1);
        }
        (step, time)
    }

    #[test]
    fn forty_picoseconds_are_ten_thousand_steps_of_four_femtoseconds() {
        assert_eq!(run(0.0, 4.0 * 0.001, 40.0), (10_000, 40.0));
        assert_eq!(run(0.0, 0.1, 0.3), (3, 0.3), "0.1 + 0.1 + 0.1 is not 0.3");
        assert_eq!(run(0.0, 1.0 / 3.0, 1e4), (30_000, 1e4));
    }

    #[test]
    fn steps_from_another_time_are_of_one_length_too() {
        let (steps, time) = run(0.05, 0.1, 100.05);
        assert_eq!(steps, 1000);
        assert!((time - 100.05).abs() < 1e-9, "{time}");
    }

    #[test]
    fn an_end_between_two_steps_is_the_second() {
        let (steps, time) = run(0.0, 0.003, 0.5);
        assert_eq!((steps, time), (167, 167.0 * 0.003));
        assert_eq!((whole_steps(0.5, 0.003), whole_steps(40.0, 0.004)), (None, Some(10_000)));
    }

    #[test]
    fn steps_of_other_lengths_add_up() {
        assert_eq!(time_after(0.1, 0.2, None, Some(0.3)), 0.1 + 0.2);
        assert_eq!(time_after(0.1, 0.2, Some(0.1), Some(0.3)), 0.1 + 0.2);
    }
}
