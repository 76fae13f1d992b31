// Printed from the law's Rust source by #[pair]: change it there, then run
// HILBRIUM_PRINT=1 cargo test --test device pair_cuda
#pragma once

#include "../pair/real.cuh"

namespace hilbrium {

namespace lennard_jones_table {

/// 4 epsilon and sigma^6 of each pair of species, r_1, and per power A, B, and the shift C of the energy: without a
/// switch r_1 is the cutoff and A and B are 0, without a shift C is.
struct Law {
    Table depth;
    Table sigma6;
    Real start;
    Real a12;
    Real b12;
    Real c12;
    Real a6;
    Real b6;
    Real c6;
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
    const auto depth = table_value(law.depth, i.species, j.species);
    const auto sigma6 = table_value(law.sigma6, i.species, j.species);
    const auto distance = sqrt(r2);
    const auto inverse = reciprocal(r2);
    const auto r6 = inverse * inverse * inverse;
    const auto x = max((distance - law.start), Real(0.0));
    const auto x2 = x * x;
    const auto x3 = x2 * x;
    const auto force12 = Real(12.0) * r6 * r6 + (law.a12 * x2 + law.b12 * x3) * distance;
    const auto force6 = Real(6.0) * r6 + (law.a6 * x2 + law.b6 * x3) * distance;
    const auto energy12 = r6 * r6 - (law.a12 * (Real(1.0) / Real(3.0)) + law.b12 * Real(0.25) * x) * x3 - law.c12;
    const auto energy6 = r6 - (law.a6 * (Real(1.0) / Real(3.0)) + law.b6 * Real(0.25) * x) * x3 - law.c6;
    const auto attraction = depth * sigma6;
    const auto virial = attraction * (sigma6 * force12 - force6);
    return Sums{r * (virial * inverse), attraction * (sigma6 * energy12 - energy6), virial};
}

/// Half of each pair's energy and virial.
__device__ inline Output finish(Law law, Particle i, Sums sums) {
    return Output{sums.force, Real(0.5) * sums.energy, Real(0.5) * sums.virial};
}

} // namespace lennard_jones_table

} // namespace hilbrium
