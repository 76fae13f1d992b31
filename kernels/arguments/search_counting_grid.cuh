// Printed from src/device/arguments: change it there, then run
// HILBRIUM_PRINT=1 cargo test --test device kernel_arguments
#pragma once

#include "../arguments/layout.cuh"
#include "../arguments/search_grid.cuh"
#include "../pair/real.cuh"

namespace hilbrium {

namespace pair { struct Real4; }

// Rows moved to their cells.
struct MoveToCellsArguments {
    // Rows.
    SearchRows rows;
    // Columns to pack.
    SearchColumns columns;
    // Cells.
    SearchGrid grid;
    // First place of each cell, then their number.
    const unsigned* starts;
    // Cell of each row.
    const unsigned* cell;
    // Place of each row within its cell.
    const unsigned* place;
    // Packed rows.
    Places places;
    // Sums, set for rows without a place.
    Real* sums;
};
HILBRIUM_SIZE(MoveToCellsArguments, 392)
HILBRIUM_OFFSET(MoveToCellsArguments, rows, 0)
HILBRIUM_OFFSET(MoveToCellsArguments, columns, 40)
HILBRIUM_OFFSET(MoveToCellsArguments, grid, 208)
HILBRIUM_OFFSET(MoveToCellsArguments, starts, 320)
HILBRIUM_OFFSET(MoveToCellsArguments, cell, 328)
HILBRIUM_OFFSET(MoveToCellsArguments, place, 336)
HILBRIUM_OFFSET(MoveToCellsArguments, places, 344)
HILBRIUM_OFFSET(MoveToCellsArguments, sums, 384)

// A search of 27 cells.
struct SearchCountingGridArguments {
    // Packed rows.
    Places places;
    // First place of each cell, then their number.
    const unsigned* starts;
    // Cell of each row.
    const unsigned* cell;
    // Cells.
    SearchGrid grid;
    // Sums.
    SearchSums sums;
};
HILBRIUM_SIZE(SearchCountingGridArguments, 200)
HILBRIUM_OFFSET(SearchCountingGridArguments, places, 0)
HILBRIUM_OFFSET(SearchCountingGridArguments, starts, 40)
HILBRIUM_OFFSET(SearchCountingGridArguments, cell, 48)
HILBRIUM_OFFSET(SearchCountingGridArguments, grid, 56)
HILBRIUM_OFFSET(SearchCountingGridArguments, sums, 168)

}  // namespace hilbrium

extern "C" __global__ void move_to_cells(
    const __grid_constant__ hilbrium::MoveToCellsArguments args);
extern "C" __global__ void search_counting_grid(
    const __grid_constant__ hilbrium::SearchCountingGridArguments args);
