// Inclusive prefix sums of numbers in shared memory: in place (Algis et al. 2024, hal-04621128, section 6),
// and by warp shuffles.
#pragma once

#include "../device.cuh"

namespace hilbrium {
namespace cells {

// Counts nothing.
struct Uncounted {
    __device__ __forceinline__ void barrier() {}
    __device__ __forceinline__ void update() {}
};

// In place, without further memory: a tree of sums upward, then the numbers between. All threads of the block
// must call; numbers must be there before (barrier), sums are there after it.
//
// With h = ceil(log2(count + 1)): count - h updates downward and count - popcount(count) upward, which is
// count - 1 for powers of two; floor(log2(count)) barriers upward; downward one less, or as many if count is
// at least 3/2 of the power of two below it. That is 2 h - 3 for powers of two. The paper's algorithm 6
// starts the downward pass at a quarter, which misses numbers from 3/2 of a power of two on, where that is at
// least 8; its listing starts at a half, which adds a barrier where there is nothing to do.
template <class Counter>
__device__ __forceinline__ void sum_in_place(unsigned* numbers, unsigned count, Counter& counter) {
    unsigned step = 2;
    for (; step <= count; step *= 2) {
        for (unsigned k = threadIdx.x * step + step - 1u; k < count; k += blockDim.x * step) {
            numbers[k] += numbers[k - step / 2u];
            counter.update();
        }
        counter.barrier();
        __syncthreads();
    }
    step /= 2u;
    if (step + step / 2u - 1u >= count) { step /= 2u; }
    for (; step > 1u; step /= 2u) {
        for (unsigned k = threadIdx.x * step + step + step / 2u - 1u; k < count; k += blockDim.x * step) {
            numbers[k] += numbers[k - step / 2u];
            counter.update();
        }
        counter.barrier();
        __syncthreads();
    }
}

// By warps, in tiles of the block: a shuffle scan in each warp, then the sums of earlier warps, as
// cub::BlockScan does by default. `of_warps` has an element per warp. All threads of the block must call;
// whole warps. Two barriers per tile.
__device__ __forceinline__ void sum_by_warps(unsigned* numbers, unsigned count, unsigned* of_warps) {
    const unsigned warps = blockDim.x / WARP;
    unsigned before = 0;
    for (unsigned first = 0; first < count; first += blockDim.x) {
        const unsigned k = first + threadIdx.x;
        const unsigned sum = warp_inclusive_sum(k < count ? numbers[k] : 0u);
        if (lane_index() == WARP - 1u) { of_warps[warp_of_block()] = sum; }
        __syncthreads();
        const unsigned own = lane_index() < warps ? of_warps[lane_index()] : 0u;
        const unsigned earlier = warp_sum(lane_index() < warp_of_block() ? own : 0u);
        if (k < count) { numbers[k] = before + earlier + sum; }
        before += warp_sum(own);
        __syncthreads();
    }
}

}  // namespace cells
}  // namespace hilbrium
