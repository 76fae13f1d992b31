// Printed from the law's Rust source by #[pair]: change it there, then run
// HILBRIUM_PRINT=1 cargo test --test device pair_cuda
#pragma once

#include "../laws/radial.cuh"
#include "../laws/coulomb.cuh"

namespace hilbrium {

/// Both laws, each within its cutoff, added.
namespace radial_and_coulomb {

struct Law {
    radial::Law first;
    coulomb::Law second;
    Real first_cutoff2, second_cutoff2;
};

struct Particle {
    radial::Particle first;
    coulomb::Particle second;
};

using Sums = radial::Sums;
using Output = radial::Output;

constexpr int INPUTS = 2, PREPARED = INPUTS, SUMS = radial::SUMS, OUTPUTS = radial::OUTPUTS;
constexpr int PARITY[] = {-1, -1, -1, 1, 1};
constexpr int REDUCTION[] = {0, 0, 0, 0, 0};

__device__ inline Sums interact(Law law, Particle i, Particle j, Vec3 r, Real r2) {
    const auto a = radial::interact(law.first, i.first, j.first, r, r2);
    const auto b = coulomb::interact(law.second, i.second, j.second, r, r2);
    Sums sums{};
    if (r2 < law.first_cutoff2) sums = {a.force, a.energy, a.virial};
    if (r2 < law.second_cutoff2)
        sums = {sums.force + b.force, sums.energy + b.energy, sums.virial + b.virial};
    return sums;
}

__device__ inline Output finish(Law law, Particle i, Sums sums) {
    const auto all = radial::finish(law.first, i.first, sums);
    const auto own = coulomb::finish(law.second, i.second, coulomb::Sums{});
    return {all.force + own.force, all.pair_energy + own.pair_energy, all.virial + own.virial};
}

} // namespace radial_and_coulomb

} // namespace hilbrium
