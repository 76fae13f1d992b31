//! The Lennard-Jones interaction of several species, mixed by rule, with a force that is switched off smoothly.

use super::lennard_jones_switched as switched;
use crate::pair::language::*;
pub use lennard_jones_mixed_switched::*;

/// The rule of Lorentz and Berthelot as in [`lennard_jones_mixed`](super::lennard_jones_mixed), the switch as in
/// [`lennard_jones_switched`](super::lennard_jones_switched).
#[pair(cutoff = common)]
pub mod lennard_jones_mixed_switched {
    /// r_1, and per power A, B, and the shift C of the energy.
    struct Law {
        start: Real,
        a12: Real,
        b12: Real,
        c12: Real,
        a6: Real,
        b6: Real,
        c6: Real,
    }
    /// Half of sigma, and the square root of epsilon.
    struct Particle {
        half_sigma: Real,
        root_epsilon: Real,
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
        let sigma = i.half_sigma + j.half_sigma;
        let sigma2 = sigma * sigma;
        let sigma6 = sigma2 * sigma2 * sigma2;
        let depth = 4.0 * (i.root_epsilon * j.root_epsilon);
        let distance = r2.sqrt();
        let inverse = r2.reciprocal();
        let r6 = inverse * inverse * inverse;
        let x = (distance - law.start).max(0.0);
        let x2 = x * x;
        let x3 = x2 * x;
        let force12 = 12.0 * r6 * r6 + (law.a12 * x2 + law.b12 * x3) * distance;
        let force6 = 6.0 * r6 + (law.a6 * x2 + law.b6 * x3) * distance;
        let energy12 = r6 * r6 - (law.a12 * (1.0 / 3.0) + law.b12 * 0.25 * x) * x3 - law.c12;
        let energy6 = r6 - (law.a6 * (1.0 / 3.0) + law.b6 * 0.25 * x) * x3 - law.c6;
        let attraction = depth * sigma6;
        let virial = attraction * (sigma6 * force12 - force6);
        Sums { force: r * (virial * inverse), energy: attraction * (sigma6 * energy12 - energy6), virial }
    }

    /// Half of each pair's energy and virial.
    fn finish(law: Law, i: Particle, sums: Sums) -> Output {
        Output { force: sums.force, pair_energy: 0.5 * sums.energy, virial: 0.5 * sums.virial }
    }
}

impl Law<f64> {
    /// The interaction that is switched from `start` to `cutoff`.
    pub fn new(start: f64, cutoff: f64) -> Self {
        let switched::Law { a12, b12, c12, a6, b6, c6, .. } = switched::Law::new(1.0, 1.0, start, cutoff);
        Law { start, a12, b12, c12, a6, b6, c6 }
    }
}
