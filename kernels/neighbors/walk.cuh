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
        center.x = folded(center.x, frame, 0);
        center.y = folded(center.y, frame, 1);
        center.z = folded(center.z, frame, 2);
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

    // Opens up to four nodes of one level: adds children within reach that are of level LOWEST to the
    // candidates, and pushes other children. All lanes must call.
    template <unsigned LOWEST, class Candidates>
    __device__ __forceinline__ void open(Candidates& candidates) {
        const unsigned lane = lane_index(), part = lane / CLUSTERS;
        const unsigned level = memory.stack[height - 1] >> WALK_LEVEL;
        const unsigned node = part < height ? memory.stack[height - 1 - part] : 0;
        const unsigned alike = __ballot_sync(FULL, part < height && node >> WALK_LEVEL == level);
        // All lanes have read the stack entries that are overwritten below.
        __syncwarp();
        const unsigned below = level - 1;
        height -= __popc(alike) / CLUSTERS;
        float3 center;
        float4 extent;
        const unsigned child = CLUSTERS * (node & WALK_NODE) + lane % CLUSTERS;
        const unsigned hits = children_near(below, child, alike >> lane & 1, center, extent);
        if (below == LOWEST) {
            candidates.add(hits, child, center, extent);
        } else {
            // the first child on top
            if (hits >> lane & 1) {
                memory.stack[height + __popc(hits >> lane) - 1] = below << WALK_LEVEL | child;
            }
            height += __popc(hits);
            __syncwarp();
        }
    }

    // Adds clusters within reach to the candidates: the children of up to four nodes of level 1, of which the
    // lane's is `node`, if `there`. All lanes must call.
    template <class Candidates>
    __device__ __forceinline__ void open_node(unsigned node, bool there, Candidates& candidates) {
        float3 center;
        float4 extent;
        const unsigned child = CLUSTERS * node + lane_index() % CLUSTERS;
        const unsigned hits = children_near(0, child, there, center, extent);
        candidates.add(hits, child, center, extent);
    }

  private:
    // Lanes whose `child`, a node of level `below`, is within reach; its center relative to the frame's and
    // its extent.
    __device__ __forceinline__ unsigned children_near(unsigned below, unsigned child, bool there,
                                                      float3& center, float4& extent) const {
        bool hit = false;
        center = {0.0f, 0.0f, 0.0f};
        extent = {0.0f, 0.0f, 0.0f, -1.0f};
        if (there) {
            const unsigned element = memory.elements[below] + child;
            extent = request.extent[element];
            // range of clusters of the node
            const unsigned begin = child << (3 * below), end = (child + 1) << (3 * below);
            const bool theirs = request.symmetric && listed_there(request, frame.super_cluster, begin, end);
            if (!theirs && extent.w >= 0.0f) {
                hit = approaches<PERIODIC>(request, frame, element, extent, center);
            }
        }
        return __ballot_sync(FULL, hit);
    }
};

}  // namespace hilbrium
