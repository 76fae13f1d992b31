// Printed from the law's Rust source by #[pair]: change it there, then run
// HILBRIUM_PRINT=1 cargo test --test pair_cuda
#pragma once

#include "../pair/real.cuh"

namespace hilbrium {

namespace gradient_matrix {

/// The smoothing kernel.
struct Law {
    Kernel kernel;
};

struct Particle {
    Real mass;
    Real density;
    Real smoothing_length;
};

struct Sums {
    Tensor tau;
};

struct Output {
    Tensor gradient_matrix;
};

constexpr int INPUTS = 3, SUMS = 6, OUTPUTS = 6;
constexpr int PARITY[] = {0, 0, 0, 0, 0, 0};
constexpr int REDUCTION[] = {0, 0, 0, 0, 0, 0};

/// tau's term without 1 / h^3.
__device__ inline Sums interact(Law law, Particle i, Particle j, Vec3 r, Real r2) {
    const auto w = kernel_value(law.kernel, sqrt(r2) / i.smoothing_length);
    return Sums{outer(r) * (j.mass / j.density * w)};
}

/// The inverse by cofactors of tau over its mean diagonal t. Where the neighbors lie (nearly) in a plane, the
/// determinant, 1 for an isotropic tau, vanishes: then the isotropic 1 / t, and zero without any neighbor.
__device__ inline Output finish(Law law, Particle i, Sums sums) {
    const auto h = i.smoothing_length;
    const auto tau = sums.tau * (Real(1.0) / (h * h * h));
    const auto t = (tau.xx + tau.yy + tau.zz) / Real(3.0);
    const auto inverse = (t > Real(0.0) ? Real(1.0) / t : Real(0.0));
    const auto n = tau * inverse;
    const auto xx = n.yy * n.zz - n.yz * n.yz;
    const auto xy = n.xz * n.yz - n.xy * n.zz;
    const auto xz = n.xy * n.yz - n.xz * n.yy;
    const auto determinant = n.xx * xx + n.xy * xy + n.xz * xz;
    const auto regular = (determinant > Real(1e-4) ? Real(1.0) : Real(0.0));
    const auto factor = (determinant > Real(1e-4) ? inverse / determinant : Real(0.0));
    const auto isotropic = (Real(1.0) - regular) * inverse;
    return Output{Tensor{xx * factor + isotropic, xy * factor, xz * factor, (n.xx * n.zz - n.xz * n.xz) * factor + isotropic, (n.xy * n.xz - n.xx * n.yz) * factor, (n.xx * n.yy - n.xy * n.xy) * factor + isotropic}};
}

} // namespace gradient_matrix

} // namespace hilbrium
