//! The Yukawa interaction: a screened charge.

use crate::pair::language::*;

pub use yukawa::*;

/// V(r) = strength exp(-kappa r) / r - shift (Yukawa 1935; Debye & Hueckel 1923 for charges in a plasma or an electrolyte).
#[pair(cutoff = common)]
pub mod yukawa {
    /// Strength (energy times length), screening kappa (1 / length), and what the energy is lowered by.
    struct Law {
        strength: Real,
        screening: Real,
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
        let distance = r2.sqrt();
        let screened = law.screening * distance;
        let energy = law.strength * (-screened).exp() * distance.reciprocal();
        let virial = energy * (1.0 + screened);
        Sums { force: r * (virial * r2.reciprocal()), energy: energy - law.shift, virial }
    }

    /// Half of each pair's energy and virial.
    fn finish(law: Law, sums: Sums) -> Output {
        Output { force: sums.force, pair_energy: 0.5 * sums.energy, virial: 0.5 * sums.virial }
    }
}
