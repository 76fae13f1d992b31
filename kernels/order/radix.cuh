// One pass of a stable radix sort: moves all pairs of a 64-bit key and a 32-bit row to the position given by
// their digit, with one read and one write. Tiles obtain the digit counts of all earlier tiles by decoupled
// look-back (Merrill and Garland, Single-pass Parallel Prefix Scan with Decoupled Look-back, NVR-2016-002;
// Adinets and Merrill, Onesweep, arXiv:2206.01784).
#pragma once

#include "../device.cuh"
#include "../order/publish.cuh"

namespace hilbrium {

constexpr unsigned RADIX_BITS = 8;
constexpr unsigned RADIX = 1u << RADIX_BITS;

// Threads per block, pairs per thread, pairs per tile. Larger tiles write longer contiguous runs per digit;
// their keys fill the shared memory that is available without opt-in (48 KiB). Measured on an H100: three or
// four blocks per multiprocessor with equal or smaller tiles are slower by 10 to 20 %, although they hide
// more latency.
constexpr unsigned SORT_THREADS = 512;
constexpr unsigned SORT_BLOCKS = 2;
constexpr unsigned SORT_ITEMS = 11;
constexpr unsigned SORT_WARPS = SORT_THREADS / WARP;
constexpr unsigned SORT_TILE = SORT_THREADS * SORT_ITEMS;

// Published state of a tile's digit: a count below 2^30, and a flag whether it is the tile's own or the sum
// of all tiles so far.
constexpr unsigned TILE_OWN = 1u << 30;
constexpr unsigned TILE_ALL = 2u << 30;
constexpr unsigned TILE_COUNT = TILE_OWN - 1u;

__device__ __forceinline__ unsigned radix_digit(unsigned long long key, unsigned shift) {
    return static_cast<unsigned>(key >> shift) & (RADIX - 1u);
}

// Lanes with the same digit as this lane: one ballot per bit. __match_any_sync was not faster for 32M pairs
// and 12 % slower for 4M. Written so that one instruction produces the predicates of all bits.
__device__ __forceinline__ unsigned radix_peers(unsigned digit) {
    unsigned others = 0;
#pragma unroll
    for (unsigned bit = 0; bit < RADIX_BITS; ++bit) {
        const bool clear = (digit & 1u << bit) == 0u;
        const unsigned without = __ballot_sync(FULL, clear);
        others |= clear ? ~without : without;
    }
    return ~others;
}

// Shared memory of a pass. The last read of counts precedes the first write of keys.
struct RadixShared {
    union {
        unsigned counts[SORT_WARPS][RADIX]; // per warp: running count, then its first position of a digit
        unsigned long long keys[SORT_TILE];
        unsigned rows[SORT_TILE];
    };
    unsigned destination[RADIX]; // global position of a digit's keys minus their position in the tile
    unsigned sums[RADIX / WARP];
    unsigned tile;
};

// Number of keys of a digit in the tiles before `tile`. Blocks take tiles in order, hence all of them have
// started and will publish. (Measured as not faster: loading the words of several tiles at a time, publishing
// counts before ranking, looking back before ranking or placing.)
__device__ inline unsigned radix_look_back(const unsigned* published, unsigned tile, unsigned digit) {
    unsigned before = 0;
    for (unsigned earlier = tile; earlier-- > 0u;) {
        const unsigned* const word = published + static_cast<unsigned long long>(earlier) * RADIX + digit;
        unsigned state = 0;
        while (state == 0u) {
            state = load_published(word);
        }
        before += state & TILE_COUNT;
        if ((state & TILE_ALL) != 0u) { break; }
    }
    return before;
}

// Loads the values of a thread's pairs; `left` pairs exist from this lane's first one on.
template <class Value>
__device__ __forceinline__ void radix_load(Value (&values)[SORT_ITEMS], const Value* __restrict__ from, unsigned left,
                                           Value beyond) {
    if (left > (SORT_ITEMS - 1u) * WARP) {
#pragma unroll
        for (unsigned item = 0; item < SORT_ITEMS; ++item) {
            values[item] = from[item * WARP];
        }
    } else {
#pragma unroll
        for (unsigned item = 0; item < SORT_ITEMS; ++item) {
            values[item] = item * WARP < left ? from[item * WARP] : beyond;
        }
    }
}

// Computes each key's rank among the keys of its digit in the warp, in order, and packs it with digit << 16.
// Otherwise the compiler would keep an address per key, which exceeds the registers. `counts` of the warp are
// initially 0.
__device__ __forceinline__ void radix_rank(const unsigned long long (&keys)[SORT_ITEMS], unsigned shift,
                                           unsigned* counts, unsigned (&ranks)[SORT_ITEMS]) {
#pragma unroll
    for (unsigned item = 0; item < SORT_ITEMS; ++item) {
        const unsigned digit = radix_digit(keys[item], shift);
        const unsigned peers = radix_peers(digit);
        const unsigned earlier = peers & lanes_below();
        const unsigned so_far = counts[digit];
        __syncwarp();
        if (earlier == 0u) { counts[digit] = so_far + __popc(peers); }
        __syncwarp();
        ranks[item] = (so_far + __popc(earlier)) | digit << 16;
    }
}

// Processes one tile. FIRST passes read no rows: pair k has row k. `base` holds the start of each digit,
// `published` is initially 0; `next_published` is cleared for the next pass.
template <bool FIRST>
__device__ inline void radix_pass(const unsigned long long* __restrict__ keys_from,
                                  const unsigned* __restrict__ rows_from, unsigned long long* __restrict__ keys_to,
                                  unsigned* __restrict__ rows_to,
                                  const unsigned* __restrict__ base, unsigned* published, unsigned* next_published,
                                  unsigned* tiles_taken, unsigned count, unsigned shift) {
    __shared__ RadixShared shared;
    const unsigned thread = threadIdx.x, lane = lane_index(), warp = warp_of_block();
    if (thread == 0) { shared.tile = atomicAdd(tiles_taken, 1u); }
    for (unsigned digit = lane; digit < RADIX; digit += WARP) {
        shared.counts[warp][digit] = 0;
    }
    __syncthreads();
    const unsigned tile = shared.tile, tile_first = tile * SORT_TILE;
    const unsigned present = smaller(count - tile_first, SORT_TILE);

    // Each warp takes consecutive pairs. Padding keys beyond the end sort last and are not written.
    const unsigned warp_first = warp * WARP * SORT_ITEMS + lane;
    const unsigned left = present > warp_first ? present - warp_first : 0u;
    unsigned long long keys[SORT_ITEMS];
    unsigned places[SORT_ITEMS];
    radix_load(keys, keys_from + tile_first + warp_first, left, ~0ull);
    radix_rank(keys, shift, shared.counts[warp], places);
    __syncthreads();

    // One thread per digit: publishes the tile's count and computes the first position of the tile's and of
    // each warp's keys.
    const unsigned long long word = static_cast<unsigned long long>(tile) * RADIX + thread;
    unsigned present_total = 0, begin = 0;
    if (thread < RADIX) {
        unsigned total = 0;
#pragma unroll
        for (unsigned other = 0; other < SORT_WARPS; ++other) {
            const unsigned counted = shared.counts[other][thread];
            shared.counts[other][thread] = total;
            total += counted;
        }
        present_total = total - (thread == RADIX - 1u ? SORT_TILE - present : 0u);
        publish(published + word, present_total | (tile == 0 ? TILE_ALL : TILE_OWN));
        next_published[word] = 0;
        begin = warp_inclusive_sum(total);
        if (lane == WARP - 1u) { shared.sums[warp] = begin; }
        begin -= total;
    }
    __syncthreads();
    if (thread < RADIX) {
        for (unsigned other = 0; other < warp; ++other) {
            begin += shared.sums[other];
        }
#pragma unroll
        for (unsigned other = 0; other < SORT_WARPS; ++other) {
            shared.counts[other][thread] += begin;
        }
    }
    __syncthreads();
#pragma unroll
    for (unsigned item = 0; item < SORT_ITEMS; ++item) {
        places[item] = (places[item] & 0xffffu) + shared.counts[warp][places[item] >> 16];
    }
    __syncthreads();
#pragma unroll
    for (unsigned item = 0; item < SORT_ITEMS; ++item) {
        shared.keys[places[item]] = keys[item];
    }
    // In flight during the look-back.
    unsigned rows[SORT_ITEMS];
    if (FIRST) {
#pragma unroll
        for (unsigned item = 0; item < SORT_ITEMS; ++item) {
            rows[item] = tile_first + warp_first + item * WARP;
        }
    } else {
        radix_load(rows, rows_from + tile_first + warp_first, left, 0u);
    }
    if (thread < RADIX) {
        const unsigned before = radix_look_back(published, tile, thread);
        if (tile != 0) { publish(published + word, (before + present_total) | TILE_ALL); }
        shared.destination[thread] = base[thread] + before - begin;
    }
    __syncthreads();

    // Keys of a digit are contiguous in shared memory: neighboring threads write to neighboring addresses.
    unsigned to[SORT_ITEMS];
#pragma unroll
    for (unsigned item = 0; item < SORT_ITEMS; ++item) {
        const unsigned place = item * SORT_THREADS + thread;
        const unsigned long long key = shared.keys[place];
        to[item] = shared.destination[radix_digit(key, shift)] + place;
        if (place < present) { keys_to[to[item]] = key; }
    }
    __syncthreads();
#pragma unroll
    for (unsigned item = 0; item < SORT_ITEMS; ++item) {
        shared.rows[places[item]] = rows[item];
    }
    __syncthreads();
#pragma unroll
    for (unsigned item = 0; item < SORT_ITEMS; ++item) {
        const unsigned place = item * SORT_THREADS + thread;
        if (place < present) { rows_to[to[item]] = shared.rows[place]; }
    }
}

} // namespace hilbrium
