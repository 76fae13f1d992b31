//! Lorentz-Berthelot mixing rule for unlike particles.

use crate::pair::language::*;

pub use lorentz_berthelot::*;

/// Lorentz (1881) and Berthelot (1898): sigma is the arithmetic mean of both particles, epsilon the geometric
/// mean.
#[shared]
pub mod lorentz_berthelot {
    /// sigma^6, from half of sigma of each particle.
    fn sigma6(half_sigma_i: Real, half_sigma_j: Real) -> Real {
        let sigma = half_sigma_i + half_sigma_j;
        let sigma2 = sigma * sigma;
        sigma2 * sigma2 * sigma2
    }

    /// 4 epsilon, from the square root of epsilon of each particle.
    fn depth(root_epsilon_i: Real, root_epsilon_j: Real) -> Real {
        if planted(MixingRule) {
            2.0 * (root_epsilon_i * root_epsilon_i + root_epsilon_j * root_epsilon_j)
        } else {
            4.0 * (root_epsilon_i * root_epsilon_j)
        }
    }
}
