// Printed from src/device/arguments: change it there, then run
// HILBRIUM_PRINT=1 cargo test --test device kernel_arguments
#pragma once

#include "../arguments/layout.cuh"
#include "../arguments/cells_cells.cuh"
#include "../pair/real.cuh"

namespace hilbrium {

namespace pair { struct Real4; }

// Cells of rows and their counts.
struct CountCellsArguments {
    // Positions.
    const double* position[3];
    // Identities, or null without ghosts.
    const unsigned long long* id;
    // Number of rows.
    unsigned rows;
    // The grid.
    CellGrid grid;
    // Number of rows of each cell, initially 0.
    unsigned* counts;
    // Cell of each row, all ones for ghosts.
    unsigned* cells;
    // Number of each row within its cell.
    unsigned* ranks;
};
HILBRIUM_SIZE(CountCellsArguments, 176)
HILBRIUM_OFFSET(CountCellsArguments, position, 0)
HILBRIUM_OFFSET(CountCellsArguments, id, 24)
HILBRIUM_OFFSET(CountCellsArguments, rows, 32)
HILBRIUM_OFFSET(CountCellsArguments, grid, 40)
HILBRIUM_OFFSET(CountCellsArguments, counts, 152)
HILBRIUM_OFFSET(CountCellsArguments, cells, 160)
HILBRIUM_OFFSET(CountCellsArguments, ranks, 168)

// Starts of cells, and what strategies need to know.
struct SummarizeCellsArguments {
    // Number of cells.
    unsigned count;
    // First particle of each cell, then their number.
    const unsigned long long* sums;
    // The same in 32 bits.
    unsigned* starts;
    // Initially 0: cells with particles, particles of the fullest cell, particles.
    unsigned* summary;
};
HILBRIUM_SIZE(SummarizeCellsArguments, 32)
HILBRIUM_OFFSET(SummarizeCellsArguments, count, 0)
HILBRIUM_OFFSET(SummarizeCellsArguments, sums, 8)
HILBRIUM_OFFSET(SummarizeCellsArguments, starts, 16)
HILBRIUM_OFFSET(SummarizeCellsArguments, summary, 24)

// Rows by cell, in varying order within it.
struct PlaceRowsArguments {
    // Number of rows.
    unsigned rows;
    // Cell of each row.
    const unsigned* cells;
    // Number of each row within its cell.
    const unsigned* ranks;
    // First particle of each cell.
    const unsigned long long* sums;
    // The rows.
    unsigned* placed;
};
HILBRIUM_SIZE(PlaceRowsArguments, 40)
HILBRIUM_OFFSET(PlaceRowsArguments, rows, 0)
HILBRIUM_OFFSET(PlaceRowsArguments, cells, 8)
HILBRIUM_OFFSET(PlaceRowsArguments, ranks, 16)
HILBRIUM_OFFSET(PlaceRowsArguments, sums, 24)
HILBRIUM_OFFSET(PlaceRowsArguments, placed, 32)

// Particles by cell and row.
struct OrderCellsArguments {
    // Positions.
    const double* position[3];
    // Packed positions, of whose numbers the last is read.
    const pair::Real4* packed_position;
    // Further prepared values: columns of groups of four.
    const pair::Real4* packed_further;
    // Squared radii, or null.
    const Real* packed_squared_radius;
    // Elements of a packed column.
    unsigned long long packed_rows;
    // Groups of further prepared values.
    unsigned groups;
    // The grid.
    CellGrid grid;
    // Cell of each row.
    const unsigned* row_cells;
    // Rows by cell.
    const unsigned* placed;
    // First particle of each cell, then the number of particles.
    const unsigned* starts;
    // Number of cells.
    unsigned count;
    // Offsets from the cell's center, with the last packed number.
    pair::Real4* sorted_position;
    // Further prepared values.
    pair::Real4* sorted_further;
    // Squared radii.
    Real* sorted_squared_radius;
    // Rows.
    unsigned* rows;
    // Cells.
    unsigned* cells;
    // Elements of a sorted column.
    unsigned long long stride;
};
HILBRIUM_SIZE(OrderCellsArguments, 256)
HILBRIUM_OFFSET(OrderCellsArguments, position, 0)
HILBRIUM_OFFSET(OrderCellsArguments, packed_position, 24)
HILBRIUM_OFFSET(OrderCellsArguments, packed_further, 32)
HILBRIUM_OFFSET(OrderCellsArguments, packed_squared_radius, 40)
HILBRIUM_OFFSET(OrderCellsArguments, packed_rows, 48)
HILBRIUM_OFFSET(OrderCellsArguments, groups, 56)
HILBRIUM_OFFSET(OrderCellsArguments, grid, 64)
HILBRIUM_OFFSET(OrderCellsArguments, row_cells, 176)
HILBRIUM_OFFSET(OrderCellsArguments, placed, 184)
HILBRIUM_OFFSET(OrderCellsArguments, starts, 192)
HILBRIUM_OFFSET(OrderCellsArguments, count, 200)
HILBRIUM_OFFSET(OrderCellsArguments, sorted_position, 208)
HILBRIUM_OFFSET(OrderCellsArguments, sorted_further, 216)
HILBRIUM_OFFSET(OrderCellsArguments, sorted_squared_radius, 224)
HILBRIUM_OFFSET(OrderCellsArguments, rows, 232)
HILBRIUM_OFFSET(OrderCellsArguments, cells, 240)
HILBRIUM_OFFSET(OrderCellsArguments, stride, 248)

// Slices of sub-boxes.
struct CountTasksArguments {
    // The grid.
    CellGrid grid;
    // First particle of each cell, then the number of particles.
    const unsigned* starts;
    // Cells of a sub-box.
    unsigned shape[3];
    // Number of sub-boxes.
    unsigned boxes;
    // Particles of a slice.
    unsigned slice;
    // Number of slices of each sub-box.
    unsigned* slices;
};
HILBRIUM_SIZE(CountTasksArguments, 152)
HILBRIUM_OFFSET(CountTasksArguments, grid, 0)
HILBRIUM_OFFSET(CountTasksArguments, starts, 112)
HILBRIUM_OFFSET(CountTasksArguments, shape, 120)
HILBRIUM_OFFSET(CountTasksArguments, boxes, 132)
HILBRIUM_OFFSET(CountTasksArguments, slice, 136)
HILBRIUM_OFFSET(CountTasksArguments, slices, 144)

// Tasks from slices.
struct WriteTasksArguments {
    // Number of sub-boxes.
    unsigned boxes;
    // First task of each sub-box, then the number of tasks.
    const unsigned long long* sums;
    // Sub-box of each task.
    unsigned* task_boxes;
    // Number of each task within its sub-box.
    unsigned* task_slices;
};
HILBRIUM_SIZE(WriteTasksArguments, 32)
HILBRIUM_OFFSET(WriteTasksArguments, boxes, 0)
HILBRIUM_OFFSET(WriteTasksArguments, sums, 8)
HILBRIUM_OFFSET(WriteTasksArguments, task_boxes, 16)
HILBRIUM_OFFSET(WriteTasksArguments, task_slices, 24)

}  // namespace hilbrium

extern "C" __global__ void count_cells(
    const __grid_constant__ hilbrium::CountCellsArguments args);
extern "C" __global__ void summarize_cells(
    const __grid_constant__ hilbrium::SummarizeCellsArguments args);
extern "C" __global__ void place_rows(
    const __grid_constant__ hilbrium::PlaceRowsArguments args);
extern "C" __global__ void order_cells(
    const __grid_constant__ hilbrium::OrderCellsArguments args);
extern "C" __global__ void count_tasks(
    const __grid_constant__ hilbrium::CountTasksArguments args);
extern "C" __global__ void write_tasks(
    const __grid_constant__ hilbrium::WriteTasksArguments args);
