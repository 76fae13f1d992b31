// Positions in shared memory.
#pragma once

#include "../pair/law.cuh"

namespace hilbrium {
namespace pair {

// What a lane reads or writes at once: a Real4, or half of one.
constexpr unsigned PIECE = 16 / sizeof(Real), PIECES = 4 / PIECE;
struct alignas(16) Piece {
    Real values[PIECE];
};

// Real4s in shared memory; halves of them `APART`, where lanes read several at once in double precision: what they read
// first is then spread over all banks, not over every other four. From the first half of a place to the second it is
// half as many banks more, so that both, and those of the three places beside it, can be written at once.
template <unsigned COUNT, bool APART = (PIECES > 1)> struct Scattered {
    Real4 values[COUNT];
    __device__ __forceinline__ Real4 operator[](unsigned place) const { return values[place]; }
    __device__ __forceinline__ void write(unsigned place, Real4 value) { values[place] = value; }
    // Of a Real4 that is one piece, or of its halves the one that is asked for.
    __device__ __forceinline__ void write_piece(unsigned place, unsigned which, Piece value) {
        reinterpret_cast<Piece*>(values)[PIECES * place + which] = value;
    }
};
template <unsigned COUNT> struct Scattered<COUNT, true> {
    static constexpr unsigned SECOND = (COUNT + 7) / 8 * 8 + 4;
    Piece pieces[SECOND + COUNT];
    __device__ __forceinline__ Real4 operator[](unsigned place) const {
        const Piece first = pieces[place], second = pieces[SECOND + place];
        return {first.values[0], first.values[1], second.values[0], second.values[1]};
    }
    __device__ __forceinline__ void write(unsigned place, Real4 value) {
        pieces[place] = {{value.x, value.y}};
        pieces[SECOND + place] = {{value.z, value.w}};
    }
    __device__ __forceinline__ void write_piece(unsigned place, unsigned which, Piece value) {
        pieces[SECOND * which + place] = value;
    }
};

}  // namespace pair
}  // namespace hilbrium
