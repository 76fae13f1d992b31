#pragma once
#include "../arguments/layout.cuh"
#include "../pair/real.cuh"
#include "../arguments/cells_cells.cuh"
namespace hilbrium {
namespace pair { struct Real4; }
struct CountCellsArguments {
    const double* position[3];
    const unsigned long long* id;
    unsigned rows;
    CellGrid grid;
    unsigned* counts;
    unsigned* cells;
    unsigned* ranks;
};
struct SummarizeCellsArguments {
    unsigned count;
    const unsigned long long* sums;
    unsigned* starts;
    unsigned* summary;
};
struct PlaceRowsArguments {
    unsigned rows;
    const unsigned* cells;
    const unsigned* ranks;
    const unsigned long long* sums;
    unsigned* placed;
};
struct OrderCellsArguments {
    const double* position[3];
    const pair::Real4* packed_position;
    const pair::Real4* packed_further;
    const Real* packed_squared_radius;
    unsigned long long packed_rows;
    unsigned groups;
    CellGrid grid;
    const unsigned* row_cells;
    const unsigned* placed;
    const unsigned* starts;
    unsigned count;
    pair::Real4* sorted_position;
    pair::Real4* sorted_further;
    Real* sorted_squared_radius;
    unsigned* rows;
    unsigned* cells;
    unsigned long long stride;
};
struct CountTasksArguments {
    CellGrid grid;
    const unsigned* starts;
    unsigned shape[3];
    unsigned boxes;
    unsigned slice;
    unsigned* slices;
};
struct WriteTasksArguments {
    unsigned boxes;
    const unsigned long long* sums;
    unsigned* task_boxes;
    unsigned* task_slices;
};
}
extern "C" __global__ void count_cells(const __grid_constant__ hilbrium::CountCellsArguments args);
extern "C" __global__ void summarize_cells(const __grid_constant__ hilbrium::SummarizeCellsArguments args);
extern "C" __global__ void place_rows(const __grid_constant__ hilbrium::PlaceRowsArguments args);
extern "C" __global__ void order_cells(const __grid_constant__ hilbrium::OrderCellsArguments args);
extern "C" __global__ void count_tasks(const __grid_constant__ hilbrium::CountTasksArguments args);
extern "C" __global__ void write_tasks(const __grid_constant__ hilbrium::WriteTasksArguments args);
