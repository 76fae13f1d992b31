//! Lennard-Jones interaction of several species with Lorentz-Berthelot mixing and a force switch.

use super::shared::force_switch::{self, Switch};
use super::shared::lorentz_berthelot;
use crate::pair::language::*;
pub use lennard_jones_mixed_switched::*;

/// Lennard-Jones with mixing by [`lorentz_berthelot`], truncated by [`force_switch`].
#[pair(molecular, uses(force_switch, lorentz_berthelot))]
pub mod lennard_jones_mixed_switched {
    struct Law {
        truncation: force_switch::Switch,
    }
    /// Half of sigma, and the square root of epsilon.
    struct Particle {
        half_sigma: Real,
        root_epsilon: Real,
    }

    fn interact(law: Law, i: Particle, j: Particle, r: Vec3, r2: Real) -> Sums {
        let sigma6 = lorentz_berthelot::sigma6(i.half_sigma, j.half_sigma);
        let depth = lorentz_berthelot::depth(i.root_epsilon, j.root_epsilon);
        let distance = r2.sqrt();
        let inverse = r2.reciprocal();
        let r6 = inverse * inverse * inverse;
        let powers = force_switch::switched(law.truncation, distance, r6);
        let attraction = depth * sigma6;
        let virial = attraction * (sigma6 * powers.force12 - powers.force6);
        Sums {
            force: r * (virial * inverse),
            energy: attraction * (sigma6 * powers.energy12 - powers.energy6),
            virial,
        }
    }
}

impl Law<f64> {
    /// Switches the force off from `start` to `cutoff`.
    pub fn new(start: f64, cutoff: f64) -> Self {
        Law { truncation: Switch::new(start, cutoff) }
    }
}
