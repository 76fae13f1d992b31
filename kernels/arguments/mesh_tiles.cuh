// Printed from src/device/arguments: change it there, then run
// HILBRIUM_PRINT=1 cargo test --test device kernel_arguments
#pragma once

#include "../arguments/layout.cuh"
#include "../arguments/mesh_mesh.cuh"
#include "../pair/real.cuh"

namespace hilbrium {

namespace mesh { struct Record; }

// Spreading by tiles.
struct SpreadTilesArguments {
    // The mesh's shape.
    MeshParameters geometry;
    // The particles.
    BinnedRecords binned;
    // Values of rows.
    const double* values;
    // Number of tiles.
    unsigned tiles;
    // Number of slices of each tile.
    const unsigned* slices;
    // First part of each split tile.
    const unsigned* first_part;
    // Number of parts that have arrived, of each tile, initially 0.
    unsigned* arrived;
    // Tile of each part.
    const unsigned* tile_of_part;
    // Number of parts.
    const unsigned* parts;
    // Sums of parts: 512 per part.
    Real* partial;
    // The mesh.
    Real* sums;
};
HILBRIUM_SIZE(SpreadTilesArguments, 160)
HILBRIUM_OFFSET(SpreadTilesArguments, geometry, 0)
HILBRIUM_OFFSET(SpreadTilesArguments, binned, 64)
HILBRIUM_OFFSET(SpreadTilesArguments, values, 88)
HILBRIUM_OFFSET(SpreadTilesArguments, tiles, 96)
HILBRIUM_OFFSET(SpreadTilesArguments, slices, 104)
HILBRIUM_OFFSET(SpreadTilesArguments, first_part, 112)
HILBRIUM_OFFSET(SpreadTilesArguments, arrived, 120)
HILBRIUM_OFFSET(SpreadTilesArguments, tile_of_part, 128)
HILBRIUM_OFFSET(SpreadTilesArguments, parts, 136)
HILBRIUM_OFFSET(SpreadTilesArguments, partial, 144)
HILBRIUM_OFFSET(SpreadTilesArguments, sums, 152)

}  // namespace hilbrium

extern "C" __global__ void spread_tiles(
    const __grid_constant__ hilbrium::SpreadTilesArguments args);
