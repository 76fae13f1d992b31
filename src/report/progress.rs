//! Progress of a run: a bar on a terminal, plain lines otherwise.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

use super::{duration, line, quantity, screen};

/// Shortest time between two plain lines.
const LINE_INTERVAL: Duration = Duration::from_secs(10);
/// Averaging time in seconds of the rate of progress, for the estimate of the time left.
const AVERAGING_TIME: f64 = 20.0;
/// Ticks of the bar's full length.
const TICKS: u64 = 10_000;

/// Progress of a run towards its end time or its number of steps, whichever comes first.
pub struct Progress {
    end_time: f64,
    steps: Option<u64>,
    bar: Option<ProgressBar>,
    started: Instant,
    last_line: Option<Instant>,
    first_step: Option<u64>,
    estimate: Estimate,
    last: Option<StepReport>,
}

/// State after a step.
#[derive(Clone, Debug)]
struct StepReport {
    step: u64,
    time: f64,
    dt: f64,
    drift: String,
    /// Fraction done, 0 to 1.
    fraction: f64,
    /// Particle updates per second, since the start of the run.
    rate: f64,
    /// Seconds left; NaN if unknown.
    left: f64,
}

impl Progress {
    /// Creates the progress towards `end_time` (code units) and at most `steps` steps. A bar is drawn if
    /// standard output and standard error are both a terminal.
    pub fn new(end_time: f64, steps: Option<u64>) -> Self {
        Self::on(end_time, steps, std::io::stdout().is_terminal() && std::io::stderr().is_terminal())
    }

    /// Like [`Progress::new`], with `terminal` set by the caller.
    pub fn on(end_time: f64, steps: Option<u64>, terminal: bool) -> Self {
        let bar = (terminal && screen().prints).then(|| {
            let style = ProgressStyle::with_template("{bar:32.cyan/dim} {percent:>3} %  {msg}");
            let bar = screen().bars.add(ProgressBar::new(TICKS));
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
            bar
        });
        let started = Instant::now();
        Self {
            end_time,
            steps,
            bar,
            started,
            last_line: None,
            first_step: None,
            estimate: Estimate::default(),
            last: None,
        }
    }

    /// Reports a finished step: its number, the time reached, its time step, the energy drift as text (empty
    /// if unknown), and the number of particles over all ranks.
    pub fn update(&mut self, step: u64, time: f64, dt: f64, drift: String, particles: u64) {
        let elapsed = self.started.elapsed().as_secs_f64();
        let first = *self.first_step.get_or_insert(step.saturating_sub(1));
        let fraction = self.fraction(step, time);
        let done = (step - first.min(step)) as f64;
        let report = StepReport {
            step,
            time,
            dt,
            drift,
            fraction,
            rate: if elapsed > 0.0 { done * particles as f64 / elapsed } else { f64::NAN },
            left: self.estimate.left(elapsed, fraction),
        };
        self.last = Some(report.clone());
        if let Some(bar) = &self.bar {
            bar.set_position((fraction * TICKS as f64) as u64);
            bar.set_message(self.text(&report));
        } else if self.last_line.is_none_or(|then| then.elapsed() >= LINE_INTERVAL) {
            self.print_line(&report);
        }
    }

    /// Ends the progress: the last step is always shown.
    pub fn finish(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
            screen().bars.remove(&bar);
            self.last_line = None;
        }
        if let Some(report) = self.last.take() {
            self.print_line(&report);
        }
    }

    fn print_line(&mut self, report: &StepReport) {
        line(&self.text(report));
        self.last_line = Some(Instant::now());
    }

    fn fraction(&self, step: u64, time: f64) -> f64 {
        fraction(Some(self.end_time), self.steps, step, time)
    }

    fn text(&self, report: &StepReport) -> String {
        let mut text = format!("step {:>6}", report.step);
        if let Some(steps) = self.steps {
            text.push_str(&format!(" of {steps}"));
        }
        text.push_str(&format!("  t {:.5}", report.time));
        if self.end_time.is_finite() {
            text.push_str(&format!(" of {}", self.end_time));
        }
        text.push_str(&format!("  dt {:.2e}", report.dt));
        if !report.drift.is_empty() {
            text.push_str(&format!("  {}", report.drift));
        }
        if report.rate.is_finite() {
            text.push_str(&format!("  {} updates/s", quantity(report.rate)));
        }
        if report.fraction < 1.0 && report.left.is_finite() {
            text.push_str(&format!("  {} left", duration(report.left)));
        }
        text
    }
}

