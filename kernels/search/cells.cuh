// The search of 27 cells of a grid in memory, common to the counting and the sorted grid.
#pragma once

#include "../search/place.cuh"

namespace hilbrium {
namespace search {

// Consecutive places of up to three adjacent cells along x: [begin, second), [second, third), [third, end).
struct Run {
    unsigned begin, second, third, end;
};

// Adds the neighbors of the particle at `place` that are in a run. `first_step` is the step along x from the
// particle's cell to the first one of the run, `y` and `z` are the distances of the cells; `own_line`: both
// are 0.
__device__ __forceinline__ void add_run(Target& target, const Places& places, unsigned place, bool own_line,
    Run run, int first_step, Real width, Real y, Real z) {
    for (unsigned at = run.begin; at < run.end; ++at) {
        const Real4 other = places.position[at];
        const int step = first_step + (at >= run.second ? 1 : 0) + (at >= run.third ? 1 : 0);
        const Vec3 r = {target.own.x - (other.x + width * static_cast<Real>(step)),
            target.own.y - (other.y + y), target.own.z - (other.z + z)};
        const Real r2 = dot(r, r);
        if (!target.within(r2, other) || (own_line && step == 0 && at == place)) { continue; }
        target.add(places, other, at, r, r2);
    }
}

// Adds all neighbors of a particle in cell number `cell`. `run_of(first, count)` returns the run of `count`
// cells from number `first` on.
template <class RunOf>
__device__ __forceinline__ void search_cells(Target& target, const Places& places, const SearchGrid& grid,
                                             unsigned place, unsigned cell, RunOf run_of) {
    const unsigned index[3] = {cell % grid.cells[0], cell / grid.cells[0] % grid.cells[1],
                               cell / grid.cells[0] / grid.cells[1]};
    const Real width[3] = {static_cast<Real>(grid.width[0]), static_cast<Real>(grid.width[1]),
                           static_cast<Real>(grid.width[2])};
    const bool at_left = index[0] == 0, at_right = index[0] + 1u == grid.cells[0];
    const bool wraps = (grid.periodic & 1u) != 0u && (at_left || at_right);
    // the cells of a line in one piece, or one by one where a line wraps
    const int pieces = wraps ? 3 : 1;
    const unsigned from = at_left ? 0u : index[0] - 1u, to = at_right ? index[0] : index[0] + 1u;
#pragma unroll 1
    for (int line = 0; line < 9; ++line) {
        const int y = line % 3 - 1, z = line / 3 - 1;
        const unsigned row = neighbor_index(grid, 1, index[1], y),
                       layer = neighbor_index(grid, 2, index[2], z);
        if (row == NOWHERE || layer == NOWHERE) { continue; }
        const unsigned base = (layer * grid.cells[1] + row) * grid.cells[0];
        const bool own_line = y == 0 && z == 0;
#pragma unroll 1
        for (int piece = 0; piece < pieces; ++piece) {
            const int step = wraps ? piece - 1 : at_left ? 0 : -1;
            const unsigned first = wraps ? neighbor_index(grid, 0, index[0], step) : from;
            const unsigned count = wraps ? 1u : to - from + 1u;
            add_run(target, places, place, own_line, run_of(base + first, count), step, width[0],
                    width[1] * static_cast<Real>(y), width[2] * static_cast<Real>(z));
        }
    }
}

}  // namespace search
}  // namespace hilbrium
