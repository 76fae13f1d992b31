//! The state to be judged, and the results of the comparison.

use super::history::History;
use super::pictures::Picture;
use super::verdict::Check;
use crate::cases::Surroundings;
use crate::particles::Particles;
use crate::report::{grouped, rounded};

/// The state to be judged.
pub struct Subject<'a> {
    /// The particles.
    pub particles: &'a Particles,
    /// Their time.
    pub time: f64,
    /// Adiabatic exponent that the snapshot states.
    pub gamma: Option<f64>,
    /// Energies of the run over time, if known.
    pub history: Option<&'a History>,
    /// Settings of the snapshot's deck outside of its start, if it has a deck.
    pub surroundings: Option<Surroundings>,
}

/// Results of a comparison: checks, and plots by the suffix of their file name.
pub struct Findings {
    /// The checks.
    pub checks: Vec<Check>,
    /// The pictures.
    pub pictures: Vec<(&'static str, Picture)>,
}

impl Subject<'_> {
    /// Returns the gravitational constant of the snapshot's deck; 1 without one.
    pub fn gravity(&self) -> f64 {
        self.surroundings.and_then(|surroundings| surroundings.gravity).unwrap_or(1.0)
    }

    /// Checks the largest relative change of the total energy until the subject's time.
    pub fn drift_check(&self, gate: f64) -> Check {
        let name = "energy drift";
        match self.history {
            None => Check::skipped(name, "no observables.csv beside the snapshot"),
            // a margin for rounding in the comparison of times
            Some(history) => Check::gated(name, history.drift(self.time * (1.0 + 1e-9)), gate, None)
                .noting(format!("largest up to t = {}", rounded(self.time, 6))),
        }
    }

    /// Returns kinetic, thermal and potential energy of the history at the subject's time; `None` without a
    /// history that reaches it.
    pub fn energies(&self) -> Option<[f64; 3]> {
        let history = self.history?;
        let row = history.time.iter().rposition(|&time| time <= self.time * (1.0 + 1e-9))?;
        Some([history.kinetic[row], history.thermal[row], history.potential[row]])
    }

    /// Returns the energies of the history at the subject's time, divided by those at its start: kinetic and
    /// thermal; `None` without a history that reaches it.
    pub fn energy_ratios(&self) -> Option<[f64; 2]> {
        let ([kinetic, thermal, _], history) = (self.energies()?, self.history?);
        Some([kinetic / history.kinetic[0], thermal / history.thermal[0]])
    }
}

/// Returns the title of a picture.
pub fn title(case: &str, subject: &Subject) -> String {
    let count = grouped(subject.particles.owned().len() as u64);
    format!("{case} at t = {}, {count} particles", rounded(subject.time, 4))
}
