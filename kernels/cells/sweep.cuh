// Pairs of particles in neighboring cells: full sums of each target, without Newton's third law, in an order
// that depends on the particles alone. Positions are offsets from the centers of their cells. A target moves
// by whole cells into the frame of a neighbor cell, also across periodic faces, so that offsets stay small.
#pragma once

#include "../cells/grid.cuh"
#include "../pair/law.cuh"
#include "../pair/scattered.cuh"

namespace hilbrium {
namespace cells {

using namespace pair;

// Whether all pairs of neighboring cells are evaluated, whatever their distance: for comparisons with the
// figures of a paper only.
#ifndef HILBRIUM_ALL_PAIRS
#define HILBRIUM_ALL_PAIRS 0
#endif

// Whether pairs out of range are skipped by a branch: for laws with more loads or long evaluations.
#ifndef HILBRIUM_SKIPS
#define HILBRIUM_SKIPS (GROUPS > 0 || SUM_COUNT > 4)
#endif

// Threads of a block of the strategies with fixed blocks.
constexpr unsigned CELL_THREADS = 128;

// Particles in global memory, and in shared memory from number `first` on.
struct GlobalSource {
    const Real4* position;
    const Real4* further;
    unsigned long long stride;
    __device__ __forceinline__ Real4 at(unsigned place) const { return position[place]; }
    __device__ __forceinline__ Real4 group(int group, unsigned place) const {
        return further[group * stride + place];
    }
};
struct SharedSource {
    const Real4* stage;  // [1 + GROUPS][capacity]
    unsigned capacity;
    __device__ __forceinline__ Real4 at(unsigned place) const { return stage[place]; }
    __device__ __forceinline__ Real4 group(int group, unsigned place) const {
        return stage[(group + 1u) * capacity + place];
    }
};

// Prepared values of a particle from its first Real4 and its further ones.
template <class Source>
__device__ __forceinline__ Pair values_of(const Source& source, Real4 first, unsigned place) {
    Pair own{};
    if constexpr (PREPARED > 0) {
        Real* members = reinterpret_cast<Real*>(&own);
        constexpr int SKIP = FIRST_WITH_POSITION ? 1 : 0;
        if (FIRST_WITH_POSITION) { members[0] = first.w; }
#pragma unroll
        for (int group = 0; group < GROUPS; ++group) {
            const Real4 four = source.group(group, place);
            const Real numbers[4] = {four.x, four.y, four.z, four.w};
#pragma unroll
            for (int c = 0; c < 4; ++c) {
                if (SKIP + 4 * group + c < PREPARED) { members[SKIP + 4 * group + c] = numbers[c]; }
            }
        }
    }
    return own;
}

// Widths of a cell in the precision of pairs.
__device__ __forceinline__ Vec3 widths(const CellGrid& grid) {
    return {
        static_cast<Real>(grid.width[0]), static_cast<Real>(grid.width[1]), static_cast<Real>(grid.width[2])};
}

// A particle and the sums of its pairs.
struct Target {
    Vec3 position;
    Pair values;
    Real squared_reach;
    unsigned number;  // its own, among all particles
    Place cell;
    Real sums[SUM_COUNT];

    // Adds the pairs with particles [begin, end) of a source, for the target at `at` in their frame. `self`
    // is the target's own number in the source, or NONE.
    template <class Source>
    __device__ __forceinline__ void take(const Source& source, Vec3 at, unsigned begin, unsigned end,
                                         unsigned self) {
#pragma unroll 2
        for (unsigned j = begin; j < end; ++j) {
            const Real4 other = source.at(j);
            const Vec3 r = {at.x - other.x, at.y - other.y, at.z - other.z};
            const Real r2 = dot(r, r);
            const Real reach = CUTOFF == Cutoff::EITHER ? max(squared_reach, other.w) : squared_reach;
            const bool within = (HILBRIUM_ALL_PAIRS || r2 < reach) && j != self;
            if (HILBRIUM_SKIPS && !within) { continue; }
            const Sums added = pair_contribution(constants(), values, values_of(source, other, j), r, r2);
            const Real* members = reinterpret_cast<const Real*>(&added) + FIRST_SUM;
#pragma unroll
            for (int s = 0; s < SUM_COUNT; ++s) {
                sums[s] = within ? combine(s, sums[s], members[s]) : sums[s];
            }
        }
    }

