//! Lennard-Jones interaction of one species with charges, fused into one law.

use super::shared::twelve_six;
use super::{coulomb, lennard_jones};
use crate::pair::language::*;

pub use lennard_jones_coulomb::*;

/// [`super::lennard_jones`] and [`super::coulomb`] within one cutoff. One reciprocal square root, 1/r, gives
/// the powers of both.
#[pair(molecular, uses(twelve_six))]
pub mod lennard_jones_coulomb {
    /// Depth epsilon, sigma^2, and what the energy of Lennard-Jones is lowered by; Coulomb's constant, smooth part and
    /// self-energy.
    struct Law {
        epsilon: Real,
        sigma2: Real,
        shift: Real,
        constant: Real,
        smooth: SmoothPart,
        own: Real,
    }
    struct Particle {
        charge: Real,
    }

    fn interact(law: Law, i: Particle, j: Particle, r: Vec3, r2: Real) -> Sums {
        let root = r2.reciprocal_root();
        let inverse = root * root;
        let s6 = twelve_six::sixth(law.sigma2, inverse);
        let depth = 4.0 * law.epsilon;
        let charges = law.constant * (i.charge * j.charge);
        let smooth = smooth_part(law.smooth, r2);
        let attraction = charges * r2.mul_add(-2.0 * smooth.slope, root);
        let virial = s6.mul_add(twelve_six::virial(depth, s6), attraction);
        let charged = charges * (root + smooth.value);
        Sums {
            force: r * (virial * inverse),
            energy: s6.mul_add(twelve_six::energy(depth, s6), charged) - law.shift,
            virial,
        }
    }

    /// Half of each pair's energy and virial, and the charge's own energy.
    fn finish(law: Law, i: Particle, sums: Sums) -> Output {
        let own = law.constant * (i.charge * i.charge) * law.own;
        Output { force: sums.force, pair_energy: 0.5 * (sums.energy - own), virial: 0.5 * sums.virial }
    }
}

impl Law<f64> {
    /// Fuses both laws.
    pub fn new(dispersion: lennard_jones::Law<f64>, charges: coulomb::Law<f64>) -> Self {
        let lennard_jones::Law { epsilon, sigma2, shift } = dispersion;
        let coulomb::Law { constant, smooth, own } = charges;
        Law { epsilon, sigma2, shift, constant, smooth, own }
    }
}
