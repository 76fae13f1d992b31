// Printed from the law's Rust source by #[pair]: change it there, then run
// HILBRIUM_PRINT=1 cargo test --test device pair_cuda
#pragma once

#include "../pair/real.cuh"

namespace hilbrium {

namespace buckingham {

/// 6 epsilon / (alpha - 6), alpha, alpha / r_m, and alpha epsilon r_m^6 / (alpha - 6).
struct Law {
    Real repulsion;
    Real steepness;
    Real rate;
    Real attraction;
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
    const auto distance = sqrt(r2);
    const auto inverse = reciprocal(r2);
    const auto r6 = inverse * inverse * inverse;
    const auto scaled = law.rate * distance;
    const auto repulsion = law.repulsion * exp((law.steepness - scaled));
    const auto attraction = law.attraction * r6;
    const auto virial = scaled * repulsion - Real(6.0) * attraction;
    return Sums{r * (virial * inverse), repulsion - attraction, virial};
}

/// Half of each pair's energy and virial.
__device__ inline Output finish(Law law, Sums sums) {
    return Output{sums.force, Real(0.5) * sums.energy, Real(0.5) * sums.virial};
}

} // namespace buckingham

} // namespace hilbrium
