// Grids of cells for neighbor searches.
#pragma once

#include "../device.cuh"
#include "../arguments/search_grid.cuh"
#include "../motion/wrap.cuh"

namespace hilbrium {
namespace search {

// Cell of rows that take part in no pair: ghosts, and positions that are not finite.
constexpr unsigned NOWHERE = 0xffffffffu;

// Sections of a coarse cell, by the number of dimensions in which a particle is within reach of a face: three
// (corners), two (edges), one, none (inner). A neighbor cell that shares a corner needs the first section,
// one that shares an edge the first two, one that shares a face the first three, the border.
constexpr unsigned SECTIONS = 4;

// A cell and a position relative to its center.
struct Located {
    unsigned index[3];
    double offset[3];
};

// Reads the position of a row. Returns false for rows without a cell.
__device__ __forceinline__ bool read_position(
    const SearchRows& rows, unsigned long long row, double (&x)[3]) {
    if (row >= rows.count || (rows.id != nullptr && rows.id[row] == GHOST)) { return false; }
    bool finite = true;
#pragma unroll
    for (int d = 0; d < 3; ++d) {
        x[d] = rows.position[d][row];
        finite = finite && x[d] - x[d] == 0.0;
    }
    return finite;
}

// The cell of a position. Along periodic dimensions it is that of the position's image in the box, which a
// particle may have left since it was last moved into it. Positions beyond open faces are in the cells there:
// numbers of cells differ no more than positions do, which is all that a search needs.
__device__ __forceinline__ Located locate(const SearchGrid& grid, const double (&x)[3]) {
    Located own;
#pragma unroll
    for (int d = 0; d < 3; ++d) {
        const bool periodic = (grid.periodic >> d & 1u) != 0u;
        const double inside = periodic ? image_within(x[d], grid.lower[d], grid.upper[d]) : x[d];
        const double from = inside - grid.lower[d], last = static_cast<double>(grid.cells[d] - 1u);
        const double whole = smaller(larger(::floor(from * grid.scale[d]), 0.0), last);
        own.index[d] = static_cast<unsigned>(whole);
        own.offset[d] = from - (whole + 0.5) * grid.width[d];
    }
    return own;
}

__device__ __forceinline__ unsigned cell_number(const SearchGrid& grid, const unsigned (&index)[3]) {
    return (index[2] * grid.cells[1] + index[1]) * grid.cells[0] + index[0];
}

__device__ __forceinline__ unsigned cell_count(const SearchGrid& grid) {
    return grid.cells[0] * grid.cells[1] * grid.cells[2];
}

// The neighbor of a cell in one dimension, or NOWHERE beyond an open face.
__device__ __forceinline__ unsigned neighbor_index(const SearchGrid& grid, int d, unsigned index, int step) {
    const unsigned cells = grid.cells[d];
    const int wanted = static_cast<int>(index) + step;
    if (wanted >= 0 && wanted < static_cast<int>(cells)) { return static_cast<unsigned>(wanted); }
    if ((grid.periodic >> d & 1u) == 0u) { return NOWHERE; }
    return wanted < 0 ? cells - 1u : 0u;
}

// The section of a particle of a coarse cell.
__device__ __forceinline__ unsigned section_of(const SearchGrid& grid, const Located& own, double reach) {
    unsigned near = 0;
#pragma unroll
    for (int d = 0; d < 3; ++d) { near += ::fabs(own.offset[d]) >= 0.5 * grid.width[d] - reach ? 1u : 0u; }
    return SECTIONS - 1u - near;
}

}  // namespace search
}  // namespace hilbrium
