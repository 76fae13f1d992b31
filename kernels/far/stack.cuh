// Tree walk of a warp: tests the children of up to four opened nodes at a time, one per lane, and pushes
// nodes to open on a stack in shared memory, the deepest ones on top.
#pragma once

#include "../tree/hierarchy.cuh"

namespace hilbrium {

// The stack holds opened nodes as level and number. At most four of the deepest nodes are popped at a time.
// They push at most 32 nodes, all of a lower level than the remaining ones. Hence the stack has at most 32
// nodes per level, of levels 1 to 9, or 10 for the root.
constexpr unsigned STACK = 320u;
constexpr unsigned LEVEL_SHIFT = 28u;
constexpr unsigned MOST_LEVELS = 12u;

// First element and number of nodes of each level.
struct Levels {
    unsigned first[MOST_LEVELS], count[MOST_LEVELS];
};

// Initializes the levels over `rows` rows, whose elements start at `first`. Returns the number of levels. All
// lanes must call.
__device__ __forceinline__ unsigned init_levels(Levels& levels, unsigned rows, unsigned first) {
    const unsigned lane = lane_index(), count = hierarchy_levels(rows);
    __syncwarp();
    if (lane < count) {
        levels.first[lane] = first + hierarchy_offset(rows, lane);
        levels.count[lane] = hierarchy_count(rows, lane);
    }
    __syncwarp();
    return count;
}

// Pops up to four nodes and returns whether this lane has a child of them: its level, its place in the level,
// and its element in the arrays.
__device__ __forceinline__ bool next_child(const unsigned* stack, const Levels& levels, unsigned& depth,
                                           unsigned& level, unsigned& place, unsigned& element) {
    const unsigned taken = depth < 4u ? depth : 4u, lane = lane_index();
    depth -= taken;
    if (lane / 8u >= taken) { return false; }
    const unsigned parent = stack[depth + lane / 8u];
    level = (parent >> LEVEL_SHIFT) - 1u;
    place = (parent & ((1u << LEVEL_SHIFT) - 1u)) * 8u + lane % 8u;
    element = levels.first[level] + place;
    return place < levels.count[level];
}

// Takes the next 32 of a list of nodes and returns whether this lane has one of them: its level, its place in
// the level, and its element in the arrays.
__device__ __forceinline__ bool next_candidate(const unsigned* list, const Levels& levels, unsigned& next,
                                               unsigned end, unsigned& level, unsigned& place, unsigned& element) {
    const unsigned index = next + lane_index();
    next += WARP;
    if (index >= end) { return false; }
    const unsigned node = list[index];
    level = node >> LEVEL_SHIFT;
    place = node & ((1u << LEVEL_SHIFT) - 1u);
    element = levels.first[level] + place;
    return true;
}

// Appends this lane's value to a list if `wanted`. All lanes must call.
__device__ __forceinline__ void append(unsigned* list, unsigned& length, bool wanted, unsigned value) {
    const unsigned lanes = __ballot_sync(FULL, wanted);
    if (wanted) { list[length + __popc(lanes & lanes_below())] = value; }
    length += __popc(lanes);
}

} // namespace hilbrium
