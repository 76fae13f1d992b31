// Order of the tasks of super-clusters: long ones first, so that no multiprocessor ends with one.
//
// A super-cluster that spans a jump of the curve has a large box. Its list then has up to ten times as many
// candidates, and its walk of gravity as many nodes, as those of others.
#pragma once

#include "../device.cuh"

namespace hilbrium {

// Half diagonal of a super-cluster's box over the radius of its smallest cluster, above which its tasks start
// first. That is under 1 % of super-clusters, and includes every walk of gravity above 2.5 times the mean.
constexpr float SCATTERED = 5.0f;

// Puts this lane's task, if `there`, into the order of tasks `first` to `end`: long ones from the front,
// others from the back, in no fixed order. `placed` counts both and is initially 0. All lanes must call.
__device__ __forceinline__ void place_long_first(unsigned* order, unsigned* placed, unsigned first, unsigned end,
                                                 unsigned task, bool there, bool is_long) {
    const unsigned long_tasks = __ballot_sync(FULL, there && is_long);
    const unsigned others = __ballot_sync(FULL, there && !is_long);
    unsigned front = 0u, back = 0u;
    if (lane_index() == 0u) {
        if (long_tasks != 0u) { front = atomicAdd(placed, __popc(long_tasks)); }
        if (others != 0u) { back = atomicAdd(placed + 1, __popc(others)); }
    }
    front = __shfl_sync(FULL, front, 0) + __popc(long_tasks & lanes_below());
    back = __shfl_sync(FULL, back, 0) + __popc(others & lanes_below());
    if (there) { order[is_long ? first + front : end - 1u - back] = task; }
}

} // namespace hilbrium
