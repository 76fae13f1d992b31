// Printed from the law's Rust source by #[pair]: change it there, then run
// HILBRIUM_PRINT=1 cargo test --test device pair_cuda
#pragma once

#include "../pair/real.cuh"

namespace hilbrium {

namespace separation_sum {

/// What the sum is multiplied by.
struct Law {
    Real scale;
};

struct Sums {
    Real value;
};

struct Output {
    Real pair_energy;
};

constexpr int INPUTS = 0, PREPARED = 0, SUMS = 1, OUTPUTS = 1;
constexpr int PARITY[] = {-1};
constexpr int REDUCTION[] = {0};

__device__ inline Sums interact(Law law, Vec3 r, Real r2) {
    return Sums{r.x + r.y + r.z};
}

__device__ inline Output finish(Law law, Sums sums) {
    return Output{law.scale * sums.value};
}

} // namespace separation_sum

} // namespace hilbrium
