// Printed from the law's Rust source by #[pair]: change it there, then run
// HILBRIUM_PRINT=1 cargo test --test device pair_cuda
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

/// V, 1 / h and div v.
struct Prepared {
    Real volume;
    Real per_length;
    Real divergence;
};

struct Sums {
    Vec3 gradient;
};

struct Output {
    Vec3 divergence_gradient;
};

constexpr int INPUTS = 10, PREPARED = 3, SUMS = 3, OUTPUTS = 3;
constexpr int PARITY[] = {0, 0, 0};
constexpr int REDUCTION[] = {0, 0, 0};

__device__ inline Prepared prepare(Law law, Particle particle) {
    return Prepared{particle.mass / particle.density, Real(1.0) / particle.smoothing_length, particle.velocity_divergence};
}

/// Without C_i / h^3, which all terms share.
__device__ inline Sums interact(Law law, Prepared i, Prepared j, Vec3 r, Real r2) {
    const auto w = kernel_value(law.kernel, r2 * (i.per_length * i.per_length));
    return Sums{r * (j.volume * w * (i.divergence - j.divergence))};
}

__device__ inline Output finish(Law law, Particle i, Sums sums) {
    const auto h = i.smoothing_length;
    return Output{(i.gradient_matrix * sums.gradient) * (Real(1.0) / (h * h * h))};
}

} // namespace divergence_gradient

} // namespace hilbrium