/// Returns the fraction of a run that is done, 0 to 1, at a step and a time on the way to an end time or a
/// number of steps, whichever is nearer.
pub fn fraction(end_time: Option<f64>, steps: Option<u64>, step: u64, time: f64) -> f64 {
    let by_time = end_time.filter(|&end| end > 0.0).map_or(0.0, |end| time / end);
    let by_steps = steps.map_or(0.0, |steps| step as f64 / steps.max(1) as f64);
    let fraction = by_time.max(by_steps);
    if fraction.is_finite() { fraction.clamp(0.0, 1.0) } else { 0.0 }
}

/// Estimate of the time left, from a rate with exponential averaging over the recent past: time steps vary
/// within a run, so the mean rate since the start would mislead.
#[derive(Debug, Default)]
pub struct Estimate {
    elapsed: f64,
    fraction: f64,
    rate: Option<f64>,
}

impl Estimate {
    /// Returns the seconds left when `fraction` is done after `elapsed` seconds; NaN if unknown.
    pub fn left(&mut self, elapsed: f64, fraction: f64) -> f64 {
        let (span, gain) = (elapsed - self.elapsed, fraction - self.fraction);
        if span > 0.0 && gain > 0.0 {
            let now = gain / span;
            let weight = (-span / AVERAGING_TIME).exp();
            // after a restart the first call includes the progress of the earlier run: it only sets the
            // origin
            self.rate = match self.rate {
                None if self.elapsed == 0.0 => None,
                None => Some(now),
                Some(rate) => Some(weight * rate + (1.0 - weight) * now),
            };
            (self.elapsed, self.fraction) = (elapsed, fraction);
        }
        self.rate.map_or(f64::NAN, |rate| (1.0 - fraction) / rate)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_estimate_follows_the_recent_rate() {
        let mut estimate = Estimate::default();
        assert!(estimate.left(1.0, 0.5).is_nan(), "a restart's head start is no rate");
        let mut left = f64::NAN;
        for k in 1..=200 {
            left = estimate.left(1.0 + f64::from(k), 0.5 + 0.001 * f64::from(k));
        }
        assert!((left - 300.0).abs() < 1e-6, "0.3 left at 0.001 per second, got {left}");
    }

    #[test]
    fn the_nearer_goal_counts() {
        let progress = Progress::on(2.0, Some(10), false);
        assert_eq!(progress.fraction(5, 0.1), 0.5);
        assert_eq!(progress.fraction(1, 1.5), 0.75);
        assert_eq!(progress.fraction(1, f64::NAN), 0.1);
        assert_eq!(Progress::on(0.0, Some(0), false).fraction(1, 0.0), 1.0);
    }

    #[test]
    fn a_line_names_what_is_known() {
        let progress = Progress::on(0.8, None, false);
        let drift = "dE/E -2.0e-4".to_owned();
        let mut report =
            StepReport { step: 7, time: 0.25, dt: 1e-3, drift, fraction: 0.3, rate: 4e4, left: 90.0 };
        assert_eq!(
            progress.text(&report),
            "step      7  t 0.25000 of 0.8  dt 1.00e-3  dE/E -2.0e-4  40.0k updates/s  90 s left"
        );
        (report.drift, report.left) = (String::new(), f64::NAN);
        assert_eq!(progress.text(&report), "step      7  t 0.25000 of 0.8  dt 1.00e-3  40.0k updates/s");
    }
}
