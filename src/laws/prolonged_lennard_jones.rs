//! The softened Lennard-Jones potential with many more operations, for benchmarks.

use crate::pair::language::*;

pub use prolonged_lennard_jones::*;

/// The energy E of [`super::softened_lennard_jones`], then 75 fused multiply-adds e -> decay e + E that
/// depend on each other: with decay 1/2 the value is 2 E to rounding. The law of many operations (150 more)
/// of Algis, Bramas, Darles and Aveneau 2024 (hal-04621128), figure 8.
///
/// Not physics: only `bench cells` and its tests use it.
#[pair(cutoff = common)]
pub mod prolonged_lennard_jones {
    /// 4 epsilon, sigma^2, the square of the softening, and the decay.
    struct Law {
        depth: Real,
        sigma2: Real,
        softening2: Real,
        decay: Real,
    }
    struct Sums {
        #[even]
        value: Real,
    }
    struct Output {
        pair_energy: Real,
    }

    fn five(value: Real, decay: Real, energy: Real) -> Real {
        let one = value.mul_add(decay, energy);
        let two = one.mul_add(decay, energy);
        let three = two.mul_add(decay, energy);
        let four = three.mul_add(decay, energy);
        four.mul_add(decay, energy)
    }

    fn fifteen(value: Real, decay: Real, energy: Real) -> Real {
        five(five(five(value, decay, energy), decay, energy), decay, energy)
    }

    fn interact(law: Law, r: Vec3, r2: Real) -> Sums {
        let inverse = (r2 + law.softening2).reciprocal();
        let s2 = law.sigma2 * inverse;
        let s6 = s2 * s2 * s2;
        let energy = law.depth * (s6 * (s6 - 1.0));
        let first = fifteen(energy, law.decay, energy);
        let second = fifteen(first, law.decay, energy);
        let third = fifteen(second, law.decay, energy);
        let fourth = fifteen(third, law.decay, energy);
        Sums { value: fifteen(fourth, law.decay, energy) }
    }

    /// Half of each pair's value.
    fn finish(law: Law, sums: Sums) -> Output {
        Output { pair_energy: 0.5 * sums.value }
    }
}

impl Law<f64> {
    /// Depth epsilon, length sigma and softening length; decay 1/2.
    pub fn new(epsilon: f64, sigma: f64, softening: f64) -> Self {
        Law { depth: 4.0 * epsilon, sigma2: sigma * sigma, softening2: softening * softening, decay: 0.5 }
    }
}
