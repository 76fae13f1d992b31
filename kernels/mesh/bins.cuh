// Bins of particles: columns of 8 x 8 cells in x and y, cut into layers of one cell in z. Bins are numbered
// by x, then y, then z; the records of a bin, and of consecutive layers of a column, are consecutive.
#pragma once

#include "../mesh/mesh.cuh"

namespace hilbrium {
namespace mesh {

// Number of tiles of a dimension, and of bins of x or y.
__device__ __forceinline__ unsigned tiles_along(unsigned points) { return (points + TILE - 1u) / TILE; }

// First bin of a column.
__device__ __forceinline__ unsigned column_of(
    const MeshParameters& geometry, unsigned bin_x, unsigned bin_y) {
    return (bin_x * tiles_along(geometry.points[1]) + bin_y) * geometry.points[2];
}

__device__ __forceinline__ unsigned bin_of(const MeshParameters& geometry, const Record& record) {
    return column_of(geometry, record.along(0) >> TILE_BITS, record.along(1) >> TILE_BITS) + record.along(2);
}

// A tile: 8 x 8 x 8 mesh points, fewer at the upper end of the mesh.
struct Tile {
    // First point and number of points.
    unsigned first[3], width[3];
};

// Tiles are numbered by x, then y, then z.
__device__ __forceinline__ Tile tile_at(const MeshParameters& geometry, unsigned number) {
    const unsigned tiles_y = tiles_along(geometry.points[1]), tiles_z = tiles_along(geometry.points[2]);
    const unsigned of[3] = {number / (tiles_y * tiles_z), number / tiles_z % tiles_y, number % tiles_z};
    Tile tile;
#pragma unroll
    for (unsigned d = 0; d < 3; ++d) {
        tile.first[d] = of[d] * TILE;
        tile.width[d] = smaller(TILE, geometry.points[d] - tile.first[d]);
    }
    return tile;
}

// Cells of a dimension whose particles reach a tile of this width: those of the tile and p - 1 more.
__device__ __forceinline__ unsigned reach_of(unsigned width) { return width + ORDER - 1u; }

// Records of one column that may reach a tile.
struct Range {
    // First record and number of records.
    unsigned first, length;
    // A cell's offset from the tile's first point is its position in the bin (x, y) or its number (z) plus
    // this.
    int shift[3];
};

// At most three bins of x and y and two ranges of z have cells that reach a tile: its own, the next one, and
// the first one behind the upper end of the mesh.
constexpr unsigned SEGMENTS = 3;
constexpr unsigned RANGES = SEGMENTS * SEGMENTS * 2u;

// Bin `segment` of a dimension and the offset of its first cell from the tile's first point. Returns false if
// the tile has fewer segments.
__device__ __forceinline__ bool segment_of(
    unsigned points, unsigned first, unsigned width, unsigned segment, unsigned& bin, int& shift) {
    bin = first >> TILE_BITS;
    unsigned offset = 0;
    for (unsigned k = 0; k < segment; ++k) {
        const unsigned start = bin * TILE;
        offset += smaller(TILE, points - start);
        bin = start + TILE < points ? bin + 1u : 0u;
    }
    shift = static_cast<int>(offset);
    return offset < reach_of(width);
}

// Range `number` below RANGES of a tile; without records if there are fewer.
__device__ __forceinline__ Range range_of(
    const MeshParameters& geometry, const unsigned long long* starts, const Tile& tile, unsigned number) {
    Range range{0u, 0u, {0, 0, 0}};
    unsigned bin_x, bin_y;
    const bool has_x = segment_of(
        geometry.points[0], tile.first[0], tile.width[0], number / (2u * SEGMENTS), bin_x, range.shift[0]);
    const bool has_y = segment_of(
        geometry.points[1], tile.first[1], tile.width[1], number / 2u % SEGMENTS, bin_y, range.shift[1]);
    const unsigned points = geometry.points[2], end = tile.first[2] + reach_of(tile.width[2]);
    const bool wrapped = number % 2u != 0u;
    if (number >= RANGES || !has_x || !has_y || (wrapped && end <= points)) { return range; }
    const unsigned long long* const column = starts + column_of(geometry, bin_x, bin_y);
    const unsigned from = wrapped ? 0u : tile.first[2], to = wrapped ? end - points : smaller(end, points);
    range.first = static_cast<unsigned>(column[from]);
    range.length = static_cast<unsigned>(column[to]) - range.first;
    range.shift[2] = static_cast<int>(wrapped ? points : 0u) - static_cast<int>(tile.first[2]);
    return range;
}

// Points per dimension that the cells of a tile reach, as a block in shared memory whose lines along z have
// an odd stride, which spreads them over the banks.
constexpr unsigned PADDED = TILE + ORDER - 1u;
constexpr unsigned STRIDE = PADDED | 1u;

// The run of a record: the records behind it in up to eight layers of its column. Returns its end, and the
// first cell of column and layers.
__device__ __forceinline__ unsigned end_of_run(
    const MeshParameters& geometry, const unsigned long long* starts, const Record& record,
    unsigned (&cell)[3]) {
    cell[0] = record.along(0) & ~(TILE - 1u);
    cell[1] = record.along(1) & ~(TILE - 1u);
    cell[2] = record.along(2);
    const unsigned column = column_of(geometry, cell[0] >> TILE_BITS, cell[1] >> TILE_BITS);
    return static_cast<unsigned>(starts[column + smaller(cell[2] + TILE, geometry.points[2])]);
}

// Mesh point `number` of the PADDED^3 points that the cells from `cell` on reach. Returns false for points
// that only cells beyond the mesh reach.
__device__ __forceinline__ bool padded_point(
    const MeshParameters& geometry, const unsigned (&cell)[3], unsigned number, unsigned& point) {
    const unsigned at[3] = {number / (PADDED * PADDED), number / PADDED % PADDED, number % PADDED};
    unsigned of[3];
#pragma unroll
    for (unsigned d = 0; d < 3; ++d) {
        const int along = static_cast<int>(cell[d] + at[d]) - (ORDER - 1);
        const int points = static_cast<int>(geometry.points[d]);
        if (along >= points) { return false; }
        of[d] = static_cast<unsigned>(along < 0 ? along + points : along);
    }
    point = index_of(geometry, of[0], of[1], of[2]);
    return true;
}

// Place of that point in shared memory.
__device__ __forceinline__ unsigned padded_place(unsigned number) {
    return number / PADDED * STRIDE + number % PADDED;
}

} // namespace mesh
} // namespace hilbrium
