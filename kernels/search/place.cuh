// Rows packed in the order of cells, and what searches do with a pair and with a particle's sums.
#pragma once

#include "../device.cuh"
#include "../pair/law.cuh"
#include "../pair/scattered.cuh"
#include "../search/grid.cuh"

namespace hilbrium {
namespace search {

using namespace pair;

// Whether the last Real of a position is free and holds the row.
constexpr bool ROW_INSIDE = PREPARED == 0 && CUTOFF != Cutoff::EITHER;

// A row as the last Real of a position, and back.
__device__ __forceinline__ Real real_of_row(unsigned row) {
    if constexpr (sizeof(Real) == 4) {
        return __uint_as_float(row);
    } else {
        return __longlong_as_double(static_cast<long long>(row));
    }
}
__device__ __forceinline__ unsigned row_of_real(Real real) {
    if constexpr (sizeof(Real) == 4) {
        return __float_as_uint(real);
    } else {
        return static_cast<unsigned>(__double_as_longlong(real));
    }
}

// Row of a place.
__device__ __forceinline__ unsigned row_of(const Places& places, Real4 first, unsigned place) {
    return ROW_INSIDE ? row_of_real(first.w) : places.row[place];
}

// Packs a row at a place; `offset` is its position relative to the center of its cell.
__device__ __forceinline__ void pack_row(const SearchColumns& columns, const Places& to,
    unsigned long long row, unsigned place, const double (&offset)[3]) {
    double radius = 0.0;
    if (CUTOFF != Cutoff::COMMON) { radius = larger(columns.radius[row], 0.0); }
    const Real square = static_cast<Real>(radius) * static_cast<Real>(radius);
    Real values[4 * GROUPS + 4] = {};
    if constexpr (PREPARED > 0) {
        Input input{};
        Real* members = reinterpret_cast<Real*>(&input);
        for (int c = 0; c < INPUTS; ++c) { members[c] = static_cast<Real>(columns.inputs[c][row]); }
        const Pair own = prepared(constants(), input);
        const Real* found = reinterpret_cast<const Real*>(&own);
        for (int c = 0; c < PREPARED; ++c) { values[c] = found[c]; }
    }
    const unsigned number = static_cast<unsigned>(row);
    const Real last = ROW_INSIDE ? real_of_row(number) : FIRST_WITH_POSITION ? values[0] : square;
    to.position[place] = {
        static_cast<Real>(offset[0]), static_cast<Real>(offset[1]), static_cast<Real>(offset[2]), last};
    if (!ROW_INSIDE) { to.row[place] = number; }
    if constexpr (CUTOFF == Cutoff::OWN) { to.squared_radius[place] = square; }
    constexpr int SKIP = FIRST_WITH_POSITION ? 1 : 0;
    for (int group = 0; group < GROUPS; ++group) {
        const Real* four = values + SKIP + 4 * group;
        to.further[static_cast<unsigned long long>(group) * to.count + place] = {
            four[0], four[1], four[2], four[3]};
    }
}

// Prepared values of a particle from its position's Real4 and its place.
__device__ __forceinline__ Pair values_of(const Places& places, Real4 first, unsigned place) {
    Pair own{};
    if constexpr (PREPARED > 0) {
        Real* members = reinterpret_cast<Real*>(&own);
        constexpr int SKIP = FIRST_WITH_POSITION ? 1 : 0;
        if (FIRST_WITH_POSITION) { members[0] = first.w; }
#pragma unroll
        for (int group = 0; group < GROUPS; ++group) {
            const Real4 four = places.further[static_cast<unsigned long long>(group) * places.count + place];
            const Real numbers[4] = {four.x, four.y, four.z, four.w};
#pragma unroll
            for (int c = 0; c < 4; ++c) {
                if (SKIP + 4 * group + c < PREPARED) { members[SKIP + 4 * group + c] = numbers[c]; }
            }
        }
    }
    return own;
}

// A particle and the sums of its pairs.
struct Target {
    Real4 own;
    Pair values;
    Real squared_reach;
    Real sums[SUM_COUNT];

    __device__ __forceinline__ void begin(
        const Places& places, const SearchSums& args, Real4 first, unsigned place) {
        own = first;
        values = values_of(places, first, place);
        const Real limit = static_cast<Real>(args.cutoff);
        squared_reach = CUTOFF == Cutoff::COMMON ? limit * limit
                        : CUTOFF == Cutoff::OWN  ? places.squared_radius[place]
                                                 : first.w;
#pragma unroll
        for (int s = 0; s < SUM_COUNT; ++s) { sums[s] = neutral_element(s); }
    }

    __device__ __forceinline__ bool within(Real r2, Real4 other) const {
        return r2 < (CUTOFF == Cutoff::EITHER ? max(squared_reach, other.w) : squared_reach);
    }

    // The function for each neighbor: adds the pair with the particle `other` at `place`.
    __device__ __forceinline__ void add(const Places& places, Real4 other, unsigned place, Vec3 r, Real r2) {
        const Sums pair = pair_contribution(constants(), values, values_of(places, other, place), r, r2);
        const Real* added = reinterpret_cast<const Real*>(&pair) + FIRST_SUM;
#pragma unroll
        for (int s = 0; s < SUM_COUNT; ++s) { sums[s] = combine(s, sums[s], added[s]); }
    }

    // Writes the sums of a row for the function at the end, `finish` (kernels/pair/finish.cu).
    __device__ __forceinline__ void end(const SearchSums& args, unsigned row) const {
        Real total[SUM_STRIDE] = {};
#pragma unroll
        for (int s = 0; s < SUM_COUNT; ++s) { total[s] = sums[s]; }
        Real* to = args.sums + static_cast<unsigned long long>(row) * SUM_STRIDE;
        if constexpr (SUM_STRIDE % PIECE == 0) {
#pragma unroll
            for (int s = 0; s < SUM_STRIDE; s += PIECE) {
                Piece piece;
#pragma unroll
                for (unsigned c = 0; c < PIECE; ++c) { piece.values[c] = total[s + c]; }
                *reinterpret_cast<Piece*>(to + s) = piece;
            }
        } else {
#pragma unroll
            for (int s = 0; s < SUM_COUNT; ++s) { to[s] = total[s]; }
        }
    }
};

// Whether the sums of a row are wanted.
__device__ __forceinline__ bool is_wanted(const SearchSums& args, unsigned row) {
    return row >= args.begin && row < args.end && (args.active == nullptr || args.active[row] != 0);
}

// Sums of a row that is in no cell.
__device__ __forceinline__ void write_neutral(Real* sums, unsigned long long row) {
#pragma unroll
    for (int s = 0; s < SUM_COUNT; ++s) { sums[row * SUM_STRIDE + s] = neutral_element(s); }
}

}  // namespace search
}  // namespace hilbrium
