// Printed from src/device/arguments: change it there, then run
// HILBRIUM_PRINT=1 cargo test --test device kernel_arguments
#pragma once

#include "../arguments/layout.cuh"
#include "../arguments/mesh_mesh.cuh"
#include "../arguments/shared.cuh"

namespace hilbrium {

namespace mesh { struct Record; }

// Records in the order of rows.
struct FindRecordsArguments {
    // Positions.
    const double* position[3];
    // The mesh's shape.
    MeshParameters geometry;
    // The rows.
    Rows rows;
    // The records.
    mesh::Record* records;
};
HILBRIUM_SIZE(FindRecordsArguments, 104)
HILBRIUM_OFFSET(FindRecordsArguments, position, 0)
HILBRIUM_OFFSET(FindRecordsArguments, geometry, 24)
HILBRIUM_OFFSET(FindRecordsArguments, rows, 88)
HILBRIUM_OFFSET(FindRecordsArguments, records, 96)

// Bins of rows and their counts.
struct CountBinsArguments {
    // Positions.
    const double* position[3];
    // The mesh's shape.
    MeshParameters geometry;
    // The rows.
    Rows rows;
    // Number of rows of each bin, initially 0.
    unsigned* counts;
    // Bin of each row.
    unsigned* bins;
    // Rank of each row within its bin.
    unsigned* ranks;
};
HILBRIUM_SIZE(CountBinsArguments, 120)
HILBRIUM_OFFSET(CountBinsArguments, position, 0)
HILBRIUM_OFFSET(CountBinsArguments, geometry, 24)
HILBRIUM_OFFSET(CountBinsArguments, rows, 88)
HILBRIUM_OFFSET(CountBinsArguments, counts, 96)
HILBRIUM_OFFSET(CountBinsArguments, bins, 104)
HILBRIUM_OFFSET(CountBinsArguments, ranks, 112)

// Records by bin and rank.
struct PlaceRecordsArguments {
    // Positions.
    const double* position[3];
    // The mesh's shape.
    MeshParameters geometry;
    // The rows.
    Rows rows;
    // Bin of each row.
    const unsigned* bins;
    // Rank of each row within its bin.
    const unsigned* ranks;
    // First record of each bin.
    const unsigned long long* starts;
    // The records.
    mesh::Record* records;
    // Their rows.
    unsigned* rows_of_records;
};
HILBRIUM_SIZE(PlaceRecordsArguments, 136)
HILBRIUM_OFFSET(PlaceRecordsArguments, position, 0)
HILBRIUM_OFFSET(PlaceRecordsArguments, geometry, 24)
HILBRIUM_OFFSET(PlaceRecordsArguments, rows, 88)
HILBRIUM_OFFSET(PlaceRecordsArguments, bins, 96)
HILBRIUM_OFFSET(PlaceRecordsArguments, ranks, 104)
HILBRIUM_OFFSET(PlaceRecordsArguments, starts, 112)
HILBRIUM_OFFSET(PlaceRecordsArguments, records, 120)
HILBRIUM_OFFSET(PlaceRecordsArguments, rows_of_records, 128)

// Keys of rows for a stable sort.
struct BinKeysArguments {
    // Positions.
    const double* position[3];
    // The mesh's shape.
    MeshParameters geometry;
    // The rows.
    Rows rows;
    // The bin of each row, shifted.
    unsigned long long* keys;
    // Bits by which it is shifted.
    unsigned shift;
};
HILBRIUM_SIZE(BinKeysArguments, 112)
HILBRIUM_OFFSET(BinKeysArguments, position, 0)
HILBRIUM_OFFSET(BinKeysArguments, geometry, 24)
HILBRIUM_OFFSET(BinKeysArguments, rows, 88)
HILBRIUM_OFFSET(BinKeysArguments, keys, 96)
HILBRIUM_OFFSET(BinKeysArguments, shift, 104)

// Records in the order of sorted keys.
struct PlaceSortedArguments {
    // Positions.
    const double* position[3];
    // The mesh's shape.
    MeshParameters geometry;
    // The rows.
    Rows rows;
    // Places of the sorted keys before the sort.
    const unsigned* order;
    // The records.
    mesh::Record* records;
    // Their rows.
    unsigned* rows_of_records;
};
HILBRIUM_SIZE(PlaceSortedArguments, 120)
HILBRIUM_OFFSET(PlaceSortedArguments, position, 0)
HILBRIUM_OFFSET(PlaceSortedArguments, geometry, 24)
HILBRIUM_OFFSET(PlaceSortedArguments, rows, 88)
HILBRIUM_OFFSET(PlaceSortedArguments, order, 96)
HILBRIUM_OFFSET(PlaceSortedArguments, records, 104)
HILBRIUM_OFFSET(PlaceSortedArguments, rows_of_records, 112)

// First records of bins.
struct FindStartsArguments {
    // Sorted keys.
    const unsigned long long* keys;
    // Number of keys.
    unsigned count;
    // Bits by which the bin is shifted.
    unsigned shift;
    // Number of bins.
    unsigned bins;
    // First record of each bin, then the number of records.
    unsigned long long* starts;
};
HILBRIUM_SIZE(FindStartsArguments, 32)
HILBRIUM_OFFSET(FindStartsArguments, keys, 0)
HILBRIUM_OFFSET(FindStartsArguments, count, 8)
HILBRIUM_OFFSET(FindStartsArguments, shift, 12)
HILBRIUM_OFFSET(FindStartsArguments, bins, 16)
HILBRIUM_OFFSET(FindStartsArguments, starts, 24)

// Tiles with many candidates, split into parts.
struct SplitTilesArguments {
    // The mesh's shape.
    MeshParameters geometry;
    // First record of each bin, then the number of records.
    const unsigned long long* starts;
    // Most candidates of a tile that is not split.
    unsigned limit;
    // Number of tiles.
    unsigned tiles;
    // Number of slices of each tile.
    unsigned* slices;
    // First part of each split tile.
    unsigned* first_part;
    // Number of parts that have arrived, of each tile.
    unsigned* arrived;
    // Tile of each part.
    unsigned* tile_of_part;
    // Number of parts, initially 0.
    unsigned* parts;
};
HILBRIUM_SIZE(SplitTilesArguments, 120)
HILBRIUM_OFFSET(SplitTilesArguments, geometry, 0)
HILBRIUM_OFFSET(SplitTilesArguments, starts, 64)
HILBRIUM_OFFSET(SplitTilesArguments, limit, 72)
HILBRIUM_OFFSET(SplitTilesArguments, tiles, 76)
HILBRIUM_OFFSET(SplitTilesArguments, slices, 80)
HILBRIUM_OFFSET(SplitTilesArguments, first_part, 88)
HILBRIUM_OFFSET(SplitTilesArguments, arrived, 96)
HILBRIUM_OFFSET(SplitTilesArguments, tile_of_part, 104)
HILBRIUM_OFFSET(SplitTilesArguments, parts, 112)

}  // namespace hilbrium

extern "C" __global__ void find_records(
    const __grid_constant__ hilbrium::FindRecordsArguments args);
extern "C" __global__ void count_bins(
    const __grid_constant__ hilbrium::CountBinsArguments args);
extern "C" __global__ void place_records(
    const __grid_constant__ hilbrium::PlaceRecordsArguments args);
extern "C" __global__ void bin_keys(
    const __grid_constant__ hilbrium::BinKeysArguments args);
extern "C" __global__ void place_sorted(
    const __grid_constant__ hilbrium::PlaceSortedArguments args);
extern "C" __global__ void find_starts(
    const __grid_constant__ hilbrium::FindStartsArguments args);
extern "C" __global__ void split_tiles(
    const __grid_constant__ hilbrium::SplitTilesArguments args);
