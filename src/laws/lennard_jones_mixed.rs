//! Lennard-Jones interaction of several species with Lorentz-Berthelot mixing.

use super::shared::lorentz_berthelot;
use crate::pair::language::*;

pub use lennard_jones_mixed::*;

/// Lennard-Jones with the parameters of unlike particles mixed by [`lorentz_berthelot`]. Truncated, or
/// shifted to zero energy at the cutoff for each pair.
#[pair(molecular, uses(lorentz_berthelot))]
pub mod lennard_jones_mixed {
    /// 1 / cutoff^6, or 0 for a truncation without a shift.
    struct Law {
        inverse_cutoff6: Real,
    }
    /// Half of sigma, and the square root of epsilon.
    struct Particle {
        half_sigma: Real,
        root_epsilon: Real,
    }

    fn interact(law: Law, i: Particle, j: Particle, r: Vec3, r2: Real) -> Sums {
        let sigma6 = lorentz_berthelot::sigma6(i.half_sigma, j.half_sigma);
        let depth = lorentz_berthelot::depth(i.root_epsilon, j.root_epsilon);
        let inverse = r2.reciprocal();
        let s6 = sigma6 * (inverse * inverse * inverse);
        let end = sigma6 * law.inverse_cutoff6;
        let virial = 6.0 * depth * s6 * (2.0 * s6 - 1.0);
        Sums { force: r * (virial * inverse), energy: depth * (s6 * (s6 - 1.0) - end * (end - 1.0)), virial }
    }
}

impl Law<f64> {
    /// Truncated at the cutoff, with energy jumps.
    pub fn truncated() -> Self {
        Law { inverse_cutoff6: 0.0 }
    }

    /// Truncated and shifted to zero energy at the cutoff.
    pub fn shifted(cutoff: f64) -> Self {
        Law { inverse_cutoff6: cutoff.powi(-6) }
    }
}
