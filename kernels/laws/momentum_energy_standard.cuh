// Printed from the law's Rust source by #[pair]: change it there, then run
// HILBRIUM_PRINT=1 cargo test --test pair_cuda
#pragma once

#include "../pair/real.cuh"

namespace hilbrium {

namespace momentum_energy_standard {

/// Kernel, coefficient beta of the quadratic viscosity at alpha = 1 (2), coefficient a_u of the conductivity (0: off).
struct Law {
    Kernel kernel;
    Real beta;
    Real conductivity;
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

constexpr int INPUTS = 17, SUMS = 5, OUTPUTS = 5;
constexpr int PARITY[] = {-1, -1, -1, 0, 1};
constexpr int REDUCTION[] = {0, 0, 0, 0, 1};

/// -A: C r W.
__device__ inline Vec3 gradient(Law law, Particle particle, Vec3 r, Real distance) {
    const auto s = reciprocal(particle.smoothing_length);
    return (particle.gradient_matrix * r) * (kernel_value(law.kernel, distance * s) * (s * s * s));
}

__device__ inline Sums interact(Law law, Particle i, Particle j, Vec3 r, Real r2) {
    const auto distance = sqrt(r2);
    const auto v = i.velocity - j.velocity;
    const auto gradient_i = gradient(law, i, r, distance);
    const auto gradient_j = gradient(law, j, r, distance);
    const auto per_density_i = reciprocal(i.density);
    const auto per_density_j = reciprocal(j.density);
    const auto pressure_i = i.pressure * reciprocal(i.grad_h) * (per_density_i * per_density_i);
    const auto pressure_j = j.pressure * reciprocal(j.grad_h) * (per_density_j * per_density_j);
    const auto per_distance = reciprocal(sqrt(max(r2, Real(1e-30))));
    const auto speed = dot(v, r) * per_distance;
    const auto w = min(speed, Real(0.0));
    const auto sound = i.sound_speed + j.sound_speed;
    const auto alpha = Real(0.5) * (i.viscosity + j.viscosity);
    const auto viscosity = alpha * w * (law.beta * w - Real(0.5) * sound);
    const auto shared = (gradient_i * per_density_i + gradient_j * per_density_j) * Real(0.5);
    const auto masses = i.mass * j.mass;
    const auto conduction = law.conductivity * abs(speed) * (i.internal_energy - j.internal_energy) * per_distance;
    return Sums{(gradient_i * pressure_i + gradient_j * pressure_j + shared * viscosity) * masses, -masses * (pressure_i * dot(gradient_i, v) + Real(0.5) * viscosity * dot(shared, v) + conduction * dot(shared, r)), sound - Real(3.0) * w};
}

/// Without a neighbor the signal is the particle's own sound.
__device__ inline Output finish(Law law, Particle i, Sums sums) {
    return Output{sums.force * (Real(1.0) / i.mass), sums.heating / i.mass, max(sums.signal, i.sound_speed)};
}

} // namespace momentum_energy_standard

} // namespace hilbrium
