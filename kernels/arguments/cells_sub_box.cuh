// Printed from src/device/arguments: change it there, then run
// HILBRIUM_PRINT=1 cargo test --test device kernel_arguments
#pragma once

#include "../arguments/layout.cuh"
#include "../arguments/cells_cells.cuh"
#include "../pair/real.cuh"

namespace hilbrium {

namespace pair { struct Real4; }

// A sweep with a sub-box and its neighbor cells in shared memory.
struct SweepSubBoxesArguments {
    // The sweep.
    CellPass pass;
    // The sub-boxes with their slices.
    CellTasks tasks;
    // Particles that the shared memory holds.
    unsigned capacity;
};
HILBRIUM_SIZE(SweepSubBoxesArguments, 248)
HILBRIUM_OFFSET(SweepSubBoxesArguments, pass, 0)
HILBRIUM_OFFSET(SweepSubBoxesArguments, tasks, 200)
HILBRIUM_OFFSET(SweepSubBoxesArguments, capacity, 240)

}  // namespace hilbrium

extern "C" __global__ void sweep_sub_boxes(
    const __grid_constant__ hilbrium::SweepSubBoxesArguments args);
