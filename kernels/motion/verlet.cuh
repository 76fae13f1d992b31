// Per-particle operations shared by velocity Verlet and the Langevin thermostat.
#pragma once

#include "../motion/block.cuh"
#include "../motion/rounded.cuh"

namespace hilbrium {

// Returns whether a half kick and drift would move a particle farther than `farthest` along an axis, or to
// NaN.
__device__ __forceinline__ bool leaves(const Rounded (&velocity)[3], const Rounded (&acceleration)[3], double step,
                                       double farthest) {
    bool far = false;
#pragma unroll
    for (int d = 0; d < 3; ++d) {
        const Rounded moved = (velocity[d] + Rounded(0.5) * step * acceleration[d]) * step;
        far |= !(magnitude(moved) <= farthest);
    }
    return far;
}

// Records the rows of a warp that are left unchanged, one bit each, and counts them. All threads of the warp
// must call.
__device__ __forceinline__ void record_refused(bool is_refused, unsigned long long place, unsigned count,
                                               unsigned* left, unsigned* refused) {
    const unsigned word = __ballot_sync(FULL, is_refused);
    if (lane_index() == 0 && place < count) {
        left[place / WARP] = word;
        if (word != 0) { atomicAdd(refused, static_cast<unsigned>(__popc(word))); }
    }
}

// Returns whether a row was left unchanged; false without records (null).
__device__ __forceinline__ bool was_refused(const unsigned* left, unsigned long long place) {
    return left != nullptr && (left[place / WARP] >> (place % WARP) & 1u) != 0;
}

}  // namespace hilbrium
