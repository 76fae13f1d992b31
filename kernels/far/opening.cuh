// Which nodes stand for their particles, which are opened: mirrors src/far/opening.rs.
//
// As boxes of consecutive rows are no cubes, a node's size is that of the cube with its radius b for half a diagonal:
// l = 2 b / 3^(1/2). With 1.2 l / theta for l / theta + s of the processor cores' octree the errors of the forces are
// about the same at the same opening angle.
#pragma once

#include "../far/multipole.cuh"

// 0 geometric, 1 relative: HILBRIUM_CRITERION.
#ifndef HILBRIUM_CRITERION
#define HILBRIUM_CRITERION 0
#endif

namespace hilbrium {

// The targets of a warp: their box about its middle, which is the center of their coordinates. Mirrored by TargetBox of
// src/device/gravity/essential.rs.
struct TargetBox {
    double x, y, z;                // middle
    float half_x, half_y, half_z;  // half the edges, rounded up
    float squared_radius;          // of the sphere around the middle that holds all targets
    float acceleration;            // an estimate of what they feel, for G = 1
};

static_assert(sizeof(TargetBox) == 48, "as the host has it");

// The squared radius of a box without targets.
constexpr float NOBODY_THERE = -1.0f;

// The parameters of the decision, see src/device/gravity/mod.rs.
struct Opening {
    float size_by_angle;  // accepted only beyond this times the radius
    float range;          // and beyond the radius and this
    float relative;       // relative criterion: the accepted error of a node over the whole acceleration
    float far;            // the same of the local expansion
};

// The place of an element that comes without its particles from another rank.
constexpr unsigned NO_PARTICLES = 0xffffffffu;

// What a super-cluster does with a node.
enum Verdict : unsigned { SKIPPED, OPENED, NEAR, FAR };

// A node with its center at (x, y, z) from the middle of the box. The bounds:
//     d > size_by_angle b, d > b + range (d from the box to the center of mass),
//     relative: m b^3 / d^5 < relative a, with octupoles m b^4 / d^6 < relative a,
//     far: in addition m c^4 / D^6 < far a and D > 2 c (D from the middle of the box to the center of mass, c the
//     radius of the targets), the leading terms that the local expansion neglects.
__device__ __forceinline__ Verdict verdict(const TargetBox& box, const Opening& opening, float x, float y, float z,
                                           float radius, float mass) {
    if (radius < 0.0f) { return SKIPPED; }
    const float outside_x = fmaxf(fabsf(x) - box.half_x, 0.0f), outside_y = fmaxf(fabsf(y) - box.half_y, 0.0f),
                outside_z = fmaxf(fabsf(z) - box.half_z, 0.0f);
    const float squared = outside_x * outside_x + (outside_y * outside_y + outside_z * outside_z);
    const float reach = fmaxf(radius * opening.size_by_angle, radius + opening.range);
    if (!(squared > reach * reach)) { return OPENED; }
    if (HILBRIUM_CRITERION == 1) {
        const float ratio = radius * radius / squared;
        const float power = HILBRIUM_ORDER == 2 ? ratio * ::sqrtf(ratio) : ratio * ratio;
        if (!(mass * power < opening.relative * box.acceleration * squared)) { return OPENED; }
    }
    const float distance = x * x + (y * y + z * z);
    const float ratio = box.squared_radius / distance;
    return ratio < 0.25f && mass * ratio * ratio < opening.far * box.acceleration * distance ? FAR : NEAR;
}

} // namespace hilbrium
