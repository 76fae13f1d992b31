// Printed from the law's Rust source by #[pair]: change it there, then run
// HILBRIUM_PRINT=1 cargo test --test device pair_cuda
#pragma once

#include "../pair/real.cuh"
#include "../shared/twelve_six.cuh"

namespace hilbrium {

namespace lennard_jones_coulomb {

/// Depth epsilon, sigma^2, and what the energy of Lennard-Jones is lowered by; Coulomb's constant, smooth part and
/// self-energy.
struct Law {
    Real epsilon;
    Real sigma2;
    Real shift;
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
    const auto root = reciprocal_root(r2);
    const auto inverse = root * root;
    const auto s6 = twelve_six::sixth(law.sigma2, inverse);
    const auto depth = Real(4.0) * law.epsilon;
    const auto charges = law.constant * (i.charge * j.charge);
    const auto smooth = smooth_part(law.smooth, r2);
    const auto attraction = charges * mul_add(r2, -Real(2.0) * smooth.slope, root);
    const auto virial = mul_add(s6, twelve_six::virial(depth, s6), attraction);
    const auto charged = charges * (root + smooth.value);
    return Sums{r * (virial * inverse), mul_add(s6, twelve_six::energy(depth, s6), charged) - law.shift, virial};
}

/// Half of each pair's energy and virial, and the charge's own energy.
__device__ inline Output finish(Law law, Particle i, Sums sums) {
    const auto own = law.constant * (i.charge * i.charge) * law.own;
    return Output{sums.force, Real(0.5) * (sums.energy - own), Real(0.5) * sums.virial};
}

} // namespace lennard_jones_coulomb

} // namespace hilbrium
