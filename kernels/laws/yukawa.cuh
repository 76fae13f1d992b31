// Printed from the law's Rust source by #[pair]: change it there, then run
// HILBRIUM_PRINT=1 cargo test --test device pair_cuda
#pragma once

#include "../pair/real.cuh"

namespace hilbrium {

namespace yukawa {

/// Strength (energy times length), screening kappa (1 / length), and what the energy is lowered by.
struct Law {
    Real strength;
    Real screening;
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
    const auto distance = sqrt(r2);
    const auto screened = law.screening * distance;
    const auto energy = law.strength * exp((-screened)) * reciprocal(distance);
    const auto virial = energy * (Real(1.0) + screened);
    return Sums{r * (virial * reciprocal(r2)), energy - law.shift, virial};
}

/// Half of each pair's energy and virial.
__device__ inline Output finish(Law law, Sums sums) {
    return Output{sums.force, Real(0.5) * sums.energy, Real(0.5) * sums.virial};
}

} // namespace yukawa

} // namespace hilbrium
