// Boxes with largest radii, and a test whether particles of two of them may interact: mirrors
// src/tree/bounds.rs and may_interact of src/domain/interaction_test.rs.
#pragma once

#include "../device.cuh"

namespace hilbrium {

// Bounding box and largest radius of some particles. Empty: infinite corners, the lower one above the upper
// one.
struct Extent {
    double lower[3];
    double upper[3];
    double radius;
};

// Periods of the box, 0 in open dimensions, and the allowance for the rounding of distances, per dimension.
struct Periods {
    double period[3];
    double rounding[3];
};

// Extent of a non-empty node of the hierarchy.
__device__ __forceinline__ Extent extent_of_node(const double* __restrict__ center, const float4* __restrict__ extent,
                                                 unsigned nodes, double unit, double largest, unsigned node) {
    const float4 reach = extent[node];
    const double half[3] = {reach.x * unit, reach.y * unit, reach.z * unit};
    Extent own;
#pragma unroll
    for (unsigned d = 0; d < 3; ++d) {
        const double middle = center[static_cast<unsigned long long>(nodes) * d + node];
        own.lower[d] = middle - half[d];
        own.upper[d] = middle + half[d];
    }
    own.radius = smaller(reach.w * unit, largest);
    return own;
}

// Returns whether particles of the two extents may interact; has no false negatives. Radii are enlarged
// slightly, because single-precision passes round distances.
__device__ __forceinline__ bool may_interact(const Extent& one, const Extent& other, const Periods& periods) {
    const double reach = larger(one.radius, other.radius) * (1.0 + 1e-6);
    if (reach <= 0.0) { return false; }
    double square = 0.0;
#pragma unroll
    for (unsigned d = 0; d < 3; ++d) {
        double between = 0.5 * ((one.lower[d] + one.upper[d]) - (other.lower[d] + other.upper[d]));
        const double period = periods.period[d];
        if (period != 0.0) { between -= period * ::round(between / period); }
        const double halves = 0.5 * ((one.upper[d] - one.lower[d]) + (other.upper[d] - other.lower[d]));
        const double gap = larger(::fabs(between) - halves - periods.rounding[d], 0.0);
        square += gap * gap;
    }
    return square <= reach * reach;
}

}  // namespace hilbrium
