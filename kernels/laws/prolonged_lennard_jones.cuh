// Printed from the law's Rust source by #[pair]: change it there, then run
// HILBRIUM_PRINT=1 cargo test --test device pair_cuda
#pragma once

#include "../pair/real.cuh"

namespace hilbrium {

namespace prolonged_lennard_jones {

/// 4 epsilon, sigma^2, the square of the softening, and the decay.
struct Law {
    Real depth;
    Real sigma2;
    Real softening2;
    Real decay;
};

struct Sums {
    Real value;
};

struct Output {
    Real pair_energy;
};

constexpr int INPUTS = 0, PREPARED = 0, SUMS = 1, OUTPUTS = 1;
constexpr int PARITY[] = {1};
constexpr int REDUCTION[] = {0};

__device__ inline Real five(Real value, Real decay, Real energy) {
    const auto one = mul_add(value, decay, energy);
    const auto two = mul_add(one, decay, energy);
    const auto three = mul_add(two, decay, energy);
    const auto four = mul_add(three, decay, energy);
    return mul_add(four, decay, energy);
}

__device__ inline Real fifteen(Real value, Real decay, Real energy) {
    return five(five(five(value, decay, energy), decay, energy), decay, energy);
}

__device__ inline Sums interact(Law law, Vec3 r, Real r2) {
    const auto inverse = reciprocal((r2 + law.softening2));
    const auto s2 = law.sigma2 * inverse;
    const auto s6 = s2 * s2 * s2;
    const auto energy = law.depth * (s6 * (s6 - Real(1.0)));
    const auto first = fifteen(energy, law.decay, energy);
    const auto second = fifteen(first, law.decay, energy);
    const auto third = fifteen(second, law.decay, energy);
    const auto fourth = fifteen(third, law.decay, energy);
    return Sums{fifteen(fourth, law.decay, energy)};
}

/// Half of each pair's value.
__device__ inline Output finish(Law law, Sums sums) {
    return Output{Real(0.5) * sums.value};
}

} // namespace prolonged_lennard_jones

} // namespace hilbrium
