//! The drift of the energy that should be conserved: what an integrator's errors add up to.

use super::{ENERGY, Observables};
use crate::deck::plan::Plan;
use crate::units::Units;

/// A drift beyond this part of the energy of motion is large: the time step is too long for what moves.
const LARGE: f64 = 1e-3;

/// The same for molecules: with usual steps the energy of velocity Verlet, which differs by dt^2 from what it conserves, changes by
/// 1.4e-3 of the energy of motion while a crystal melts.
const LARGE_FOR_MOLECULES: f64 = 3e-3;

/// An energy within this part of its kinetic, thermal and potential parts is near zero: nothing is told relative to it.
const NEAR_ZERO: f64 = 1e-3;

/// What of the energy of all pairs at a plain cutoff may come and go as a structure melts or settles: their number within the
/// cutoff changes by a few percent.
const STRUCTURE: f64 = 0.05;

/// What of the potential energy counts as energy of motion at least: a system at rest has rounding alone.
const AT_REST: f64 = 1e-2;

/// How far the conserved energy has gone from its first value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Drift {
    /// Conserved energy less the first one, in the run's units.
    pub change: f64,
    /// The first conserved energy.
    pub first: f64,
    /// Kinetic and thermal energy now.
    pub motion: f64,
    /// Magnitude of the potential energy now.
    pub potential: f64,
    /// Energy of all pairs within a cutoff if they were at it: a plain cutoff does not conserve what crosses it.
    pub at_cutoff: f64,
    /// The part of the energy of motion beyond which it is large.
    pub limit: f64,
    /// Number of particles.
    pub particles: u64,
    /// The units.
    pub units: Units,
}

impl Drift {
    /// The drift from the conserved energy `first` to what is observed now in a run of a plan, in a box of that volume.
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
            potential: now.potential.abs(),
            at_cutoff,
            limit: if plan.interaction.is_some() { LARGE_FOR_MOLECULES } else { LARGE },
            particles: now.particles,
            units: plan.units,
        }
    }

    /// Relative to the first energy; `None` where that is near zero, so that a ratio says nothing.
    pub fn relative(&self) -> Option<f64> {
        let near_zero = self.first.abs() <= NEAR_ZERO * (self.motion + self.potential);
        (!near_zero).then(|| self.change / self.first.abs())
    }

    /// Energy a particle.
    pub fn per_particle(&self) -> f64 {
        self.change / self.particles.max(1) as f64
    }

    /// The drift relative to the energy of motion, kinetic and thermal.
    pub fn of_motion(&self) -> f64 {
        self.change / self.motion.max(AT_REST * self.potential).max(f64::MIN_POSITIVE)
    }

    /// Whether it is more than `limit` of the energy of motion, and more than a plain cutoff explains.
    pub fn is_large(&self) -> bool {
        self.of_motion().abs() > self.limit && self.change.abs() > STRUCTURE * self.at_cutoff
    }

    /// For a sentence: "1.20e-5" relative to the first energy, or "1.20e-5 kJ mol^-1 a particle".
    pub fn text(&self) -> String {
        match self.relative() {
            Some(relative) => format!("{relative:.2e}"),
            None => format!("{:.2e} {} a particle", self.per_particle(), ENERGY.unit(&self.units)),
        }
    }

    /// For a line of progress: "dE/E +1.2e-5", or "dE/N +1.2e-5 kJ mol^-1"; nothing while unknown.
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
        Drift { change, first, motion, potential, at_cutoff: 0.0, limit: LARGE, particles: 10, units }
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
