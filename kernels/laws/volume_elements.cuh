// Printed from the law's Rust source by #[pair]: change it there, then run
// HILBRIUM_PRINT=1 cargo test --test device pair_cuda
#pragma once

#include "../pair/real.cuh"

namespace hilbrium {

namespace volume_elements {

/// The smoothing kernel.
struct Law {
    Kernel kernel;
};

struct Particle {
    Real mass;
    Real smoothing_length;
    Real volume_element;
};

struct Sums {
    Real value;
    Real slope;
};

struct Output {
    Real volume_sum;
    Real density;
    Real grad_h;
};

constexpr int INPUTS = 3, PREPARED = 3, SUMS = 2, OUTPUTS = 3;
constexpr int PARITY[] = {0, 0};
constexpr int REDUCTION[] = {0, 0};

/// X_j w, and -X_j (3 w + q w'), both without 1 / h^3.
__device__ inline Sums interact(Law law, Particle i, Particle j, Vec3 r, Real r2) {
    const auto s = reciprocal(i.smoothing_length);
    const auto q2 = r2 * (s * s);
    const auto w = kernel_value(law.kernel, q2);
    return Sums{j.volume_element * w, -j.volume_element * (Real(3.0) * w + kernel_slope(law.kernel, q2))};
}

/// Adds the particle itself, at q = 0.
__device__ inline Output finish(Law law, Particle i, Sums sums) {
    const auto h = i.smoothing_length;
    const auto own = i.volume_element * kernel_value(law.kernel, Real(0.0));
    const auto value = sums.value + own;
    const auto k = value / (h * h * h);
    return Output{k, k * i.mass / i.volume_element, Real(1.0) + (sums.slope - Real(3.0) * own) / (Real(3.0) * value)};
}

} // namespace volume_elements

} // namespace hilbrium
