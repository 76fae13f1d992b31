// Printed from the law's Rust source by #[pair]: change it there, then run
// HILBRIUM_PRINT=1 cargo test --test device pair_cuda
#pragma once

#include "../pair/real.cuh"

namespace hilbrium {

namespace volume_estimate {

/// The smoothing kernel; 1 if E = m u, 0 if E = m (isothermal gas); c^2 over u, or c^2 (isothermal gas);
/// start of each ramp, and 1 over its width.
struct Law {
    Kernel kernel;
    Real ideal;
    Real sound_squared;
    Real contrast_start;
    Real contrast_slope;
    Real offset_start;
    Real offset_slope;
    Real compression_start;
    Real compression_slope;
};

struct Particle {
    Real mass;
    Real density;
    Real internal_energy;
    Real velocity_divergence;
    Real smoothing_length;
};

/// E and 1 / h.
struct Prepared {
    Real energy;
    Real per_length;
};

struct Sums {
    Real energy;
    Real contrast;
    Vec3 moment;
};

struct Output {
    Real volume_element;
};

constexpr int INPUTS = 5, PREPARED = 2, SUMS = 5, OUTPUTS = 1;
constexpr int PARITY[] = {0, 0, 0, 0, 0};
constexpr int REDUCTION[] = {0, 0, 0, 0, 0};

/// E / m of a particle.
__device__ inline Real specific_energy(Law law, Particle particle) {
    return Real(1.0) + law.ideal * (particle.internal_energy - Real(1.0));
}

__device__ inline Prepared prepare(Law law, Particle particle) {
    return Prepared{particle.mass * specific_energy(law, particle), Real(1.0) / particle.smoothing_length};
}

/// Terms without 1 / h^3.
__device__ inline Sums interact(Law law, Prepared i, Prepared j, Vec3 r, Real r2) {
    const auto w = kernel_value(law.kernel, r2 * (i.per_length * i.per_length));
    const auto contrast = (i.energy - j.energy) * reciprocal(max((i.energy + j.energy), Real(1e-30)));
    const auto weighted = j.energy * w;
    return Sums{weighted, contrast * contrast * w, r * weighted};
}

/// Linear from 0 at `start` to 1.
__device__ inline Real ramp(Real value, Real start, Real slope) {
    return min(max(((value - start) * slope), Real(0.0)), Real(1.0));
}

/// Adds the particle itself, at q = 0. n h^3 weighs the contrast.
__device__ inline Output finish(Law law, Particle i, Sums sums) {
    const auto h = i.smoothing_length;
    const auto by_number = i.mass / i.density;
    const auto specific = specific_energy(law, i);
    const auto own = i.mass * specific;
    const auto energy = max((sums.energy + own * kernel_value(law.kernel, Real(0.0))), Real(1e-30));
    const auto by_energy = max((own * (h * h * h) / energy), Real(1e-30));
    const auto contrast = ramp(sums.contrast * by_number / (h * h * h), law.contrast_start, law.contrast_slope);
    const auto offset = sqrt(dot(sums.moment, sums.moment)) / (energy * h);
    const auto sound = sqrt(max((law.sound_squared * specific), Real(1e-30)));
    const auto compression = -i.velocity_divergence * h / sound;
    const auto share = contrast * (Real(1.0) - ramp(offset, law.offset_start, law.offset_slope)) * (Real(1.0) - ramp(compression, law.compression_start, law.compression_slope));
    const auto log_ratio = min(max(ln((by_energy / by_number)), -Real(4.6)), Real(4.6));
    const auto estimate = by_number * exp((share * log_ratio));
    return Output{estimate};
}

} // namespace volume_estimate

} // namespace hilbrium
