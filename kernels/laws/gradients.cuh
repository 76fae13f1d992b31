// Printed from the law's Rust source by #[pair]: change it there, then run
// HILBRIUM_PRINT=1 cargo test --test device pair_cuda
#pragma once

#include "../pair/real.cuh"

namespace hilbrium {

namespace gradients {

/// The smoothing kernel, and 1 / kappa of its second moment, the integral of q_x^2 w(q) over q.
struct Law {
    Kernel kernel;
    Real per_moment;
};

struct Particle {
    Real mass;
    Real density;
    Real smoothing_length;
    Vec3 velocity;
};

/// V, 1 / h and v.
struct Prepared {
    Real volume;
    Real per_length;
    Vec3 velocity;
};

/// tau, and sum_j V_j (v_j - v_i)_a (r_j - r_i) W for each component a of the velocity.
struct Sums {
    Tensor tau;
    Vec3 along_x;
    Vec3 along_y;
    Vec3 along_z;
};

struct Output {
    Tensor gradient_matrix;
    Real velocity_divergence;
    Real velocity_curl;
};

constexpr int INPUTS = 6, PREPARED = 5, SUMS = 15, OUTPUTS = 8;
constexpr int PARITY[] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
constexpr int REDUCTION[] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};

__device__ inline Prepared prepare(Law law, Particle particle) {
    return Prepared{particle.mass / particle.density, Real(1.0) / particle.smoothing_length, particle.velocity};
}

/// Terms without 1 / h^3. Both signs of r and v cancel: (v_j - v_i) (r_j - r_i) = v r.
__device__ inline Sums interact(Law law, Prepared i, Prepared j, Vec3 r, Real r2) {
    const auto w = j.volume * kernel_value(law.kernel, r2 * (i.per_length * i.per_length));
    const auto v = i.velocity - j.velocity;
    const auto weighted = r * w;
    return Sums{Tensor{weighted.x * r.x, weighted.x * r.y, weighted.x * r.z, weighted.y * r.y, weighted.y * r.z, weighted.z * r.z}, weighted * v.x, weighted * v.y, weighted * v.z};
}

/// The inverse by cofactors of tau over its mean diagonal t. Where the neighbors lie (nearly) in a plane,
/// the determinant, 1 for an isotropic tau, vanishes: then the isotropic 1 / t, and zero without any
/// neighbor.
__device__ inline Tensor inverse(Tensor tau) {
    const auto t = (tau.xx + tau.yy + tau.zz) / Real(3.0);
    const auto scale = (t > Real(0.0) ? Real(1.0) / t : Real(0.0));
    const auto n = tau * scale;
    const auto xx = n.yy * n.zz - n.yz * n.yz;
    const auto xy = n.xz * n.yz - n.xy * n.zz;
    const auto xz = n.xy * n.yz - n.xz * n.yy;
    const auto determinant = n.xx * xx + n.xy * xy + n.xz * xz;
    const auto regular = (determinant > Real(1e-4) ? Real(1.0) : Real(0.0));
    const auto factor = (determinant > Real(1e-4) ? scale / determinant : Real(0.0));
    const auto isotropic = (Real(1.0) - regular) * scale;
    return Tensor{xx * factor + isotropic, xy * factor, xz * factor, (n.xx * n.zz - n.xz * n.xz) * factor + isotropic, (n.xy * n.xz - n.xx * n.yz) * factor, (n.xx * n.yy - n.xy * n.xy) * factor + isotropic};
}

/// Share of the matrix in the momentum equation, given the filling x of the kernel.
__device__ inline Real share(Real filling) {
    const auto x = min(filling, Real(1.0));
    return x + (Real(1.0) - x) * min(max((Real(10.0) * x - Real(1.0)), Real(0.0)), Real(1.0));
}

__device__ inline Output finish(Law law, Particle i, Sums sums) {
    const auto s = Real(1.0) / i.smoothing_length;
    const auto per_volume = s * s * s;
    const auto matrix = inverse(sums.tau * per_volume);
    const auto filling = (sums.tau.xx + sums.tau.yy + sums.tau.zz) / Real(3.0) * per_volume * (s * s) * law.per_moment;
    const auto along_x = matrix * (sums.along_x * per_volume);
    const auto along_y = matrix * (sums.along_y * per_volume);
    const auto along_z = matrix * (sums.along_z * per_volume);
    const auto curl = Vec3{along_z.y - along_y.z, along_x.z - along_z.x, along_y.x - along_x.y};
    return Output{matrix * share(filling), along_x.x + along_y.y + along_z.z, sqrt(dot(curl, curl))};
}

} // namespace gradients

} // namespace hilbrium
