//! The softened Lennard-Jones potential of a benchmark.

use crate::pair::language::*;

pub use softened_lennard_jones::*;

/// V = 4 epsilon [(sigma/d)^12 - (sigma/d)^6] with d^2 = r^2 + softening^2, the sum over all neighbors: the
/// law of Algis, Bramas, Darles and Aveneau 2024 (hal-04621128), equation 1 with r/d inverted, one value per
/// particle. They give no softening.
///
/// Not physics: only `bench cells` and its tests use it. Finite for coincident particles.
#[pair(cutoff = common)]
pub mod softened_lennard_jones {
    /// 4 epsilon, sigma^2, and the square of the softening.
    struct Law {
        depth: Real,
        sigma2: Real,
        softening2: Real,
    }
    struct Sums {
        #[even]
        value: Real,
    }
    struct Output {
        pair_energy: Real,
    }

    fn interact(law: Law, r: Vec3, r2: Real) -> Sums {
        let inverse = (r2 + law.softening2).reciprocal();
        let s2 = law.sigma2 * inverse;
        let s6 = s2 * s2 * s2;
        Sums { value: law.depth * (s6 * (s6 - 1.0)) }
    }

    /// Half of each pair's energy.
    fn finish(law: Law, sums: Sums) -> Output {
        Output { pair_energy: 0.5 * sums.value }
    }
}

impl Law<f64> {
    /// Depth epsilon, length sigma and softening length.
    pub fn new(epsilon: f64, sigma: f64, softening: f64) -> Self {
        Law { depth: 4.0 * epsilon, sigma2: sigma * sigma, softening2: softening * softening }
    }
}
