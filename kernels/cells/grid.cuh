// Cells of a grid (src/device/cells): x is contiguous, so that neighbor cells along x are one range of the
// particles.
#pragma once

#include "../device.cuh"
#include "../arguments/cells_cells.cuh"
#include "../motion/wrap.cuh"

namespace hilbrium {
namespace cells {

// No cell, no particle.
constexpr unsigned NONE = ~0u;

__device__ __forceinline__ bool is_periodic(const CellGrid& grid, int d) {
    return (grid.periodic >> d & 1u) != 0u;
}

// A coordinate in the box: particles may have left a periodic box since they were last moved into it.
__device__ __forceinline__ double coordinate_in_box(const CellGrid& grid, int d, double x) {
    return is_periodic(grid, d) ? image_within(x, grid.lower[d], grid.upper[d]) : x;
}

// Index of the cell along a dimension, of a coordinate in the box. Monotonic in x, also beyond the open
// faces, whose particles belong to the outermost cells: particles within one width are in the same or in
// adjacent cells.
__device__ __forceinline__ unsigned cell_along(const CellGrid& grid, int d, double x) {
    const double place = (x - grid.lower[d]) * grid.inverse[d];
    const double last = static_cast<double>(grid.counts[d] - 1u);
    return place > 0.0 ? static_cast<unsigned>(place < last ? place : last) : 0u;
}

// Moves an index from -1 to counts[d] into the grid; returns false beyond an open face.
__device__ __forceinline__ bool wrap(const CellGrid& grid, int d, int& index) {
    const int count = static_cast<int>(grid.counts[d]);
    if (index >= 0 && index < count) { return true; }
    index += index < 0 ? count : -count;
    return is_periodic(grid, d);
}

// Index of the first cell of a row along x.
__device__ __forceinline__ unsigned row_of_cells(const CellGrid& grid, int y, int z) {
    return (static_cast<unsigned>(z) * grid.counts[1] + static_cast<unsigned>(y)) * grid.counts[0];
}

// Coordinates of a cell.
struct Place {
    int x, y, z;
};

__device__ __forceinline__ Place place_of(const CellGrid& grid, unsigned cell) {
    const unsigned row = cell / grid.counts[0];
    return {static_cast<int>(cell % grid.counts[0]), static_cast<int>(row % grid.counts[1]),
            static_cast<int>(row / grid.counts[1])};
}

// Number of sub-boxes along a dimension.
__device__ __forceinline__ unsigned boxes_along(const CellGrid& grid, const unsigned* shape, int d) {
    return (grid.counts[d] + shape[d] - 1u) / shape[d];
}

// A sub-box of cells: its first cell, and its cells along each dimension, fewer at the upper faces.
struct SubBox {
    int first[3];
    int cells[3];
};

__device__ __forceinline__ SubBox sub_box(const CellGrid& grid, const unsigned* shape, unsigned number) {
    SubBox box;
#pragma unroll
    for (int d = 0; d < 3; ++d) {
        const unsigned along = boxes_along(grid, shape, d);
        const unsigned first = number % along * shape[d];
        number /= along;
        box.first[d] = static_cast<int>(first);
        box.cells[d] = static_cast<int>(smaller(shape[d], grid.counts[d] - first));
    }
    return box;
}

}  // namespace cells
}  // namespace hilbrium