    // Position in the frame of the cell that is (dx, dy, dz) cells away.
    __device__ __forceinline__ Vec3 moved(Vec3 width, int dx, int dy, int dz) const {
        return {position.x - static_cast<Real>(dx) * width.x, position.y - static_cast<Real>(dy) * width.y,
                position.z - static_cast<Real>(dz) * width.z};
    }
};

__device__ __forceinline__ GlobalSource global_source(const CellPass& pass) {
    return {pass.particles.position, pass.particles.further, pass.particles.stride};
}

// Whether the sums of a particle are wanted.
__device__ __forceinline__ bool is_wanted(const CellPass& pass, unsigned number) {
    const unsigned row = pass.particles.rows[number];
    return row >= pass.begin && row < pass.end && (pass.active == nullptr || pass.active[row] != 0);
}

__device__ __forceinline__ Target target_of(const CellPass& pass, unsigned number) {
    const GlobalSource source = global_source(pass);
    const Real4 first = source.at(number);
    const Real limit = static_cast<Real>(pass.cutoff);
    Target target;
    target.position = {first.x, first.y, first.z};
    target.values = values_of(source, first, number);
    target.squared_reach = CUTOFF == Cutoff::COMMON ? limit * limit
                           : CUTOFF == Cutoff::OWN  ? pass.particles.squared_radius[number]
                                                    : first.w;
    target.number = number;
    target.cell = place_of(pass.grid, pass.particles.cells[number]);
#pragma unroll
    for (int s = 0; s < SUM_COUNT; ++s) { target.sums[s] = neutral_element(s); }
    return target;
}

// Calls act(dx, dy, dz, cell) for the neighbor cells of a cell, itself among them, that are in the grid.
template <class Act>
__device__ __forceinline__ void for_neighbor_cells(const CellGrid& grid, Place at, Act act) {
#pragma unroll 1
    for (int dz = -1; dz <= 1; ++dz) {
        int z = at.z + dz;
        if (!wrap(grid, 2, z)) { continue; }
#pragma unroll 1
        for (int dy = -1; dy <= 1; ++dy) {
            int y = at.y + dy;
            if (!wrap(grid, 1, y)) { continue; }
            const unsigned row = row_of_cells(grid, y, z);
#pragma unroll 1
            for (int dx = -1; dx <= 1; ++dx) {
                int x = at.x + dx;
                if (wrap(grid, 0, x)) { act(dx, dy, dz, row + static_cast<unsigned>(x)); }
            }
        }
    }
}

// Adds the pairs with all neighbor cells, in global memory.
__device__ __forceinline__ void take_neighbor_cells(const CellPass& pass, Target& target) {
    const GlobalSource source = global_source(pass);
    const Vec3 width = widths(pass.grid);
    for_neighbor_cells(pass.grid, target.cell, [&](int dx, int dy, int dz, unsigned cell) {
        const unsigned begin = pass.particles.starts[cell], end = pass.particles.starts[cell + 1];
        target.take(source, target.moved(width, dx, dy, dz), begin, end, target.number);
    });
}

// Writes the sums of a target, with the padding between rows, so that whole memory sectors are written.
__device__ __forceinline__ void write_sums(const CellPass& pass, const Target& target) {
    Real total[SUM_STRIDE] = {};
#pragma unroll
    for (int s = 0; s < SUM_COUNT; ++s) { total[s] = target.sums[s]; }
    Real* const to =
        pass.sums + static_cast<unsigned long long>(pass.particles.rows[target.number]) * SUM_STRIDE;
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

// Copies particle `number` to element `place` of a stage in shared memory.
__device__ __forceinline__ void stage_particle(const GlobalSource& source, unsigned number, Real4* stage,
                                               unsigned capacity, unsigned place) {
    stage[place] = source.at(number);
#pragma unroll
    for (int group = 0; group < GROUPS; ++group) {
        stage[(group + 1u) * capacity + place] = source.group(group, number);
    }
}

// The task of this block; the same for all its threads.
struct Task {
    bool there;
    SubBox box;
    unsigned slice;  // first particle, among those of the sub-box
};

__device__ __forceinline__ Task task_of(const CellGrid& grid, const CellTasks& tasks) {
    const unsigned number = blockIdx.x;
    if (number >= *tasks.count) { return {false, {}, 0}; }
    return {true, sub_box(grid, tasks.shape, tasks.boxes[number]), tasks.slices[number] * tasks.slice};
}

// Number, among all, of particle `place` of a sub-box, whose rows of cells follow each other; NONE beyond the
// last one.
__device__ __forceinline__ unsigned particle_of(const CellPass& pass, const SubBox& box, unsigned place) {
    for (int z = box.first[2]; z < box.first[2] + box.cells[2]; ++z) {
        for (int y = box.first[1]; y < box.first[1] + box.cells[1]; ++y) {
            const unsigned first = row_of_cells(pass.grid, y, z) + static_cast<unsigned>(box.first[0]);
            const unsigned begin = pass.particles.starts[first];
            const unsigned count = pass.particles.starts[first + static_cast<unsigned>(box.cells[0])] - begin;
            if (place < count) { return begin + place; }
            place -= count;
        }
    }
    return NONE;
}

// The particles of a row of cells about a sub-box, at (y, z) beside or in it: the cell below its first one,
// its own cells, and the cell above its last one; each is one range of the particles, and together they are
// numbered from 0.
struct RowOfBox {
    unsigned row;       // first cell of the row in the grid
    unsigned begin[3];  // of the ranges
    unsigned count[3];

    __device__ __forceinline__ unsigned total() const { return count[0] + count[1] + count[2]; }
    // Number of the first particle of a range within the row.
    __device__ __forceinline__ unsigned offset(int part) const {
        return part == 0 ? 0u : part == 1 ? count[0] : count[0] + count[1];
    }
    // Number, among all, of particle `place` of the row.
    __device__ __forceinline__ unsigned particle(unsigned place) const {
        if (place < count[0]) { return begin[0] + place; }
        place -= count[0];
        if (place < count[1]) { return begin[1] + place; }
        return begin[2] + (place - count[1]);
    }
};

__device__ __forceinline__ RowOfBox row_of_box(const CellPass& pass, const SubBox& box, int y, int z) {
    RowOfBox row = {0, {0, 0, 0}, {0, 0, 0}};
    if (!wrap(pass.grid, 1, y) || !wrap(pass.grid, 2, z)) { return row; }
    const unsigned* const starts = pass.particles.starts;
    row.row = row_of_cells(pass.grid, y, z);
    int below = box.first[0] - 1, above = box.first[0] + box.cells[0];
    const unsigned first = row.row + static_cast<unsigned>(box.first[0]);
    row.begin[1] = starts[first];
    row.count[1] = starts[first + static_cast<unsigned>(box.cells[0])] - row.begin[1];
    if (wrap(pass.grid, 0, below)) {
        row.begin[0] = starts[row.row + static_cast<unsigned>(below)];
        row.count[0] = starts[row.row + static_cast<unsigned>(below) + 1u] - row.begin[0];
    }
    if (wrap(pass.grid, 0, above)) {
        row.begin[2] = starts[row.row + static_cast<unsigned>(above)];
        row.count[2] = starts[row.row + static_cast<unsigned>(above) + 1u] - row.begin[2];
    }
    return row;
}

// Adds the pairs of a target with the three cells about it of a row, of whose particles, numbered by
// `number_of_part[part] + number among all`, those from `first` on, `count` of them, are in shared memory.
__device__ __forceinline__ void take_row(const CellPass& pass, const SubBox& box, Target& target,
    unsigned row, const unsigned (&number_of_part)[3], int dy, int dz, const SharedSource& source,
    unsigned first, unsigned count) {
    const Vec3 width = widths(pass.grid);
#pragma unroll 1
    for (int dx = -1; dx <= 1; ++dx) {
        int x = target.cell.x + dx;
        const int part = x < box.first[0] ? 0 : x < box.first[0] + box.cells[0] ? 1 : 2;
        if (!wrap(pass.grid, 0, x)) { continue; }
        const unsigned cell = row + static_cast<unsigned>(x);
        const unsigned global_begin = pass.particles.starts[cell],
                       global_end = pass.particles.starts[cell + 1];
        const unsigned shift = part == 0   ? number_of_part[0]
                               : part == 1 ? number_of_part[1]
                                           : number_of_part[2];
        const unsigned begin = larger(global_begin + shift, first),
                       end = smaller(global_end + shift, first + count);
        if (begin >= end) { continue; }
        const bool own = target.number >= global_begin && target.number < global_end;
        const unsigned self = own ? target.number + shift - first : NONE;
        target.take(source, target.moved(width, dx, dy, dz), begin - first, end - first, self);
    }
}

}  // namespace cells
}  // namespace hilbrium
