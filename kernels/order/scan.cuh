// Exclusive prefix sums with one read: tiles of consecutive numbers with decoupled look-back (Merrill and
// Garland, Single-pass Parallel Prefix Scan with Decoupled Look-back, NVR-2016-002).
#pragma once

#include "../device.cuh"
#include "../order/publish.cuh"

namespace hilbrium {

constexpr unsigned SCAN_THREADS = 256;
constexpr unsigned SCAN_WARPS = SCAN_THREADS / WARP;

// Published state of a tile: a sum below 2^62, and a flag whether it is the tile's own or the sum of all
// tiles so far.
constexpr unsigned long long SUM_OWN = 1ull << 62;
constexpr unsigned long long SUM_ALL = 2ull << 62;
constexpr unsigned long long SUM_VALUE = SUM_OWN - 1ull;

// Sum of all tiles before `tile`. A warp inspects 32 tiles at a time, from the nearest one back to the first
// with a complete sum.
__device__ inline unsigned long long scan_look_back(const unsigned long long* published, unsigned tile) {
    unsigned long long before = 0;
    for (unsigned nearest = tile; nearest > 0;) {
        const unsigned lane = lane_index();
        unsigned long long state = SUM_ALL;
        if (lane < nearest) {
            while ((state = load_published(published + (nearest - 1u - lane))) == 0ull) {
            }
        }
        __syncwarp();
        const unsigned complete = __ballot_sync(FULL, (state & SUM_ALL) != 0ull);
        // Without a complete one, all 32 lanes count: __ffs returns 0.
        const unsigned looked_at = static_cast<unsigned>(__ffs(static_cast<int>(complete))) - 1u;
        before += warp_sum(lane <= looked_at ? state & SUM_VALUE : 0ull);
        if (complete != 0u) { break; }
        nearest -= WARP;
    }
    return before;
}

// Takes the next tile. All threads of the block must call.
__device__ inline unsigned take_tile(unsigned* tiles_taken) {
    __shared__ unsigned taken;
    if (threadIdx.x == 0) { taken = atomicAdd(tiles_taken, 1u); }
    __syncthreads();
    return taken;
}

// Exclusive prefix sum over the threads of this and all earlier tiles; each thread contributes `own`. Sets
// `total` to the sum of this and all earlier tiles. All threads of the block must call.
__device__ inline unsigned long long scan_tile(unsigned long long own, unsigned tile, unsigned long long* published,
                                               unsigned long long& total) {
    __shared__ unsigned long long of_warps[SCAN_WARPS];
    __shared__ unsigned long long of_earlier;
    unsigned long long before = warp_inclusive_sum(own);
    if (lane_index() == WARP - 1u) { of_warps[warp_of_block()] = before; }
    before -= own;
    __syncthreads();
    unsigned long long whole = 0;
#pragma unroll
    for (unsigned warp = 0; warp < SCAN_WARPS; ++warp) {
        if (warp == warp_of_block()) { before += whole; }
        whole += of_warps[warp];
    }
    if (warp_of_block() == 0) {
        if (threadIdx.x == 0) { publish(published + tile, whole | (tile == 0 ? SUM_ALL : SUM_OWN)); }
        const unsigned long long earlier = scan_look_back(published, tile);
        if (threadIdx.x == 0) {
            if (tile != 0) { publish(published + tile, (earlier + whole) | SUM_ALL); }
            of_earlier = earlier;
        }
    }
    __syncthreads();
    total = of_earlier + whole;
    return before + of_earlier;
}

} // namespace hilbrium
