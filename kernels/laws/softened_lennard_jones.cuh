// Printed from the law's Rust source by #[pair]: change it there, then run
// HILBRIUM_PRINT=1 cargo test --test device pair_cuda
#pragma once

#include "../pair/real.cuh"

namespace hilbrium {

namespace softened_lennard_jones {

/// 4 epsilon, sigma^2, and the square of the softening.
struct Law {
    Real depth;
    Real sigma2;
    Real softening2;
};

struct Sums {
    Real value;
};

struct Output {
    Real pair_energy;
};

constexpr int INPUTS = 0, PREPARED = 0, SUMS = 1, OUTPUTS = 1;
constexpr int PARITY[] = {1};
constexpr int REDUCTION[] = {0};

__device__ inline Sums interact(Law law, Vec3 r, Real r2) {
    const auto inverse = reciprocal((r2 + law.softening2));
    const auto s2 = law.sigma2 * inverse;
    const auto s6 = s2 * s2 * s2;
    return Sums{law.depth * (s6 * (s6 - Real(1.0)))};
}

/// Half of each pair's energy.
__device__ inline Output finish(Law law, Sums sums) {
    return Output{Real(0.5) * sums.value};
}

} // namespace softened_lennard_jones

} // namespace hilbrium
