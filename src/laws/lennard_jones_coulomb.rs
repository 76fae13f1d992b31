//! The Lennard-Jones interaction of alike particles with charges.

use super::{coulomb, lennard_jones};
use crate::pair::language::*;

pub use lennard_jones_coulomb::*;

/// [`super::lennard_jones`] and [`super::coulomb`] within one cutoff, of one root: 1/r gives the powers of both.
#[pair(cutoff = common)]
pub mod lennard_jones_coulomb {
    /// Depth epsilon, sigma^2, and what the energy of Lennard-Jones is lowered by; Coulomb's constant, field and shift.
    struct Law {
        epsilon: Real,
        sigma2: Real,
        shift: Real,
        constant: Real,
        field: Real,
        charge_shift: Real,
    }
    struct Particle {
        charge: Real,
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

    fn interact(law: Law, i: Particle, j: Particle, r: Vec3, r2: Real) -> Sums {
        let root = r2.reciprocal_root();
        let inverse = root * root;
        let s2 = law.sigma2 * inverse;
        let s6 = s2 * s2 * s2;
        let depth = 4.0 * law.epsilon;
        let charges = law.constant * (i.charge * j.charge);
        let attraction = charges * r2.mul_add(-2.0 * law.field, root);
        let virial = s6.mul_add(s6.mul_add(12.0 * depth, -6.0 * depth), attraction);
        let charged = charges * (r2.mul_add(law.field, root) - law.charge_shift);
        Sums {
            force: r * (virial * inverse),
            energy: s6.mul_add(s6.mul_add(depth, -depth), charged) - law.shift,
            virial,
        }
    }

    /// Half of each pair's energy and virial, and the charge's own energy.
    fn finish(law: Law, i: Particle, sums: Sums) -> Output {
        let own = law.constant * (i.charge * i.charge) * law.charge_shift;
        Output { force: sums.force, pair_energy: 0.5 * (sums.energy - own), virial: 0.5 * sums.virial }
    }
}

impl Law<f64> {
    /// Both laws.
    pub fn new(dispersion: lennard_jones::Law<f64>, charges: coulomb::Law<f64>) -> Self {
        let lennard_jones::Law { epsilon, sigma2, shift } = dispersion;
        let coulomb::Law { constant, field, shift: charge_shift } = charges;
        Law { epsilon, sigma2, shift, constant, field, charge_shift }
    }
}
