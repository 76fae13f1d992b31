#pragma once
#include "../arguments/layout.cuh"
#include "../pair/real.cuh"
#include "../arguments/cells_cells.cuh"
namespace hilbrium {
namespace pair { struct Real4; }
struct SweepCellsArguments {
    CellPass pass;
    CellTasks tasks;
};
struct SweepCellsSharedArguments {
    CellPass pass;
    CellTasks tasks;
    unsigned capacity;
};
}
extern "C" __global__ void sweep_cells(const __grid_constant__ hilbrium::SweepCellsArguments args);
extern "C" __global__ void sweep_cells_shared(const __grid_constant__ hilbrium::SweepCellsSharedArguments args);
