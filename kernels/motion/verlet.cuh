// Moves of one particle that the kernels of velocity Verlet and of the Langevin thermostat share.
#pragma once

#include "../motion/block.cuh"
#include "../motion/rounded.cuh"

namespace hilbrium {

// Whether half a kick and a drift would move a particle farther than `farthest` in some direction, or to no place.
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

// Notes which rows of a warp are left as they were, a bit each, and counts them; all threads of the warp must call.
__device__ __forceinline__ void note_left(bool left_here, unsigned long long place, unsigned count, unsigned* left,
                                          unsigned* refused) {
    const unsigned word = __ballot_sync(FULL, left_here);
    if (lane_index() == 0 && place < count) {
        left[place / WARP] = word;
        if (word != 0) { atomicAdd(refused, static_cast<unsigned>(__popc(word))); }
    }
}

// Whether a row was left; nothing was without notes.
__device__ __forceinline__ bool was_left(const unsigned* left, unsigned long long place) {
    return left != nullptr && (left[place / WARP] >> (place % WARP) & 1u) != 0;
}

}  // namespace hilbrium
