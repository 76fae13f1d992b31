//! The Lennard-Jones interaction.

use std::f64::consts::PI;

use crate::pair::language::*;

pub use lennard_jones::*;

/// V(r) = 4 epsilon [(sigma/r)^12 - (sigma/r)^6] - shift within the cutoff (Jones 1924), and the pair's virial r . F.
///
/// Energy and virial of a pair belong to its particles in halves. A shift of V at the cutoff makes the energy
/// continuous there, not the force.
#[pair(cutoff = common)]
pub mod lennard_jones {
    /// Depth epsilon, sigma^2, and what the energy is lowered by.
    struct Law {
        epsilon: Real,
        sigma2: Real,
        shift: Real,
    }
    struct Sums {
        #[odd]
        force: Vec3,
        #[even]
        energy: Real,
        #[even]
        virial: Real,
    }
    struct Output {
        force: Vec3,
        pair_energy: Real,
        virial: Real,
    }

    fn interact(law: Law, r: Vec3, r2: Real) -> Sums {
        let inverse = r2.reciprocal();
        let s2 = law.sigma2 * inverse;
        let s6 = s2 * s2 * s2;
        let depth = 4.0 * law.epsilon;
        let virial = s6 * s6.mul_add(12.0 * depth, -6.0 * depth);
        Sums { force: r * (virial * inverse), energy: s6 * s6.mul_add(depth, -depth) - law.shift, virial }
    }

    /// Half of each pair's energy and virial.
    fn finish(law: Law, sums: Sums) -> Output {
        Output { force: sums.force, pair_energy: 0.5 * sums.energy, virial: 0.5 * sums.virial }
    }
}

impl Law<f64> {
    /// Truncated at the cutoff, with a jump of the energy.
    pub fn truncated(epsilon: f64, sigma: f64) -> Self {
        Law { epsilon, sigma2: sigma * sigma, shift: 0.0 }
    }

    /// Truncated and shifted to zero energy at the cutoff.
    pub fn shifted(epsilon: f64, sigma: f64, cutoff: f64) -> Self {
        let s6 = (sigma / cutoff).powi(6);
        Law { shift: 4.0 * epsilon * s6 * (s6 - 1.0), ..Self::truncated(epsilon, sigma) }
    }

    /// What an even density of `number_density` particles beyond the cutoff adds to the energy and to the virial of
    /// `particles` particles (Allen & Tildesley 2017, section 2.8); for the unshifted interaction.
    pub fn tail(&self, particles: f64, number_density: f64, cutoff: f64) -> [f64; 2] {
        let s3 = (self.sigma2.sqrt() / cutoff).powi(3);
        let scale = PI * particles * number_density * self.epsilon * self.sigma2.powf(1.5);
        let energy = 8.0 / 3.0 * scale * (s3.powi(3) / 3.0 - s3);
        let virial = 16.0 * scale * (2.0 / 3.0 * s3.powi(3) - s3);
        [energy, virial]
    }
}
