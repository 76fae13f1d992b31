// How a warp goes through a hierarchy: it tests the children of up to four opened nodes at a time, one a lane, and
// keeps what it opens on a stack in shared memory, the deepest nodes at its end.
#pragma once

#include "../tree/hierarchy.cuh"

namespace hilbrium {

// The stack holds opened nodes as level and number. Of its nodes the deepest are taken first, four at most, which
// leave at most 32 behind, all of lower level than what remains. So there are never more than 32 of a level, and
// levels 1 to 9 can be on it, or 10 as the root of all.
constexpr unsigned STACK = 320u;
constexpr unsigned LEVEL_SHIFT = 28u;
constexpr unsigned MOST_LEVELS = 12u;

// Where the levels begin among all elements, and how many nodes they have.
struct Levels {
    unsigned first[MOST_LEVELS], count[MOST_LEVELS];
};

// The levels over so many rows, whose elements begin at `first`; returns how many levels there are. All lanes call.
__device__ __forceinline__ unsigned enter_hierarchy(Levels& levels, unsigned rows, unsigned first) {
    const unsigned lane = lane_index(), count = hierarchy_levels(rows);
    __syncwarp();
    if (lane < count) {
        levels.first[lane] = first + hierarchy_offset(rows, lane);
        levels.count[lane] = hierarchy_count(rows, lane);
    }
    __syncwarp();
    return count;
}

// The children of up to four nodes from the end of the stack: this lane's child as level, place in its level, and
// element of the arrays. Returns whether the lane has one; takes the parents off the stack.
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

// Appends this lane's value to a list if `wanted`.
__device__ __forceinline__ void append(unsigned* list, unsigned& length, bool wanted, unsigned value) {
    const unsigned lanes = __ballot_sync(FULL, wanted);
    if (wanted) { list[length + __popc(lanes & lanes_below())] = value; }
    length += __popc(lanes);
}

} // namespace hilbrium
