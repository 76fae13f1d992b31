//! The Lennard-Jones interaction with a force that is switched off smoothly.

use crate::pair::language::*;

pub use lennard_jones_switched::*;

/// Lennard-Jones whose force goes to zero with continuous slope between a radius r_1 and the cutoff (van der Spoel & van
/// Maaren 2006, J. Chem. Theory Comput. 2, 1): to the force a / r^(a + 1) of each power a = 6, 12 is added
/// A_a x^2 + B_a x^3 with x = r - r_1 > 0, and its integral to the energy, which is shifted to zero at the cutoff.
#[pair(cutoff = common)]
pub mod lennard_jones_switched {
    /// The coefficients 4 epsilon sigma^a of both powers, r_1, and per power A, B, and the energy's shift C.
    struct Law {
        repulsion: Real,
        attraction: Real,
        start: Real,
        a12: Real,
        b12: Real,
        c12: Real,
        a6: Real,
        b6: Real,
        c6: Real,
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
        let inverse = r2.reciprocal();
        let r6 = inverse * inverse * inverse;
        let x = (distance - law.start).max(0.0);
        let x2 = x * x;
        let x3 = x2 * x;
        let force12 = 12.0 * r6 * r6 + (law.a12 * x2 + law.b12 * x3) * distance;
        let force6 = 6.0 * r6 + (law.a6 * x2 + law.b6 * x3) * distance;
        let energy12 = r6 * r6 - (law.a12 * (1.0 / 3.0) + law.b12 * 0.25 * x) * x3 - law.c12;
        let energy6 = r6 - (law.a6 * (1.0 / 3.0) + law.b6 * 0.25 * x) * x3 - law.c6;
        let virial = law.repulsion * force12 - law.attraction * force6;
        Sums {
            force: r * (virial * inverse),
            energy: law.repulsion * energy12 - law.attraction * energy6,
            virial,
        }
    }

    /// Half of each pair's energy and virial.
    fn finish(law: Law, sums: Sums) -> Output {
        Output { force: sums.force, pair_energy: 0.5 * sums.energy, virial: 0.5 * sums.virial }
    }
}

impl Law<f64> {
    /// The interaction that is switched from `start` to `cutoff`.
    pub fn new(epsilon: f64, sigma: f64, start: f64, cutoff: f64) -> Self {
        let width = cutoff - start;
        let coefficients = |power: f64| {
            let scale = power / (cutoff.powf(power + 2.0) * width.powi(2));
            let a = -scale * ((power + 4.0) * cutoff - (power + 1.0) * start);
            let b = scale * ((power + 3.0) * cutoff - (power + 1.0) * start) / width;
            let c = cutoff.powf(-power) - a / 3.0 * width.powi(3) - b / 4.0 * width.powi(4);
            [a, b, c]
        };
        let ([a12, b12, c12], [a6, b6, c6]) = (coefficients(12.0), coefficients(6.0));
        let (repulsion, attraction) = (4.0 * epsilon * sigma.powi(12), 4.0 * epsilon * sigma.powi(6));
        Law { repulsion, attraction, start, a12, b12, c12, a6, b6, c6 }
    }
}
