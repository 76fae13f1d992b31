//! Stochastic velocity rescaling (Bussi, Donadio & Parrinello 2007, J. Chem. Phys. 126, 014101): one random
//! factor for all particles, at the end of a step.
//!
//! ```text
//! K' = c K + (1 - c) (K_T / f) sum_1^f R_k^2 + 2 R_1 sqrt(c (1 - c) K K_T / f)
//! c = exp(-dt / time_constant)
//! ```
//!
//! K and K' are the kinetic energies relative to the center of mass before and after, K_T = f k_B T / 2 is
//! the mean, f = 3 N - 3 the degrees of freedom, R_k are normal deviates. The sum of all squares but the
//! first is drawn as twice a gamma deviate of shape (f - 1) / 2.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, Gamma, StandardNormal};

use crate::motion::bulk_motion::BulkMotion;

/// Parameters of the thermostat.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VelocityRescaling {
    /// k_B T, > 0.
    pub thermal_energy: f64,
    /// Relaxation time of the kinetic energy, > 0.
    pub time_constant: f64,
    /// Seed of the factors.
    pub seed: u64,
}

impl VelocityRescaling {
    /// Returns the factor of the velocities relative to the center of mass at the end of step number `step`
    /// of length `dt`, and the heat added to all particles; `None` for particles at rest.
    pub fn factor_and_heat(&self, whole: &BulkMotion, dt: f64, step: u64) -> Option<(f64, f64)> {
        let (kinetic, freedom) = (whole.relative_kinetic_energy(), whole.degrees_of_freedom());
        if freedom == 0.0 || kinetic <= 0.0 {
            return None;
        }
        let factor = self.factor(kinetic, freedom, dt, step);
        Some((factor, (factor * factor - 1.0) * kinetic))
    }

    /// Draws the factor of the velocities for a `kinetic` energy relative to the center of mass, with
    /// `freedom` degrees of freedom.
    fn factor(&self, kinetic: f64, freedom: f64, dt: f64, step: u64) -> f64 {
        let mut random = ChaCha8Rng::seed_from_u64(self.seed);
        random.set_stream(step);
        let first: f64 = StandardNormal.sample(&mut random);
        let others = match Gamma::new(0.5 * (freedom - 1.0), 2.0) {
            Ok(gamma) => gamma.sample(&mut random),
            Err(_) => unreachable!("two particles or more have three degrees of freedom or more"),
        };
        let keep = (-dt / self.time_constant).exp();
        let per_freedom = 0.5 * self.thermal_energy / kinetic;
        let gain = -(-dt / self.time_constant).exp_m1() * per_freedom;
        let root = keep.sqrt() + first * gain.sqrt();
        // (sqrt(c) + R_1 sqrt(..))^2 + others; the sign is that of the first term (Bussi et al., equation A8)
        (root * root + gain * others).sqrt().copysign(root)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The kinetic energy is a process by itself, with the stationary distribution of 3 N - 3 squares.
    #[test]
    fn the_kinetic_energy_is_canonical_and_forgets_in_the_time_constant() {
        let thermostat = VelocityRescaling { thermal_energy: 1.5, time_constant: 0.5, seed: 3 };
        let (freedom, dt) = (57.0, 0.1);
        let expected = 0.5 * freedom * 1.5;
        let variance = expected * 1.5;
        let (mut kinetic, mut samples) = (3.0 * expected, Vec::new());
        for step in 0..60_000 {
            kinetic *= thermostat.factor(kinetic, freedom, dt, step).powi(2);
            samples.push(kinetic - expected);
        }
        // far from equilibrium it relaxes as exp(-t / time_constant)
        let relaxed = samples[4] / (2.0 * expected);
        assert!((relaxed - (-1f64).exp()).abs() < 0.15, "{relaxed}");
        let tail = &samples[200..];
        let count = tail.len() as f64;
        let mean = tail.iter().sum::<f64>() / count;
        let spread = tail.iter().map(|x| x * x).sum::<f64>() / count;
        let later = tail.iter().zip(&tail[5..]).map(|(a, b)| a * b).sum::<f64>() / (count - 5.0);
        // six standard errors; samples are correlated over ten steps on either side
        let error = 6.0 * (10.0 / count).sqrt();
        assert!(mean.abs() < error * variance.sqrt(), "{mean}");
        assert!((spread / variance - 1.0).abs() < error * 1.5, "{}", spread / variance);
        assert!((later / variance - (-1f64).exp()).abs() < error, "{}", later / variance);
    }

    #[test]
    fn a_long_time_constant_changes_nothing() {
        let thermostat = VelocityRescaling { thermal_energy: 1.0, time_constant: 1e12, seed: 3 };
        assert!((thermostat.factor(10.0, 30.0, 0.001, 1) - 1.0).abs() < 1e-6);
    }
}
