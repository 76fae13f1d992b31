// Printed from the law's Rust source by #[pair]: change it there, then run
// HILBRIUM_PRINT=1 cargo test --test device pair_cuda
#pragma once

#include "../pair/real.cuh"

namespace hilbrium {

namespace mie {

/// C epsilon, sigma^2, the powers n and m, and what the energy is lowered by.
struct Law {
    Real depth;
    Real sigma2;
    Real repulsive;
    Real attractive;
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
    const auto logarithm = Real(0.5) * ln((law.sigma2 * inverse));
    const auto repulsion = law.depth * exp((law.repulsive * logarithm));
    const auto attraction = law.depth * exp((law.attractive * logarithm));
    const auto virial = law.repulsive * repulsion - law.attractive * attraction;
    return Sums{r * (virial * inverse), repulsion - attraction - law.shift, virial};
}

/// Half of each pair's energy and virial.
__device__ inline Output finish(Law law, Sums sums) {
    return Output{sums.force, Real(0.5) * sums.energy, Real(0.5) * sums.virial};
}

} // namespace mie

} // namespace hilbrium
