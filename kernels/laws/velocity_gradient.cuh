// Printed from the law's Rust source by #[pair]: change it there, then run
// HILBRIUM_PRINT=1 cargo test --test pair_cuda
#pragma once

#include "../pair/real.cuh"

namespace hilbrium {

namespace velocity_gradient {

/// The smoothing kernel.
struct Law {
    Kernel kernel;
};

struct Particle {
    Real mass;
    Real density;
    Real smoothing_length;
    Vec3 velocity;
    Tensor gradient_matrix;
};

struct Sums {
    Real divergence;
    Vec3 curl;
};

struct Output {
    Real velocity_divergence;
    Real velocity_curl;
};

constexpr int INPUTS = 12, SUMS = 4, OUTPUTS = 2;
constexpr int PARITY[] = {0, 0, 0, 0};
constexpr int REDUCTION[] = {0, 0, 0, 0};

/// Both signs of r and v cancel: (v_j - v_i) . C (r_j - r_i) = v . C r.
__device__ inline Sums interact(Law law, Particle i, Particle j, Vec3 r, Real r2) {
    const auto w = kernel_value(law.kernel, sqrt(r2) / i.smoothing_length);
    const auto a = (i.gradient_matrix * r) * (j.mass / j.density * w);
    const auto v = i.velocity - j.velocity;
    return Sums{dot(a, v), cross(a, v)};
}

__device__ inline Output finish(Law law, Particle i, Sums sums) {
    const auto h = i.smoothing_length;
    const auto volume = h * h * h;
    return Output{sums.divergence / volume, sqrt(dot(sums.curl, sums.curl)) / volume};
}

} // namespace velocity_gradient

} // namespace hilbrium
