// Printed from the law's Rust source by #[pair]: change it there, then run
// HILBRIUM_PRINT=1 cargo test --test device pair_cuda
#pragma once

#include "../pair/real.cuh"

namespace hilbrium {

namespace momentum_energy_standard {

/// Kernel, coefficient beta of the quadratic viscosity at alpha = 1 (2), coefficient a_u of the
/// conductivity of every pair and its part per mean alpha of the pair (0: off).
struct Law {
    Kernel kernel;
    Real beta;
    Real conductivity;
    Real switched_conductivity;
};

struct Particle {
    Real mass;
    Real smoothing_length;
    Real density;
    Real grad_h;
    Real pressure;
    Real sound_speed;
    Real internal_energy;
    Real viscosity;
    Vec3 velocity;
    Tensor gradient_matrix;
};

/// What a particle's pairs share: 1 / h, 1 / rho and P / (Omega rho^2), with the fields of these names.
struct Prepared {
    Real mass;
    Real per_length;
    Real per_density;
    Real pressure;
    Real sound_speed;
    Real internal_energy;
    Real viscosity;
    Vec3 velocity;
    Tensor gradient_matrix;
};

struct Sums {
    Vec3 force;
    Real heating;
    Real signal;
};

struct Output {
    Vec3 acceleration;
    Real internal_energy_rate;
    Real signal_speed;
};

constexpr int INPUTS = 17, PREPARED = 16, SUMS = 5, OUTPUTS = 5;
constexpr int PARITY[] = {-1, -1, -1, 0, 1};
constexpr int REDUCTION[] = {0, 0, 0, 0, 1};

__device__ inline Prepared prepare(Law law, Particle particle) {
    const auto per_density = Real(1.0) / particle.density;
    return Prepared{particle.mass, Real(1.0) / particle.smoothing_length, per_density, particle.pressure / particle.grad_h * (per_density * per_density), particle.sound_speed, particle.internal_energy, particle.viscosity, particle.velocity, particle.gradient_matrix};
}

/// -A: C r W.
__device__ inline Vec3 gradient(Law law, Prepared particle, Vec3 r, Real r2) {
    const auto s = particle.per_length;
    return (particle.gradient_matrix * r) * (kernel_value(law.kernel, r2 * (s * s)) * (s * s * s));
}

__device__ inline Sums interact(Law law, Prepared i, Prepared j, Vec3 r, Real r2) {
    const auto v = i.velocity - j.velocity;
    const auto gradient_i = gradient(law, i, r, r2);
    const auto gradient_j = gradient(law, j, r, r2);
    const auto per_distance = reciprocal(sqrt(max(r2, Real(1e-30))));
    const auto speed = dot(v, r) * per_distance;
    const auto w = min(speed, Real(0.0));
    const auto sound = i.sound_speed + j.sound_speed;
    const auto alpha = Real(0.5) * (i.viscosity + j.viscosity);
    const auto viscosity = alpha * w * (law.beta * w - Real(0.5) * sound);
    const auto shared = (gradient_i * i.per_density + gradient_j * j.per_density) * Real(0.5);
    const auto masses = i.mass * j.mass;
    const auto conductivity = law.conductivity + law.switched_conductivity * alpha;
    const auto conduction = conductivity * abs(speed) * (i.internal_energy - j.internal_energy) * per_distance;
    return Sums{(gradient_i * i.pressure + gradient_j * j.pressure + shared * viscosity) * masses, -masses * (i.pressure * dot(gradient_i, v) + Real(0.5) * viscosity * dot(shared, v) + conduction * dot(shared, r)), sound - Real(3.0) * w};
}

/// Without a neighbor the signal is the particle's own sound.
__device__ inline Output finish(Law law, Particle i, Sums sums) {
    return Output{sums.force * (Real(1.0) / i.mass), sums.heating / i.mass, max(sums.signal, i.sound_speed)};
}

} // namespace momentum_energy_standard

} // namespace hilbrium
