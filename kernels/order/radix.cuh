// One pass of a stable radix sort: all pairs of a 64-bit key and a 32-bit row are moved to where their digit says, in
// one reading and one writing. Tiles learn how many keys of a digit the tiles before them have by looking back at what
// these have published (Merrill and Garland, Single-pass Parallel Prefix Scan with Decoupled Look-back, NVR-2016-002;
// Adinets and Merrill, Onesweep, arXiv:2206.01784).
#pragma once

#include "../device.cuh"
#include "../order/publish.cuh"

namespace hilbrium {

constexpr unsigned RADIX_BITS = 8;
constexpr unsigned RADIX = 1u << RADIX_BITS;

// Threads of a block, pairs a thread, pairs of a tile. Large tiles write more keys of a digit together; their keys fill
// what shared memory there is without asking for more (48 KiB). Measured on an H100: three or four blocks a
// multiprocessor, with tiles as large or smaller, are slower by a tenth to a fifth, though they hide more waits.
constexpr unsigned SORT_THREADS = 512;
constexpr unsigned SORT_BLOCKS = 2;
constexpr unsigned SORT_ITEMS = 11;
constexpr unsigned SORT_WARPS = SORT_THREADS / WARP;
constexpr unsigned SORT_TILE = SORT_THREADS * SORT_ITEMS;

// What a tile publishes of a digit: a count below 2^30, and whether it is the tile's own or that of all tiles so far.
constexpr unsigned TILE_OWN = 1u << 30;
constexpr unsigned TILE_ALL = 2u << 30;
constexpr unsigned TILE_COUNT = TILE_OWN - 1u;

__device__ __forceinline__ unsigned radix_digit(unsigned long long key, unsigned shift) {
    return static_cast<unsigned>(key >> shift) & (RADIX - 1u);
}

// The lanes whose digit is the same as this lane's: one ballot a bit, whatever the digits are; __match_any_sync was no
// faster for 32M pairs and slower by an eighth for 4M. Written so that one instruction makes predicates of all bits.
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

// Shared memory of a pass. Counts are read for the last time before keys are placed.
struct RadixShared {
    union {
        unsigned counts[SORT_WARPS][RADIX]; // by warp: of keys so far, then where the warp's first key of a digit goes
        unsigned long long keys[SORT_TILE];
        unsigned rows[SORT_TILE];
    };
    unsigned destination[RADIX]; // where a digit's keys go in memory, less where they begin in the tile
    unsigned sums[RADIX / WARP];
    unsigned tile;
};

// How many keys of a digit the tiles before `tile` have. They have all begun, so each publishes sooner or later: blocks
// take tiles in order. (Measured: no faster when several tiles' words are loaded at a time, when counts are published
// before keys are ranked, or when a tile looks back before it ranks or places them.)
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

// The values of a thread's pairs, `left` of which and of the lanes' after it are there.
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

// Each key's rank among the keys of its digit that its warp has, in their order, | its digit << 16: the compiler would
// keep an address for each key instead, more than registers hold. `counts` of the warp begin as zeros.
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

// The pass of one tile. FIRST passes have no rows to read: pair k has row k. `base` holds where each digit begins,
// `published` zeros; `next_published` is zeroed for the pass after this one.
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

    // A warp takes successive pairs, lane by lane; beyond the end are keys that sort last and are not written.
    const unsigned warp_first = warp * WARP * SORT_ITEMS + lane;
    const unsigned left = present > warp_first ? present - warp_first : 0u;
    unsigned long long keys[SORT_ITEMS];
    unsigned places[SORT_ITEMS];
    radix_load(keys, keys_from + tile_first + warp_first, left, ~0ull);
    radix_rank(keys, shift, shared.counts[warp], places);
    __syncthreads();

    // A thread a digit: the tile's count is published, and becomes where the tile's and each warp's keys of it begin.
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
    // on their way while the block looks back
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

    // Out of shared memory keys of a digit follow each other: what neighboring threads write is together.
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
