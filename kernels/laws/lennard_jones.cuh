// Printed from the law's Rust source by #[pair]: change it there, then run
// HILBRIUM_PRINT=1 cargo test --test device pair_cuda
#pragma once

#include "../pair/real.cuh"
#include "../shared/twelve_six.cuh"

namespace hilbrium {

namespace lennard_jones {

/// Depth epsilon, sigma^2, and what the energy is lowered by.
struct Law {
    Real epsilon;
    Real sigma2;
    Real shift;
};

struct Sums {
    Vec3 force;
    Real energy;
    Real virial;
};

struct Output {
    Vec3 force;
    Real pair_energy;
    Real virial;
};

constexpr int INPUTS = 0, PREPARED = 0, SUMS = 5, OUTPUTS = 5;
constexpr int PARITY[] = {-1, -1, -1, 1, 1};
constexpr int REDUCTION[] = {0, 0, 0, 0, 0};

__device__ inline Sums interact(Law law, Vec3 r, Real r2) {
    const auto inverse = reciprocal(r2);
    const auto s6 = twelve_six::sixth(law.sigma2, inverse);
    const auto depth = Real(4.0) * law.epsilon;
    const auto virial = s6 * twelve_six::virial(depth, s6);
    return Sums{r * (virial * inverse), s6 * twelve_six::energy(depth, s6) - law.shift, virial};
}

/// Half of each pair's energy and virial.
__device__ inline Output finish(Law law, Sums sums) {
    return Output{sums.force, Real(0.5) * sums.energy, Real(0.5) * sums.virial};
}

} // namespace lennard_jones

} // namespace hilbrium
