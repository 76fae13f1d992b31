// Printed from src/device/arguments: change it there, then run
// HILBRIUM_PRINT=1 cargo test --test device kernel_arguments
#pragma once

#include "../arguments/layout.cuh"
#include "../arguments/search_grid.cuh"
#include "../pair/real.cuh"

namespace hilbrium {

namespace pair { struct Real4; }

// Rows in the order of their cells.
struct GatherCellsArguments {
    // Rows.
    SearchRows rows;
    // Columns to pack.
    SearchColumns columns;
    // Cells.
    SearchGrid grid;
    // Sorted cells.
    const unsigned long long* keys;
    // Rows of the sorted cells.
    const unsigned* order;
    // First place of each cell, initially 2^32 - 1.
    unsigned* starts;
    // End of each cell that has particles.
    unsigned* ends;
    // Packed rows.
    Places places;
    // Sums, set for rows without a cell.
    Real* sums;
};
HILBRIUM_SIZE(GatherCellsArguments, 400)
HILBRIUM_OFFSET(GatherCellsArguments, rows, 0)
HILBRIUM_OFFSET(GatherCellsArguments, columns, 40)
HILBRIUM_OFFSET(GatherCellsArguments, grid, 208)
HILBRIUM_OFFSET(GatherCellsArguments, keys, 320)
HILBRIUM_OFFSET(GatherCellsArguments, order, 328)
HILBRIUM_OFFSET(GatherCellsArguments, starts, 336)
HILBRIUM_OFFSET(GatherCellsArguments, ends, 344)
HILBRIUM_OFFSET(GatherCellsArguments, places, 352)
HILBRIUM_OFFSET(GatherCellsArguments, sums, 392)

// A search of 27 cells.
struct SearchSortedGridArguments {
    // Packed rows.
    Places places;
    // Sorted cells.
    const unsigned long long* keys;
    // First place of each cell, 2^32 - 1 if it is empty.
    const unsigned* starts;
    // End of each cell that has particles.
    const unsigned* ends;
    // Cells.
    SearchGrid grid;
    // Sums.
    SearchSums sums;
};
HILBRIUM_SIZE(SearchSortedGridArguments, 208)
HILBRIUM_OFFSET(SearchSortedGridArguments, places, 0)
HILBRIUM_OFFSET(SearchSortedGridArguments, keys, 40)
HILBRIUM_OFFSET(SearchSortedGridArguments, starts, 48)
HILBRIUM_OFFSET(SearchSortedGridArguments, ends, 56)
HILBRIUM_OFFSET(SearchSortedGridArguments, grid, 64)
HILBRIUM_OFFSET(SearchSortedGridArguments, sums, 176)

}  // namespace hilbrium

extern "C" __global__ void gather_cells(
    const __grid_constant__ hilbrium::GatherCellsArguments args);
extern "C" __global__ void search_sorted_grid(
    const __grid_constant__ hilbrium::SearchSortedGridArguments args);
