// Opening criteria (multipole acceptance criterion): mirrors src/far/opening.rs.
//
// Boxes of consecutive rows are not cubes. The size of a node is therefore that of the cube whose half
// diagonal is its radius b: l = 2 b / 3^(1/2). The minimum distance is a multiple of l / theta (GEOMETRIC of
// src/device/gravity/mod.rs). Clusters are accepted at smaller distances if the estimate of their error
// allows it: in large systems the errors of the nearest clusters are small beside the total acceleration.
#pragma once

#include "../arguments/far_gravity.cuh"
#include "../far/multipole.cuh"
#include "../far/split.cuh"

// HILBRIUM_CRITERION: 0 geometric, 1 relative.
#ifndef HILBRIUM_CRITERION
#define HILBRIUM_CRITERION 0
#endif

namespace hilbrium {

// The targets of a warp: their box about its center, which is the origin of their coordinates. Mirrored by
// TargetBox of src/device/arguments/gravity.rs.
struct TargetBox {
    double x, y, z;                // center
    float half_x, half_y, half_z;  // half widths, rounded up
    float squared_radius;          // of the sphere around the center that contains all targets
    float acceleration;            // estimate of the targets' acceleration, for G = 1
};

static_assert(sizeof(TargetBox) == 48, "as the host has it");

// Squared radius of a box without targets.
constexpr float NOBODY_THERE = -1.0f;

// Parameters of the opening criteria, computed by src/device/gravity/mod.rs (OpeningParameters).
struct Opening {
    float size_by_angle[2];  // minimum distance over the radius of a cluster, and of a larger node
    float range;             // minimum distance beyond the node's radius
    float relative[2];       // accepted error over the total acceleration: of a cluster, and of a larger node
                             // (relative criterion)
    float far;               // the same for the local expansion
#if HILBRIUM_PERIODIC
    float cut;     // of the short-range part
    float widest;  // radius above which a node is opened
#endif
};

__device__ __forceinline__ Opening opening_of(const OpeningParameters& given) {
    return {{given.size_by_angle[0], given.size_by_angle[1]},
            given.range,
            {given.relative[0], given.relative[1]},
            given.far,
#if HILBRIUM_PERIODIC
            given.cut,
            given.widest
#endif
    };
}

// First count of a group whose candidates exceed their capacity.
constexpr unsigned OVERFLOW = 0xffffffffu;

// Squared radius of a sphere around the center of a box that contains it.
__device__ __forceinline__ float squared_radius_of_box(const TargetBox& box) {
    return fmaxf(box.half_x * box.half_x + (box.half_y * box.half_y + box.half_z * box.half_z), 1e-24f);
}

// Place of an element received from another rank without its particles.
constexpr unsigned NO_PARTICLES = 0xffffffffu;

// Treatment of a node by a super-cluster.
enum Verdict : unsigned { SKIPPED, OPENED, NEAR, FAR };

// Classifies a node of a level whose center of mass is at (x, y, z) from the center of the box. Conditions of
// acceptance:
//     d > size_by_angle b, d > b + range (d from the box to the center of mass),
//     relative criterion, and clusters in an open box: m b^3 / d^5 < relative a, with octupoles m b^4 / d^6 <
//     relative a,
//     periodic box: b <= widest; nodes without particles within the cut are skipped,
//     far: in addition m c^4 / D^6 < far a and D > 2 c (D from the center of the box to the center of mass, c
//     the radius of the targets), the leading terms that the local expansion neglects.
__device__ __forceinline__ Verdict verdict(const TargetBox& box, const Opening& opening, float x, float y, float z,
                                           float radius, float mass, unsigned level) {
    if (radius < 0.0f) { return SKIPPED; }
    const float outside_x = fmaxf(fabsf(x) - box.half_x, 0.0f), outside_y = fmaxf(fabsf(y) - box.half_y, 0.0f),
                outside_z = fmaxf(fabsf(z) - box.half_z, 0.0f);
    const float squared = outside_x * outside_x + (outside_y * outside_y + outside_z * outside_z);
    const float reach = fmaxf(radius * opening.size_by_angle[level > 0u], radius + opening.range);
#if HILBRIUM_PERIODIC
    const float end = radius + opening.cut;
    if (squared > end * end) { return SKIPPED; }
    if (!(radius <= opening.widest)) { return OPENED; }
#endif
    if (!(squared > reach * reach)) { return OPENED; }
    if (HILBRIUM_CRITERION == 1 || (level == 0u && !HILBRIUM_PERIODIC)) {
        const float ratio = radius * radius / squared;
        const float power = HILBRIUM_ORDER == 2 ? ratio * ::sqrtf(ratio) : ratio * ratio;
        if (!(mass * power < opening.relative[level > 0u] * box.acceleration * squared)) { return OPENED; }
    }
#if HILBRIUM_PERIODIC
    return squared > opening.cut * opening.cut ? SKIPPED : NEAR;
#else
    const float distance = x * x + (y * y + z * z);
    const float ratio = box.squared_radius / distance;
    return ratio < 0.25f && mass * ratio * ratio < opening.far * box.acceleration * distance ? FAR : NEAR;
#endif
}

} // namespace hilbrium
