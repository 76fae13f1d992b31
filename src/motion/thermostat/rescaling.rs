//! The thermostat that rescales velocities by a random factor, the same for all particles.
//!
//! ```text
//! K' = c K + (1 - c) (K_T / f) sum_1^f R_k^2 + 2 R_1 sqrt(c (1 - c) K K_T / f),    c = exp(-dt / time_constant)
//! ```
//!
//! is the kinetic energy about the motion of the whole after a step, K_T = f k_B T / 2 its mean, f = 3 N - 3 its degrees of
//! freedom, and R_k normal deviates; the sum of all squares but the first is drawn as twice a gamma deviate of shape
//! (f - 1) / 2 (Bussi, Donadio & Parrinello 2007, J. Chem. Phys. 126, 014101). It is applied at the end of a step.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, Gamma, StandardNormal};

use crate::comm::Communicator;
use crate::motion::whole::{self, Whole};
use crate::particles::Particles;

/// The thermostat.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VelocityRescaling {
    /// k_B T, > 0.
    pub thermal_energy: f64,
    /// Time in which the kinetic energy forgets a deviation, > 0.
    pub time_constant: f64,
    /// Seed of the factors.
    pub seed: u64,
}

impl VelocityRescaling {
    /// Rescale the velocities at the end of step number `step` of length `dt` (collective); returns the heat given to all
    /// particles. Particles at rest stay at rest.
    pub fn rescale(&self, particles: &mut Particles, comm: &Communicator, dt: f64, step: u64) -> f64 {
        let whole = Whole::of(particles, comm);
        let Some((factor, heat)) = self.factor_and_heat(&whole, dt, step) else { return 0.0 };
        whole::scale(particles, whole.drift(), factor);
        heat
    }

    /// The factor of the velocities about that of the whole, and the heat that they gain by it; `None` for particles at
    /// rest.
    pub fn factor_and_heat(&self, whole: &Whole, dt: f64, step: u64) -> Option<(f64, f64)> {
        let (kinetic, freedom) = (whole.thermal(), whole.freedom());
        if freedom == 0.0 || kinetic <= 0.0 {
            return None;
        }
        let factor = self.factor(kinetic, freedom, dt, step);
        Some((factor, (factor * factor - 1.0) * kinetic))
    }

    /// The factor of the velocities.
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
        // (sqrt(c) + R_1 sqrt(..))^2 + others: also the sign is that of the root (Bussi et al., equation A8)
        (root * root + gain * others).sqrt().copysign(root)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The kinetic energy alone is a process whose stationary distribution is that of 3 N - 3 squares.
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
        // ten steps of correlation on either side: six standard errors
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
