//! Reductions of pair sums: parity under exchange of the two particles, and the operator.

use super::real::Real;

/// Behavior of a pair quantity under exchange of i and j.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parity {
    /// Unchanged.
    Even,
    /// Changes its sign.
    Odd,
    /// No symmetry: evaluated for both particles.
    Neither,
}

/// Operator that reduces the pairs of a particle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reduction {
    /// Sum, from 0.
    Sum,
    /// Minimum, from infinity.
    Minimum,
    /// Maximum, from minus infinity.
    Maximum,
}

impl Reduction {
    /// Identity of the operator: the result for a particle without pairs.
    pub const fn identity(self) -> f64 {
        match self {
            Reduction::Sum => 0.0,
            Reduction::Minimum => f64::INFINITY,
            Reduction::Maximum => f64::NEG_INFINITY,
        }
    }

    /// Applies the operator.
    #[inline(always)]
    pub fn join<R: Real>(self, a: R, b: R) -> R {
        match self {
            Reduction::Sum => a + b,
            Reduction::Minimum => a.min(b),
            Reduction::Maximum => a.max(b),
        }
    }
}

/// Parity and reduction of one column of a law's sums.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sum {
    /// Parity under exchange of i and j.
    pub parity: Parity,
    /// Reduction over the pairs of i.
    pub reduction: Reduction,
}
