// Tree walk of a super-cluster: depth first in row order, so that clusters are found in ascending order. Four
// nodes are opened at a time, with one child per lane.
#pragma once

#include "../neighbors/candidates.cuh"
#include "../neighbors/half.cuh"

namespace hilbrium {

// Stack capacity: fewer than 32 nodes on each of at most ten levels.
constexpr unsigned WALK_DEPTH = 10 * WARP;

// A stack entry holds the level above the node number.
constexpr unsigned WALK_LEVEL = 28, WALK_NODE = (1u << WALK_LEVEL) - 1;

struct WalkMemory {
    unsigned stack[WALK_DEPTH];
    unsigned elements[12];  // first element of each level
};

// Returns whether a node's box is within reach of the frame's (minimum image). Sets `center` to its center
// relative to the frame's.
template <bool PERIODIC>
__device__ __forceinline__ bool approaches(const ListRequest& request, const Frame& frame, unsigned element,
                                           float4 extent, float3& center) {
    center.x = float((request.center[element] - frame.center[0]) * request.scale);
    center.y = float((request.center[request.nodes + element] - frame.center[1]) * request.scale);
    center.z = float((request.center[2ull * request.nodes + element] - frame.center[2]) * request.scale);
    if (PERIODIC) {
        center.x = folded(center.x, request.period[0], request.scale);
        center.y = folded(center.y, request.period[1], request.scale);
        center.z = folded(center.z, request.period[2], request.scale);
    }
    const float gap_x = fmaxf(fabsf(center.x) - (extent.x + frame.box.x), 0.0f);
    const float gap_y = fmaxf(fabsf(center.y) - (extent.y + frame.box.y), 0.0f);
    const float gap_z = fmaxf(fabsf(center.z) - (extent.z + frame.box.z), 0.0f);
    return square(gap_x) + square(gap_y) + square(gap_z) <= square(fmaxf(extent.w, frame.box.w) + frame.margin);
}

template <bool PERIODIC> struct Walk {
    const ListRequest& request;
    const Frame& frame;
    WalkMemory& memory;
    unsigned height;  // number of nodes on the stack

    // Starts with a virtual root above the last level.
    __device__ __forceinline__ void begin() {
        const unsigned levels = hierarchy_levels(request.rows), lane = lane_index();
        if (lane < levels) { memory.elements[lane] = hierarchy_offset(request.rows, lane); }
        height = 1;
        if (lane == 0) { memory.stack[0] = levels << WALK_LEVEL; }
        __syncwarp();
    }

    // Returns whether the stack is empty.
    __device__ __forceinline__ bool ended() const { return height == 0; }

    // Opens up to four nodes of one level: adds clusters among their children within reach to the candidates,
    // and pushes other children. All lanes must call.
    __device__ __forceinline__ void open(Candidates<PERIODIC>& candidates) {
        const unsigned lane = lane_index(), part = lane / CLUSTERS;
        const unsigned level = memory.stack[height - 1] >> WALK_LEVEL;
        const unsigned node = part < height ? memory.stack[height - 1 - part] : 0;
        const unsigned alike = __ballot_sync(FULL, part < height && node >> WALK_LEVEL == level);
        // All lanes have read the stack entries that are overwritten below.
        __syncwarp();
        const unsigned below = level - 1;
        height -= __popc(alike) / CLUSTERS;
        const unsigned child = CLUSTERS * (node & WALK_NODE) + lane % CLUSTERS;
        bool hit = false;
        float3 center = {0.0f, 0.0f, 0.0f};
        float4 extent = {0.0f, 0.0f, 0.0f, -1.0f};
        if (alike >> lane & 1) {
            const unsigned element = memory.elements[below] + child;
            extent = request.extent[element];
            // range of clusters of the node
            const unsigned begin = child << (3 * below), end = (child + 1) << (3 * below);
            const bool theirs = request.symmetric && listed_there(request, frame.super_cluster, begin, end);
            if (!theirs && extent.w >= 0.0f) {
                hit = approaches<PERIODIC>(request, frame, element, extent, center);
            }
        }
        const unsigned hits = __ballot_sync(FULL, hit);
        if (below == 0) {
            candidates.add(hits, child, center, extent);
        } else {
            // the first child on top
            if (hit) { memory.stack[height + __popc(hits >> lane) - 1] = below << WALK_LEVEL | child; }
            height += __popc(hits);
            __syncwarp();
        }
    }
};

}  // namespace hilbrium
