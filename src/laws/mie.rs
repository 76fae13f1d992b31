//! The Mie interaction: Lennard-Jones with powers of choice.

use crate::pair::language::*;

pub use mie::*;

/// V(r) = C epsilon [(sigma/r)^n - (sigma/r)^m] - shift, C = n / (n - m) (n / m)^(m / (n - m)) (Mie 1903), n > m > 0.
#[pair(cutoff = common)]
pub mod mie {
    /// C epsilon, sigma^2, the powers n and m, and what the energy is lowered by.
    struct Law {
        depth: Real,
        sigma2: Real,
        repulsive: Real,
        attractive: Real,
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
        let logarithm = 0.5 * (law.sigma2 * inverse).ln();
        let repulsion = law.depth * (law.repulsive * logarithm).exp();
        let attraction = law.depth * (law.attractive * logarithm).exp();
        let virial = law.repulsive * repulsion - law.attractive * attraction;
        Sums { force: r * (virial * inverse), energy: repulsion - attraction - law.shift, virial }
    }

    /// Half of each pair's energy and virial.
    fn finish(law: Law, sums: Sums) -> Output {
        Output { force: sums.force, pair_energy: 0.5 * sums.energy, virial: 0.5 * sums.virial }
    }
}

impl Law<f64> {
    /// Truncated, of depth epsilon at its minimum.
    pub fn truncated(epsilon: f64, sigma: f64, repulsive: f64, attractive: f64) -> Self {
        let difference = repulsive - attractive;
        let depth = epsilon * repulsive / difference * (repulsive / attractive).powf(attractive / difference);
        Law { depth, sigma2: sigma * sigma, repulsive, attractive, shift: 0.0 }
    }
}
