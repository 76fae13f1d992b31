//! Checks, and the verdict that they add up to, as text and as JSON.

use serde::Serialize;

use crate::report;

/// Outcome of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// Measured, within the gate.
    Passed,
    /// Measured and above the gate, or not measurable although it should be.
    Failed,
    /// Measured for information, without a gate.
    Reported,
    /// Not measured; the note says why.
    Skipped,
}

/// One figure of a verdict. All figures are deviations: smaller is better.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Check {
    /// The quantity.
    pub name: &'static str,
    /// The figure.
    pub measured: Option<f64>,
    /// Largest figure that passes.
    pub gate: Option<f64>,
    /// Target of the figure, smaller than the gate.
    pub aim: Option<f64>,
    /// SPH-EXA's figure, scaled to this number of particles.
    pub baseline: Option<f64>,
    /// The figure over SPH-EXA's.
    pub ratio: Option<f64>,
    /// Outcome of the check.
    pub outcome: Outcome,
    /// Remark: where it was measured, or why not.
    pub note: String,
}

impl Check {
    /// Creates a check that passes up to `gate`; `None` or a value that is not finite fails.
    pub fn gated(name: &'static str, measured: Option<f64>, gate: f64, aim: Option<f64>) -> Self {
        let measured = measured.filter(|value| value.is_finite());
        let outcome =
            if measured.is_some_and(|value| value <= gate) { Outcome::Passed } else { Outcome::Failed };
        let note = if measured.is_none() { "not enough data to measure it".into() } else { String::new() };
        Self { name, measured, gate: Some(gate), aim, baseline: None, ratio: None, outcome, note }
    }

    /// Creates a check whose gate is SPH-EXA's figure.
    pub fn against(name: &'static str, measured: Option<f64>, baseline: f64, aim: f64) -> Self {
        let check = Self::gated(name, measured, baseline, Some(aim));
        Self { baseline: Some(baseline), ratio: check.measured.map(|value| value / baseline), ..check }
    }

    /// Creates a check without a gate.
    pub fn reported(name: &'static str, measured: Option<f64>) -> Self {
        Self { gate: None, outcome: Outcome::Reported, ..Self::gated(name, measured, 0.0, None) }
    }

    /// Creates a check that was not measured.
    pub fn skipped(name: &'static str, why: impl Into<String>) -> Self {
        Self { gate: None, outcome: Outcome::Skipped, note: why.into(), ..Self::gated(name, None, 0.0, None) }
    }

    /// Returns the check with a remark, if it was measured.
    pub fn noting(self, note: impl Into<String>) -> Self {
        if self.measured.is_none() { self } else { Self { note: note.into(), ..self } }
    }

    fn cells(&self) -> Vec<String> {
        let figure = |value: Option<f64>| value.map_or_else(|| "·".to_owned(), significant);
        let outcome = match self.outcome {
            Outcome::Passed => "pass",
            Outcome::Failed => "FAIL",
            Outcome::Reported => "·",
            Outcome::Skipped => "skipped",
        };
        let ratio = self.ratio.map_or_else(|| "·".to_owned(), |ratio| format!("{ratio:.2}"));
        let mut cells = vec![self.name.to_owned()];
        cells.extend([self.measured, self.gate, self.aim].map(figure));
        cells.extend([ratio, outcome.to_owned(), self.note.clone()]);
        cells
    }
}

/// Result of `validate`. The JSON has the same names (schema: see [`crate::validate`]).
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Verdict {
    /// Title of the solution.
    pub against: String,
    /// Path of the snapshot.
    pub snapshot: String,
    /// Its time.
    pub time: f64,
    /// Its number of particles.
    pub particles: u64,
    /// Whether at least one check has a gate and none failed.
    pub passed: bool,
    /// The checks.
    pub checks: Vec<Check>,
}

impl Verdict {
    /// Creates the verdict of `checks`.
    pub fn new(against: &str, snapshot: String, time: f64, particles: u64, checks: Vec<Check>) -> Self {
        let any = |outcome| checks.iter().any(|check: &Check| check.outcome == outcome);
        let passed = any(Outcome::Passed) && !any(Outcome::Failed);
        Self { against: against.to_owned(), snapshot, time, particles, passed, checks }
    }

    /// Returns the check of that name.
    pub fn check(&self, name: &str) -> Option<&Check> {
        self.checks.iter().find(|check| check.name == name)
    }

    /// Formats the verdict as a table and a summary line.
    pub fn text(&self) -> String {
        let rows: Vec<_> = self.checks.iter().map(Check::cells).collect();
        let header = ["check", "measured", "gate", "aim", "÷ SPH-EXA", "", ""];
        let of = |outcome| self.checks.iter().filter(move |check| check.outcome == outcome);
        let (passed, failed) = (of(Outcome::Passed).count(), of(Outcome::Failed).count());
        let names = of(Outcome::Failed).map(|check| check.name).collect::<Vec<_>>().join(", ");
        let last = match (passed, failed) {
            (0, 0) => "FAILED: no check applies to this snapshot".to_owned(),
            (_, 0) => format!("PASSED: all of {passed} gates"),
            _ => format!("FAILED: {failed} of {} gates: {names}", passed + failed),
        };
        format!(
            "{}: t = {}, {} particles, {}\n\n{}\n\n{last}",
            self.against,
            report::rounded(self.time, 6),
            report::grouped(self.particles),
            self.snapshot,
            report::table(&header, &rows)
        )
    }
}

/// Formats a figure with three significant digits.
fn significant(value: f64) -> String {
    let magnitude = value.abs();
    if magnitude == 0.0 {
        "0".into()
    } else if (1e-3..1e3).contains(&magnitude) {
        let decimals = (2 - magnitude.log10().floor() as i32).max(0) as usize;
        format!("{value:.decimals$}")
    } else {
        format!("{value:.1e}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_verdict_needs_a_gate_and_no_failure() {
        let verdict = |checks| Verdict::new("x", "file".into(), 1.0, 10, checks);
        let pass = Check::gated("pass", Some(1.0), 1.0, None);
        let fail = Check::gated("fail", Some(1.1), 1.0, None);
        let nothing = Check::gated("nothing", Some(f64::NAN), 1.0, None);
        let idle = [Check::reported("told", Some(5.0)), Check::skipped("left", "no data")];
        assert!(verdict(vec![pass.clone()]).passed);
        assert!(!verdict(vec![pass.clone(), fail]).passed);
        assert!(!verdict(vec![pass, nothing]).passed);
        let silent = verdict(idle.to_vec());
        assert!(!silent.passed && silent.text().contains("no check applies"));
    }

    #[test]
    fn figures_have_three_digits() {
        assert_eq!(significant(0.053_96), "0.0540");
        assert_eq!(significant(12.345), "12.3");
        assert_eq!(significant(1.2e-7), "1.2e-7");
        assert_eq!(significant(0.0), "0");
    }

    #[test]
    fn json_has_null_for_what_is_not_there() {
        let check = Check::against("density", Some(0.05), 0.1, 0.07);
        let json = serde_json::to_value(Verdict::new("evrard", "a.h5".into(), 0.77, 9, vec![check])).unwrap();
        assert_eq!(json["checks"][0]["ratio"], 0.5);
        assert_eq!(json["checks"][0]["outcome"], "passed");
        assert_eq!(json["passed"], true);
        let none = serde_json::to_value(Check::skipped("shock", "why")).unwrap();
        assert!(none["measured"].is_null() && none["gate"].is_null());
    }
}
