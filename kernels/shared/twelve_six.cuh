// Printed from the law's Rust source by #[pair]: change it there, then run
// HILBRIUM_PRINT=1 cargo test --test device pair_cuda
#pragma once

#include "../pair/real.cuh"

namespace hilbrium {

namespace twelve_six {

/// s6, from sigma^2 and 1 / r^2.
__device__ inline Real sixth(Real sigma2, Real inverse) {
    const auto s2 = sigma2 * inverse;
    return s2 * s2 * s2;
}

/// The virial over s6.
__device__ inline Real virial(Real depth, Real s6) {
    return mul_add(s6, Real(12.0) * depth, -Real(6.0) * depth);
}

/// The energy over s6.
__device__ inline Real energy(Real depth, Real s6) {
    return mul_add(s6, depth, -depth);
}

} // namespace twelve_six

} // namespace hilbrium
