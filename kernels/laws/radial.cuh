// Printed from the law's Rust source by #[pair]: change it there, then run
// HILBRIUM_PRINT=1 cargo test --test device pair_cuda
#pragma once

#include "../pair/real.cuh"

namespace hilbrium {

namespace radial {

/// Energy as a function of the squared distance.
struct Law {
    RadialEnergy energy;
};

/// Index of the species.
struct Particle {
    Real species;
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

constexpr int INPUTS = 1, PREPARED = 1, SUMS = 5, OUTPUTS = 5;
constexpr int PARITY[] = {-1, -1, -1, 1, 1};
constexpr int REDUCTION[] = {0, 0, 0, 0, 0};

__device__ inline Sums interact(Law law, Particle i, Particle j, Vec3 r, Real r2) {
    const auto found = radial_energy(law.energy, i.species, j.species, r2);
    const auto factor = -Real(2.0) * found.slope;
    return Sums{r * factor, found.value, r2 * factor};
}

/// Half of each pair's energy and virial.
__device__ inline Output finish(Law law, Particle i, Sums sums) {
    return Output{sums.force, Real(0.5) * sums.energy, Real(0.5) * sums.virial};
}

} // namespace radial

} // namespace hilbrium
