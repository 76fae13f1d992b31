// Printed from src/device/arguments: change it there, then run
// HILBRIUM_PRINT=1 cargo test --test device kernel_arguments
#pragma once

#include "../arguments/layout.cuh"
#include "../arguments/cells_cells.cuh"
#include "../pair/real.cuh"

namespace hilbrium {

namespace pair { struct Real4; }

// A sweep with one row of cells at a time in shared memory.
struct SweepPencilsArguments {
    // The sweep.
    CellPass pass;
    // The pencils with their slices.
    CellTasks tasks;
    // Particles that the shared memory holds.
    unsigned capacity;
};
HILBRIUM_SIZE(SweepPencilsArguments, 248)
HILBRIUM_OFFSET(SweepPencilsArguments, pass, 0)
HILBRIUM_OFFSET(SweepPencilsArguments, tasks, 200)
HILBRIUM_OFFSET(SweepPencilsArguments, capacity, 240)

}  // namespace hilbrium

extern "C" __global__ void sweep_pencils(
    const __grid_constant__ hilbrium::SweepPencilsArguments args);
