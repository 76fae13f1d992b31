// Printed from src/device/arguments: change it there, then run
// HILBRIUM_PRINT=1 cargo test --test device kernel_arguments
#pragma once

#include "../arguments/layout.cuh"
#include "../arguments/search_grid.cuh"

namespace hilbrium {

// Numbers of particles in the sections of coarse cells.
struct CountSections {
    // Rows.
    SearchRows rows;
    // Coarse cells.
    SearchGrid grid;
    // Width of borders.
    double reach;
    // Numbers of particles, four per cell, initially 0.
    unsigned* sections;
};
HILBRIUM_SIZE(CountSections, 168)
HILBRIUM_OFFSET(CountSections, rows, 0)
HILBRIUM_OFFSET(CountSections, grid, 40)
HILBRIUM_OFFSET(CountSections, reach, 152)
HILBRIUM_OFFSET(CountSections, sections, 160)

// Counting in shared memory.
struct CountInSharedArguments {
    // What is counted.
    CountSections count;
};
HILBRIUM_SIZE(CountInSharedArguments, 168)
HILBRIUM_OFFSET(CountInSharedArguments, count, 0)

// Counting in global memory.
struct CountInGlobalArguments {
    // What is counted.
    CountSections count;
};
HILBRIUM_SIZE(CountInGlobalArguments, 168)
HILBRIUM_OFFSET(CountInGlobalArguments, count, 0)

// Cells of rows, and their places within the cells.
struct CountCellsArguments {
    // Rows.
    SearchRows rows;
    // Cells.
    SearchGrid grid;
    // Numbers of particles in cells, initially 0.
    unsigned* counts;
    // Cell of each row, 2^32 - 1 for rows without one.
    unsigned* cell;
    // Place of each row within its cell.
    unsigned* place;
};
HILBRIUM_SIZE(CountCellsArguments, 176)
HILBRIUM_OFFSET(CountCellsArguments, rows, 0)
HILBRIUM_OFFSET(CountCellsArguments, grid, 40)
HILBRIUM_OFFSET(CountCellsArguments, counts, 152)
HILBRIUM_OFFSET(CountCellsArguments, cell, 160)
HILBRIUM_OFFSET(CountCellsArguments, place, 168)

// Cells of rows as keys.
struct KeyCellsArguments {
    // Rows.
    SearchRows rows;
    // Cells.
    SearchGrid grid;
    // Cell of each row; the number of cells for rows without one.
    unsigned long long* keys;
};
HILBRIUM_SIZE(KeyCellsArguments, 160)
HILBRIUM_OFFSET(KeyCellsArguments, rows, 0)
HILBRIUM_OFFSET(KeyCellsArguments, grid, 40)
HILBRIUM_OFFSET(KeyCellsArguments, keys, 152)

// Exclusive prefix sums in place.
struct ScanCountsArguments {
    // The counts, then their sums.
    unsigned* counts;
    // Number of counts, a multiple of 4.
    unsigned count;
    // Published sums of tiles, initially 0.
    unsigned long long* published;
    // Number of tiles taken, initially 0.
    unsigned* tiles_taken;
    // Items of the occupied cells of four counts: cell and first particle; or null.
    unsigned* items;
    // Number of items, initially 0.
    unsigned* item_count;
    // Most particles of an item.
    unsigned item_particles;
};
HILBRIUM_SIZE(ScanCountsArguments, 56)
HILBRIUM_OFFSET(ScanCountsArguments, counts, 0)
HILBRIUM_OFFSET(ScanCountsArguments, count, 8)
HILBRIUM_OFFSET(ScanCountsArguments, published, 16)
HILBRIUM_OFFSET(ScanCountsArguments, tiles_taken, 24)
HILBRIUM_OFFSET(ScanCountsArguments, items, 32)
HILBRIUM_OFFSET(ScanCountsArguments, item_count, 40)
HILBRIUM_OFFSET(ScanCountsArguments, item_particles, 48)

}  // namespace hilbrium

extern "C" __global__ void count_in_shared(
    const __grid_constant__ hilbrium::CountInSharedArguments args);
extern "C" __global__ void count_in_global(
    const __grid_constant__ hilbrium::CountInGlobalArguments args);
extern "C" __global__ void count_cells(
    const __grid_constant__ hilbrium::CountCellsArguments args);
extern "C" __global__ void key_cells(
    const __grid_constant__ hilbrium::KeyCellsArguments args);
extern "C" __global__ void scan_counts(
    const __grid_constant__ hilbrium::ScanCountsArguments args);
