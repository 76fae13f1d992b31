// Printed from the law's Rust source by #[pair]: change it there, then run
// HILBRIUM_PRINT=1 cargo test --test device pair_cuda
#pragma once

#include "../pair/real.cuh"

namespace hilbrium {

namespace coulomb {

/// The constant f = 1 / (4 pi epsilon_0) in the units of the run, S, and -S(0).
struct Law {
    Real constant;
    SmoothPart smooth;
    Real own;
};

struct Particle {
    Real charge;
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
    const auto charges = law.constant * (i.charge * j.charge);
    const auto inverse = reciprocal_root(r2);
    const auto smooth = smooth_part(law.smooth, r2);
    const auto virial = charges * (inverse - Real(2.0) * (smooth.slope * r2));
    return Sums{r * (virial * (inverse * inverse)), charges * (inverse + smooth.value), virial};
}

/// Half of each pair's energy and virial, and the particle's own energy.
__device__ inline Output finish(Law law, Particle i, Sums sums) {
    const auto own = law.constant * (i.charge * i.charge) * law.own;
    return Output{sums.force, Real(0.5) * (sums.energy - own), Real(0.5) * sums.virial};
}

} // namespace coulomb

} // namespace hilbrium
