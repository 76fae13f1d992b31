// Printed from the law's Rust source by #[pair]: change it there, then run
// HILBRIUM_PRINT=1 cargo test --test device pair_cuda
#pragma once

#include "../pair/real.cuh"
#include "../shared/force_switch.cuh"

namespace hilbrium {

namespace lennard_jones_table {

/// 4 epsilon and sigma^6 of each pair of species, and the switch or shift.
struct Law {
    Table depth;
    Table sigma6;
    force_switch::Switch truncation;
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
    const auto powers = force_switch::switched(law.truncation, distance, r6);
    const auto attraction = depth * sigma6;
    const auto virial = attraction * (sigma6 * powers.force12 - powers.force6);
    return Sums{r * (virial * inverse), attraction * (sigma6 * powers.energy12 - powers.energy6), virial};
}

/// Half of each pair's energy and virial.
__device__ inline Output finish(Law law, Particle i, Sums sums) {
    return Output{sums.force, Real(0.5) * sums.energy, Real(0.5) * sums.virial};
}

} // namespace lennard_jones_table

} // namespace hilbrium
