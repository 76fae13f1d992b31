//! The softened potential of a point mass.

use crate::pair::language::*;

pub use plummer::*;

/// 1 / sqrt(r^2 + epsilon^2) (Plummer 1911): minus the potential of a point mass over G m.
#[shared]
pub mod plummer {
    /// The inverse softened distance, from r^2 and epsilon^2.
    fn inverse_distance(square: Real, squared_softening: Real) -> Real {
        (square + squared_softening).reciprocal_root()
    }

    /// The acceleration towards the mass over G m r: the cube of the inverse softened distance.
    fn pull(inverse: Real) -> Real {
        inverse * inverse * inverse
    }
}
