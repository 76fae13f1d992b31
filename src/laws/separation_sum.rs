//! A pair law of few operations, for benchmarks.

use crate::pair::language::*;

pub use separation_sum::*;

/// x + y + z of the separation: two operations beside the three differences. The law of few operations of
/// Algis, Bramas, Darles and Aveneau 2024 (hal-04621128), figure 8, which sums positions.
///
/// Not physics: only `bench cells` and its tests use it.
#[pair(cutoff = common)]
pub mod separation_sum {
    /// What the sum is multiplied by.
    struct Law {
        scale: Real,
    }
    struct Sums {
        #[odd]
        value: Real,
    }
    struct Output {
        pair_energy: Real,
    }

    fn interact(law: Law, r: Vec3, r2: Real) -> Sums {
        Sums { value: r.x + r.y + r.z }
    }

    fn finish(law: Law, sums: Sums) -> Output {
        Output { pair_energy: law.scale * sums.value }
    }
}

impl Law<f64> {
    /// A multiple of the sum of separations.
    pub fn new(scale: f64) -> Self {
        Law { scale }
    }
}
