// Printed from the law's Rust source by #[pair]: change it there, then run
// HILBRIUM_PRINT=1 cargo test --test device pair_cuda
#pragma once

#include "../pair/real.cuh"

namespace hilbrium {

namespace number_density {

/// The smoothing kernel.
struct Law {
    Kernel kernel;
};

struct Particle {
    Real smoothing_length;
};

struct Sums {
    Real value;
    Real slope;
};

struct Output {
    Real number_density;
    Real number_density_slope;
};

constexpr int INPUTS = 1, PREPARED = 1, SUMS = 2, OUTPUTS = 2;
constexpr int PARITY[] = {0, 0};
constexpr int REDUCTION[] = {0, 0};

/// w, and -(3 w + q w'), both without 1 / h^3.
__device__ inline Sums interact(Law law, Particle i, Particle j, Vec3 r, Real r2) {
    const auto s = reciprocal(i.smoothing_length);
    const auto q2 = r2 * (s * s);
    const auto w = kernel_value(law.kernel, q2);
    return Sums{w, -(Real(3.0) * w + kernel_slope(law.kernel, q2))};
}

/// Adds the particle itself, at q = 0.
__device__ inline Output finish(Law law, Particle i, Sums sums) {
    const auto h = i.smoothing_length;
    const auto per_volume = Real(1.0) / (h * h * h);
    const auto own = kernel_value(law.kernel, Real(0.0));
    return Output{(sums.value + own) * per_volume, (sums.slope - Real(3.0) * own) * per_volume};
}

} // namespace number_density

} // namespace hilbrium
