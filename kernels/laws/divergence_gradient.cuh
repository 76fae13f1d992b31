// Printed from the law's Rust source by #[pair]: change it there, then run
// HILBRIUM_PRINT=1 cargo test --test pair_cuda
#pragma once

#include "../pair/real.cuh"

namespace hilbrium {

namespace divergence_gradient {

/// The smoothing kernel.
struct Law {
    Kernel kernel;
};

struct Particle {
    Real mass;
    Real density;
    Real smoothing_length;
    Real velocity_divergence;
    Tensor gradient_matrix;
};

struct Sums {
    Vec3 gradient;
};

struct Output {
    Vec3 divergence_gradient;
};

constexpr int INPUTS = 10, SUMS = 3, OUTPUTS = 3;
constexpr int PARITY[] = {0, 0, 0};
constexpr int REDUCTION[] = {0, 0, 0};

/// Without C_i / h^3, which all terms share.
__device__ inline Sums interact(Law law, Particle i, Particle j, Vec3 r, Real r2) {
    const auto w = kernel_value(law.kernel, sqrt(r2) / i.smoothing_length);
    return Sums{r * (j.mass / j.density * w * (i.velocity_divergence - j.velocity_divergence))};
}

__device__ inline Output finish(Law law, Particle i, Sums sums) {
    const auto h = i.smoothing_length;
    return Output{(i.gradient_matrix * sums.gradient) * (Real(1.0) / (h * h * h))};
}

} // namespace divergence_gradient

} // namespace hilbrium
