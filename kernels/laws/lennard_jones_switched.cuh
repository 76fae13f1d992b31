// Printed from the law's Rust source by #[pair]: change it there, then run
// HILBRIUM_PRINT=1 cargo test --test device pair_cuda
#pragma once

#include "../pair/real.cuh"
#include "../shared/force_switch.cuh"

namespace hilbrium {

namespace lennard_jones_switched {

/// The coefficients 4 epsilon sigma^a of both powers a.
struct Law {
    Real repulsion;
    Real attraction;
    force_switch::Switch truncation;
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
    const auto powers = force_switch::switched(law.truncation, distance, r6);
    const auto virial = law.repulsion * powers.force12 - law.attraction * powers.force6;
    return Sums{r * (virial * inverse), law.repulsion * powers.energy12 - law.attraction * powers.energy6, virial};
}

/// Half of each pair's energy and virial.
__device__ inline Output finish(Law law, Sums sums) {
    return Output{sums.force, Real(0.5) * sums.energy, Real(0.5) * sums.virial};
}

} // namespace lennard_jones_switched

} // namespace hilbrium
