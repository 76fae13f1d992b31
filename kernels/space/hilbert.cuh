// 63-bit Hilbert keys: mirrors src/space/hilbert.rs bit for bit. The curve is Hamilton's in three dimensions
// (Compact Hilbert Indices, Dalhousie CS-2006-07).
//
// The orientation of a cell is (entry corner, direction). Only entry corners with an even number of ones
// occur, hence 4 corners x 3 directions = 12 states. A table in shared memory covers three levels per lookup.
// It is indexed by three consecutive bits of each of x, y and z, without interleaving.
#pragma once

#include "../device.cuh"

namespace hilbrium {

constexpr unsigned HILBERT_LEVELS = 21;
constexpr unsigned HILBERT_STATES = 12;
constexpr unsigned HILBERT_PATHS = 512;
constexpr unsigned HILBERT_ENTRIES = HILBERT_STATES * HILBERT_PATHS;

// One level of the descent: the digit, and the orientation inside.
struct HilbertStep {
    unsigned digit;
    unsigned state;
};

__device__ __forceinline__ unsigned hilbert_rotate_left(unsigned bits, unsigned by) {
    return ((bits << by) | (bits >> (3u - by))) & 7u;
}

// Digit of an octant (x << 2 | y << 1 | z) in a state, and the state of its children.
__device__ inline HilbertStep hilbert_step(unsigned state, unsigned octant) {
    const unsigned half = state / 3u, direction = state % 3u;
    const unsigned entry = half << 1 | ((half ^ half >> 1) & 1u);
    const unsigned turn = (direction + 1u) % 3u;
    const unsigned gray = hilbert_rotate_left(octant ^ entry, (3u - turn) % 3u);
    const unsigned digit = gray ^ gray >> 1 ^ gray >> 2;
    // Corner where the curve enters the octant: the Gray code of the largest even number below the digit.
    const unsigned before = digit == 0u ? 0u : (digit - 1u) & ~1u;
    const unsigned corner = hilbert_rotate_left(before ^ before >> 1, turn);
    // Exit axis: the number of trailing ones of the odd number of the pair, 1 (x01), 2 (011) or 3 (111).
    const unsigned odd = (digit & 1u) != 0u ? digit : digit - 1u;
    const unsigned ones = (odd & 2u) == 0u ? 1u : (odd & 4u) == 0u ? 2u : 0u;
    const unsigned axis = digit == 0u ? 0u : ones;
    return {digit, ((entry ^ corner) >> 1) * 3u + (direction + axis + 1u) % 3u};
}

// Fills the table with all threads of the block, starting from a table of single steps; must be followed by a
// barrier. An entry is the state after three levels << 10 | three digits: the state equals the byte offset of
// that state's part of the table.
__device__ inline void hilbert_fill(unsigned short* table) {
    __shared__ unsigned char steps[8 * HILBERT_STATES];
    for (unsigned k = threadIdx.x; k < 8 * HILBERT_STATES; k += blockDim.x) {
        const HilbertStep step = hilbert_step(k / 8u, k % 8u);
        steps[k] = static_cast<unsigned char>(step.state << 3 | step.digit);
    }
    __syncthreads();
    for (unsigned entry = threadIdx.x; entry < HILBERT_ENTRIES; entry += blockDim.x) {
        unsigned state = entry / HILBERT_PATHS, digits = 0;
#pragma unroll
        for (int bit = 2; bit >= 0; --bit) {
            const unsigned path = entry >> bit;
            const unsigned step = steps[state << 3 | (path >> 4 & 4u) | (path >> 2 & 2u) | (path & 1u)];
            digits = digits << 3 | (step & 7u);
            state = step >> 3;
        }
        table[entry] = static_cast<unsigned short>(state << 10 | digits);
    }
}

// Cell coordinate of a position, in double precision as on the host: clamped to the box; NaN maps to 0.
__device__ __forceinline__ unsigned hilbert_cell(double coordinate, double lower, double scale) {
    constexpr double LAST = double((1u << HILBERT_LEVELS) - 1u);
    double cell = (coordinate - lower) * scale;
    cell = cell > 0.0 ? cell : 0.0;
    cell = cell < LAST ? cell : LAST;
    return static_cast<unsigned>(static_cast<int>(cell));
}

// Key of a cell. Floor: 7 dependent lookups, about 11 instructions each.
__device__ __forceinline__ unsigned long long hilbert_key(const unsigned short* table, unsigned x, unsigned y,
                                                          unsigned z) {
    const char* bytes = reinterpret_cast<const char*>(table);
    unsigned state = 0, digits[3] = {0, 0, 0};
    // Shifted by one, so that all shifts of x have the same direction and offsets are in bytes.
    x <<= 1, y <<= 1, z <<= 1;
#pragma unroll
    for (int look = 0; look < 7; ++look) {
        const int first = 18 - 3 * look;
        const unsigned in_x = (first >= 6 ? x >> (first - 6) : x << (6 - first)) & 0x380u;
        const unsigned in_y = (first >= 3 ? y >> (first - 3) : y << (3 - first)) & 0x070u;
        const unsigned in_z = (z >> first) & 0x00eu;
        const unsigned entry = *reinterpret_cast<const unsigned short*>(bytes + (state | in_x | in_y | in_z));
        digits[look / 3] = digits[look / 3] << 9 | (entry & 0x1ffu);
        state = entry & 0xfc00u;
    }
    return static_cast<unsigned long long>(digits[0]) << 36 | static_cast<unsigned long long>(digits[1]) << 9 |
           digits[2];
}

} // namespace hilbrium
