// Exact test whether a super-cluster has a pair with a cluster: mirrors `meets` of src/neighbors/near.rs
// operation by operation, so that CPU and GPU lists are bitwise equal.
//
// The CPU test is conservative by a margin above the rounding errors of single precision. The search
// (candidates.cuh) uses its own arithmetic for everything outside of both margins. Only about one candidate
// in a thousand comes here, and candidates too far or too wide for single precision. Floor: about 400
// instructions.
#pragma once

#include "../neighbors/request.cuh"

namespace hilbrium {

// Individually rounded operations, as on the CPU: GPU compilers would contract products and sums to fused
// multiply-adds.
__device__ __forceinline__ double plus(double a, double b) {
#ifdef HILBRIUM_EMULATED
    return a + b;
#else
    return __dadd_rn(a, b);
#endif
}
__device__ __forceinline__ double times(double a, double b) {
#ifdef HILBRIUM_EMULATED
    return a * b;
#else
    return __dmul_rn(a, b);
#endif
}
__device__ __forceinline__ float plus(float a, float b) {
#ifdef HILBRIUM_EMULATED
    return a + b;
#else
    return __fadd_rn(a, b);
#endif
}
__device__ __forceinline__ float times(float a, float b) {
#ifdef HILBRIUM_EMULATED
    return a * b;
#else
    return __fmul_rn(a, b);
#endif
}

namespace exact {

// Above the relative error of a single-precision distance for coordinates up to 1.
constexpr float MARGIN = 1.5e-6f;

// Position of ghosts.
constexpr float FAR = 1e18f;

constexpr float LEAST = 1.17549435e-38f;

// Minimum image of a separation.
__device__ inline double shortest(double separation, double period) {
    if (period == 0.0) { return separation; }
    const double turns = separation / period;
    return plus(separation, -times(period, fabs(turns) < 2251799813685248.0 ? rint(turns) : round(turns)));
}

// Returns whether an acting row of cluster i has a pair with a row of cluster j, in double precision. All
// lanes must call with the same clusters.
__device__ inline bool any_pair(const ListRequest& request, unsigned i, unsigned j) {
    bool found = false;
    const unsigned b = CLUSTER * j + lane_index() % CLUSTER;
    for (unsigned k = lane_index() / CLUSTER; k < CLUSTER; k += WARP / CLUSTER) {
        const unsigned a = CLUSTER * i + k;
        if (a == b || !request.acts(a) || !request.exists(b)) { continue; }
        double square = 0.0;
        for (unsigned d = 0; d < 3; ++d) {
            const double* column = request.position[d];
            const double apart = shortest(plus(column[a], -column[b]), request.period[d]);
            square = plus(square, times(apart, apart));
        }
        const double reach = plus(fmax(request.radius[a], request.radius[b]), request.slack);
        found |= square <= times(times(reach, reach), 1.0 + 1e-9);
    }
    return __any_sync(FULL, found);
}

// Center and half widths of the box of a super-cluster's members with acting rows, and their largest radius.
struct Frame {
    double center[3];
    float half[3];
    float reach;
    bool present;  // for this lane's member, lane % 8
};

__device__ inline Frame frame_of(const ListRequest& request, unsigned super_cluster) {
    const unsigned cluster = CLUSTERS * super_cluster + lane_index() % CLUSTERS;
    const unsigned end = smaller((request.rows + CLUSTER - 1) / CLUSTER, (request.owned_end + CLUSTER - 1) / CLUSTER);
    const double unit = 1.0 / request.scale, infinite = __longlong_as_double(0x7ff0000000000000ll);
    const float4 extent = request.extent[cluster];
    const float half[3] = {extent.x, extent.y, extent.z};
    Frame frame;
    frame.present = cluster < end && extent.w >= 0.0f;
    frame.reach = frame.present ? fmaxf(extent.w, 0.0f) : 0.0f;
    for (unsigned distance = 1; distance < CLUSTERS; distance *= 2) {
        frame.reach = fmaxf(frame.reach, __shfl_xor_sync(FULL, frame.reach, distance));
    }
    for (unsigned d = 0; d < 3; ++d) {
        const double center = request.center[d * request.nodes + cluster], edge = times(double(half[d]), unit);
        double lower = frame.present ? plus(center, -edge) : infinite;
        double upper = frame.present ? plus(center, edge) : -infinite;
        for (unsigned distance = 1; distance < CLUSTERS; distance *= 2) {
            lower = fmin(lower, __shfl_xor_sync(FULL, lower, distance));
            upper = fmax(upper, __shfl_xor_sync(FULL, upper, distance));
        }
        frame.center[d] = plus(times(0.5, lower), times(0.5, upper));
        const double half_edge = plus(plus(times(0.5, upper), -times(0.5, lower)), request.slack);
        frame.half[d] = round_up(times(half_edge, request.scale));
    }
    return frame;
}

// Tests the particles of a cluster and of the members `near` of a super-cluster in single precision: row
// lane % 8 of the cluster against rows lane / 8 and lane / 8 + 4 of each member. `offset` is the center of
// the cluster and `member_center` that of this lane's member, relative to the frame's. All lanes must call.
__device__ __forceinline__ bool particles_meet(const ListRequest& request, unsigned first, unsigned cluster,
                                               unsigned near, const float (&offset)[3],
                                               const float (&member_center)[3], float own_margin) {
    const unsigned lane = lane_index();
    const double scale = request.scale;
    const unsigned j = CLUSTER * cluster + lane % CLUSTER;
    const bool there = request.exists(j);
    float other_lane[3], radius_j = there ? round_up(times(fmax(request.radius[j], 0.0), scale)) : 0.0f;
    for (unsigned d = 0; d < 3; ++d) {
        const double center = request.center[d * request.nodes + cluster];
        const float within = there ? float(times(plus(request.position[d][j], -center), scale)) : d == 0 ? FAR : 0.0f;
        other_lane[d] = plus(within, offset[d]);
    }
    radius_j = plus(radius_j, own_margin);
    const float reach_j = times(times(radius_j, radius_j), 1.0f + 1e-6f);
    for (; near != 0; near &= near - 1) {
        const unsigned k = __ffs(int(near)) - 1, i_cluster = first + k;
        bool found = false;
        for (unsigned step = 0; step < CLUSTER; step += WARP / CLUSTER) {
            const unsigned i = CLUSTER * i_cluster + lane / CLUSTER + step;
            const bool acts = request.acts(i);
            float apart[3];
            for (unsigned d = 0; d < 3; ++d) {
                const double center = request.center[d * request.nodes + i_cluster];
                const float shift = __shfl_sync(FULL, member_center[d], k);
                const float within = acts ? float(times(plus(request.position[d][i], -center), scale)) : 0.0f;
                apart[d] = plus(!acts && d == 0 ? -FAR : plus(within, shift), -other_lane[d]);
            }
            const float radius_i =
                plus(request.exists(i) ? round_up(times(fmax(request.radius[i], 0.0), scale)) : 0.0f, own_margin);
            const float reach_i = plus(times(times(radius_i, radius_i), 1.0f + 1e-6f), LEAST);
            const float pair = fmaf(apart[0], apart[0], fmaf(apart[1], apart[1], times(apart[2], apart[2])));
            found |= !(pair > fmaxf(reach_i, reach_j));
        }
        if (__any_sync(FULL, found)) { return true; }
    }
    return false;
}

// Returns whether any acting row of a super-cluster has a pair with a row of a cluster. All lanes must call.
__device__ __noinline__ bool meets(const ListRequest& request, unsigned super_cluster, unsigned cluster) {
    const float4 other = request.extent[cluster];
    if (other.w < 0.0f) { return false; }
    const Frame frame = frame_of(request, super_cluster);
    const unsigned lane = lane_index(), member = lane % CLUSTERS, first = CLUSTERS * super_cluster;
    const double scale = request.scale;
    const float other_half[3] = {other.x, other.y, other.z};
    const float largest_extent =
        times(4.0f, plus(fmaxf(fmaxf(frame.half[0], frame.half[1]), frame.half[2]), frame.reach));
    const float own_margin = plus(times(largest_extent, MARGIN), round_up(times(request.slack, scale)));

    float offset[3], extent = 0.0f;
    bool compact = true;
    for (unsigned d = 0; d < 3; ++d) {
        const double period = request.period[d];
        double image = plus(request.center[d * request.nodes + cluster], -frame.center[d]);
        if (period != 0.0) {
            image = plus(image, -times(period, round(image / period)));
            const float widest = float(times(times(times(0.5, period), scale), 1.0 - 1e-6));
            compact = compact && plus(other_half[d], fmaxf(other.w, frame.reach)) < plus(widest, -frame.half[d]);
        }
        offset[d] = float(times(image, scale));
        extent = fmaxf(extent, plus(fabsf(offset[d]), other_half[d]));
    }
    compact = compact && extent <= largest_extent;

    // Boxes of members, one per lane.
    const float4 own = request.extent[first + member];
    const float own_half[3] = {own.x, own.y, own.z};
    float member_center[3], square = 0.0f;
    for (unsigned d = 0; d < 3; ++d) {
        const double center = request.center[d * request.nodes + first + member];
        member_center[d] = float(times(plus(center, -frame.center[d]), scale));
        float apart = fabsf(plus(member_center[d], -offset[d]));
        if (request.period[d] != 0.0) {
            apart = fminf(apart, fabsf(plus(float(times(request.period[d], scale)), -apart)));
        }
        const float gap = fmaxf(plus(plus(apart, -own_half[d]), -other_half[d]), 0.0f);
        square = fmaf(gap, gap, square);
    }
    const float margin = fmaxf(own_margin, times(extent, MARGIN));
    const float reach = plus(fmaxf(own.w, other.w), margin);
    bool close = frame.present && !(square > times(times(reach, reach), 1.0f + 1e-6f));
    // A symmetric list stores a pair of clusters of the same super-cluster with the later member.
    if (request.symmetric && cluster - first < CLUSTERS && first + member > cluster) { close = false; }
    unsigned near = __ballot_sync(FULL, close) & 0xff;
    if (near == 0) { return false; }

    if (cluster - first < CLUSTERS) {
        const unsigned self = 1u << (cluster - first);
        if ((near & self) != 0 && any_pair(request, cluster, cluster)) { return true; }
        near &= ~self;
    }
    if (!compact) {
        for (; near != 0; near &= near - 1) {
            if (any_pair(request, first + __ffs(int(near)) - 1, cluster)) { return true; }
        }
        return false;
    }

    return particles_meet(request, first, cluster, near, offset, member_center, own_margin);
}

}  // namespace exact

}  // namespace hilbrium
