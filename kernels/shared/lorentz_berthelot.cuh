// Printed from the law's Rust source by #[pair]: change it there, then run
// HILBRIUM_PRINT=1 cargo test --test device pair_cuda
#pragma once

#include "../pair/real.cuh"

namespace hilbrium {

namespace lorentz_berthelot {

/// sigma^6, from half of sigma of each particle.
__device__ inline Real sigma6(Real half_sigma_i, Real half_sigma_j) {
    const auto sigma = half_sigma_i + half_sigma_j;
    const auto sigma2 = sigma * sigma;
    return sigma2 * sigma2 * sigma2;
}

/// 4 epsilon, from the square root of epsilon of each particle.
__device__ inline Real depth(Real root_epsilon_i, Real root_epsilon_j) {
    return Real(4.0) * (root_epsilon_i * root_epsilon_j);
}

} // namespace lorentz_berthelot

} // namespace hilbrium
