// Gravity between two particles: mirrors src/far/softening.rs and the points of src/far/kernels.rs.
//
// HILBRIUM_SOFTENING selects the softening kernel: 0 points, 1 Plummer sphere, 2 cubic spline.
#pragma once

#include "../far/multipole.cuh"
#include "../far/split.cuh"

#ifndef HILBRIUM_SOFTENING
#define HILBRIUM_SOFTENING 1
#endif

namespace hilbrium {

// Softening in the walk's unit of length.
struct Softening {
    Real squared;          // square of the Plummer length, or of the spline's support; 0 for points
    Real inverse_support;  // of the spline
};

// Softening of multipoles: the spline is Newtonian wherever multipoles are accepted. The lower bound keeps
// the result finite for a multipole that underflows in single precision.
__device__ __forceinline__ Real softening_of_nodes(Softening softening) {
    return HILBRIUM_SOFTENING == 1 ? max(softening.squared, Real(1e-36)) : Real(1e-36);
}

// Spline inside of its support (Springel, Yoshida & White 2001): minus the potential, and acceleration over
// distance, of a unit mass at u = r / support.
__device__ inline void spline_inside(Real u, Real inverse_support, Real& potential, Real& pull) {
    if (u < Real(0.5)) {
        const Real u2 = u * u;
        potential = Real(2.8) + u2 * (Real(-16.0 / 3.0) + u2 * (Real(9.6) + u * Real(-6.4)));
        pull = Real(32.0 / 3.0) + u2 * (Real(-38.4) + u * Real(32));
    } else {
        const Real v = Real(1) / u;
        potential = v * Real(-1.0 / 15.0) + Real(3.2) +
                    u * u * (Real(-32.0 / 3.0) + u * (Real(16) + u * (Real(-9.6) + u * Real(32.0 / 15.0))));
        pull = v * v * v * Real(-1.0 / 15.0) + Real(64.0 / 3.0) +
               u * (Real(-48) + u * (Real(38.4) + u * Real(-32.0 / 3.0)));
    }
    potential *= inverse_support;
    pull *= inverse_support * inverse_support * inverse_support;
}

// Adds the field of a particle (position relative to the targets' center, mass) at a target. The target
// itself exerts no acceleration; its softened self-potential is subtracted at the end. Coinciding unsoftened
// particles are skipped.
// Floor: 13 arithmetic instructions and a reciprocal square root; 2 more for points and the spline.
// In a periodic box, the long-range part of the source is subtracted, also from coinciding particles and the
// target's own, and a source beyond the cut does not act.
__device__ __forceinline__ void gather_point(const Real4& source, Softening softening,
#if HILBRIUM_PERIODIC
                                             const SplitArguments& split,
#endif
                                             Target& target) {
    const Real x = source.x - target.x, y = source.y - target.y, z = source.z - target.z;
    Real potential, pull;
    if (HILBRIUM_SOFTENING == 1) {
        const Real v = reciprocal_root(x * x + (y * y + (z * z + softening.squared)));
        potential = source.w * v;
        pull = potential * (v * v);
    } else {
        const Real squared = x * x + (y * y + z * z);
        const Real v = squared > Real(0) ? reciprocal_root(squared) : Real(0);
        potential = source.w * v;
        pull = potential * (v * v);
        if (HILBRIUM_SOFTENING == 2 && squared < softening.squared) {
            Real soft_potential, soft_pull;
            spline_inside(squared * v * softening.inverse_support, softening.inverse_support, soft_potential,
                          soft_pull);
            potential = source.w * soft_potential;
            pull = source.w * soft_pull;
        }
    }
#if HILBRIUM_PERIODIC
    const Real at = split_place(split, x * x + (y * y + z * z));
    const bool within = at < Real(1);
    potential = within ? potential - Real(0.5) * source.w * long_range_part<0u>(split, at) : Real(0);
    pull = within ? pull - Real(0.125) * source.w * long_range_part<1u>(split, at) : Real(0);
#endif
    target.potential += potential;
    target.pull_x += x * pull;
    target.pull_y += y * pull;
    target.pull_z += z * pull;
}

} // namespace hilbrium
