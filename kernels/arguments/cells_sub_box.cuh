#pragma once
#include "../arguments/layout.cuh"
#include "../pair/real.cuh"
#include "../arguments/cells_cells.cuh"
namespace hilbrium {
namespace pair { struct Real4; }
struct SweepSubBoxesArguments {
    CellPass pass;
    CellTasks tasks;
    unsigned capacity;
};
}
extern "C" __global__ void sweep_sub_boxes(const __grid_constant__ hilbrium::SweepSubBoxesArguments args);
