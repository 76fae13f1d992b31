// Shared-memory layout of positions without bank conflicts.
#pragma once

#include "../pair/law.cuh"

namespace hilbrium {
namespace pair {

// Unit of access of a lane: a Real4 in single precision, half of one in double precision.
constexpr unsigned PIECE = 16 / sizeof(Real), PIECES = 4 / PIECE;
struct alignas(16) Piece {
    Real values[PIECE];
};

// Array of Real4 in shared memory. With `APART`, for several lanes reading different elements in double
// precision, first and second halves are stored separately, so that reads of first halves use all banks
// instead of every other group of four. The second halves are offset by half of the banks, so that both
// halves of four adjacent elements can be written at once.
template <unsigned COUNT, bool APART = (PIECES > 1)> struct Scattered {
    Real4 values[COUNT];
    __device__ __forceinline__ Real4 operator[](unsigned place) const { return values[place]; }
    __device__ __forceinline__ void write(unsigned place, Real4 value) { values[place] = value; }
    // Writes piece `which` of an element.
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
