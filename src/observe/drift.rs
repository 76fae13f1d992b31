//! Drift of the conserved energy: the accumulated error of the integrator.

use super::{ENERGY, Observables};
use crate::plan::Plan;
use crate::units::Units;

/// A drift above this fraction of the energy of motion is large: the time step is too long.
const LARGE_DRIFT: f64 = 1e-3;

/// The same for molecules. Velocity Verlet conserves an energy that differs from the true one by O(dt^2).
/// With usual steps the true one changes by 1.4e-3 of the energy of motion while a crystal melts.
const LARGE_DRIFT_OF_MOLECULES: f64 = 3e-3;

/// A total energy below this fraction of its kinetic, thermal and potential parts counts as zero: a relative
/// drift would be meaningless.
const NEAR_ZERO: f64 = 1e-3;

/// Fraction of the energy of all pairs at a plain cutoff that may appear or vanish as a structure melts or
/// settles: their number within the cutoff changes by a few percent.
const STRUCTURAL_FRACTION: f64 = 0.05;

/// Smallest energy of motion, as a fraction of the potential energy: a system at rest has rounding errors
/// only.
const MIN_MOTION_FRACTION: f64 = 1e-2;

/// Change of the conserved energy since its first value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Drift {
    /// Conserved energy minus the first one, in the run's units.
    pub change: f64,
    /// The first conserved energy.
    pub first: f64,
    /// Kinetic and thermal energy now.
    pub motion: f64,
    /// Magnitude of the potential energy and of the external energy now.
    pub potential: f64,
    /// Energy of all pairs within a cutoff if they were at the cutoff: a plain cutoff does not conserve the
    /// energy of pairs that cross it.
    pub at_cutoff: f64,
    /// Fraction of the energy of motion above which the drift is large.
    pub limit: f64,
    /// Number of particles.
    pub particles: u64,
    /// The units.
    pub units: Units,
}

impl Drift {
    /// Computes the drift from the conserved energy `first` to the present observables, for a box of this
    /// volume.
    pub fn since(first: f64, now: &Observables, plan: &Plan, volume: f64) -> Self {
        let pairs = |[cutoff, energy]: [f64; 2]| {
            let sphere = 4.0 / 3.0 * std::f64::consts::PI * cutoff.powi(3);
            0.5 * now.particles as f64 * (now.particles as f64 * sphere / volume) * energy
        };
        let at_cutoff = plan
            .interaction
            .as_ref()
            .map_or(0.0, |interaction| interaction.energies_at_cutoff().into_iter().map(pairs).sum());
        Drift {
            change: now.conserved_energy() - first,
            first,
            motion: now.kinetic + now.thermal,
            potential: now.potential.abs() + now.external.unwrap_or(0.0).abs(),
            at_cutoff,
            limit: if plan.interaction.is_some() { LARGE_DRIFT_OF_MOLECULES } else { LARGE_DRIFT },
            particles: now.particles,
            units: plan.units,
        }
    }

    /// Returns the drift relative to the first energy; `None` if that is near zero.
    pub fn relative(&self) -> Option<f64> {
        let near_zero = Self::is_near_zero(self.first, self.motion + self.potential);
        (!near_zero).then(|| self.change / self.first.abs())
    }

    /// Whether an energy is near zero compared with the sum of the magnitudes of its parts.
    pub fn is_near_zero(energy: f64, parts: f64) -> bool {
        energy.abs() <= NEAR_ZERO * parts
    }

    /// Returns the energy change per particle.
    pub fn per_particle(&self) -> f64 {
        self.change / self.particles.max(1) as f64
    }

    /// Returns the drift relative to the energy of motion, kinetic and thermal.
    pub fn of_motion(&self) -> f64 {
        self.change / self.motion.max(MIN_MOTION_FRACTION * self.potential).max(f64::MIN_POSITIVE)
    }

    /// Whether the drift exceeds `limit` times the energy of motion, and more than a plain cutoff explains.
    pub fn is_large(&self) -> bool {
        self.of_motion().abs() > self.limit && self.change.abs() > STRUCTURAL_FRACTION * self.at_cutoff
    }

    /// Formats the drift for a sentence: "1.20e-5" relative to the first energy, or "1.20e-5 kJ mol^-1 a
    /// particle".
    pub fn text(&self) -> String {
        match self.relative() {
            Some(relative) => format!("{relative:.2e}"),
            None => format!("{:.2e} {} a particle", self.per_particle(), ENERGY.unit(&self.units)),
        }
    }

    /// Formats the drift for a progress line: "dE/E +1.2e-5", or "dE/N +1.2e-5 kJ mol^-1"; empty if unknown.
    pub fn short(&self) -> String {
        match self.relative() {
            _ if !self.change.is_finite() => String::new(),
            Some(relative) => format!("dE/E {relative:+.1e}"),
            None => format!("dE/N {:+.1e} {}", self.per_particle(), ENERGY.unit(&self.units)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::UnitSystem;

    fn drift(change: f64, first: f64, motion: f64, potential: f64) -> Drift {
        let units = Units::new(UnitSystem::Molecular);
        Drift { change, first, motion, potential, at_cutoff: 0.0, limit: LARGE_DRIFT, particles: 10, units }
    }

    #[test]
    fn a_drift_is_relative_unless_the_energy_is_near_zero() {
        let usual = drift(-2e-4, -4.0, 1.0, 5.0);
        assert_eq!((usual.text().as_str(), usual.short().as_str()), ("-5.00e-5", "dE/E -5.0e-5"));
        // one particle that a thermostat has set in motion: the energy was 0
        let zero = drift(2e-12, 0.0, 3.7, 0.0);
        assert_eq!(zero.text(), "2.00e-13 kJ mol^-1 a particle");
        assert_eq!(zero.short(), "dE/N +2.0e-13 kJ mol^-1");
        assert_eq!(drift(1e-3, 1e-9, 2.0, 2.0).relative(), None, "kinetic and potential energy cancel");
        assert_eq!(drift(f64::NAN, f64::NAN, 1.0, 1.0).short(), "");
    }

    #[test]
    fn a_drift_is_large_compared_with_the_energy_of_motion() {
        assert!(drift(3e-3 * 4.5, -4.5, 1.1, 5.6).is_large());
        assert!(!drift(7.9e-5 * 0.6, -0.6, 0.7, 1.3).is_large(), "a collapse of gas");
        let salt = |change: f64| drift(change, -700.0, 7.0, 707.0).is_large();
        assert!(salt(0.01) && !salt(0.001), "not compared with the energy of the lattice");
        assert!(!drift(1e-6, -8.0, 0.0, 8.0).is_large(), "a crystal at rest");
        let plain = |change: f64| Drift { at_cutoff: 0.45, ..drift(change, -4.5, 1.1, 5.6) };
        assert!(!plain(0.011).is_large() && plain(0.03).is_large(), "a crystal that melts");
        assert!(!drift(0.0, 0.0, 0.0, 0.0).is_large(), "nothing at all");
    }
}
