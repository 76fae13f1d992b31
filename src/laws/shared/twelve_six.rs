//! The 12-6 terms of the Lennard-Jones potential.

use crate::pair::language::*;

pub use twelve_six::*;

/// 4 epsilon [(sigma/r)^12 - (sigma/r)^6] in terms of s6 = (sigma/r)^6; `depth` is 4 epsilon.
#[shared]
pub mod twelve_six {
    /// s6, from sigma^2 and 1 / r^2.
    fn sixth(sigma2: Real, inverse: Real) -> Real {
        let s2 = sigma2 * inverse;
        s2 * s2 * s2
    }

    /// The virial over s6.
    fn virial(depth: Real, s6: Real) -> Real {
        s6.mul_add(12.0 * depth, -6.0 * depth)
    }

    /// The energy over s6.
    fn energy(depth: Real, s6: Real) -> Real {
        s6.mul_add(depth, -depth)
    }
}
