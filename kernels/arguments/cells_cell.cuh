// Printed from src/device/arguments: change it there, then run
// HILBRIUM_PRINT=1 cargo test --test device kernel_arguments
#pragma once

#include "../arguments/layout.cuh"
#include "../arguments/cells_cells.cuh"
#include "../pair/real.cuh"

namespace hilbrium {

namespace pair { struct Real4; }

// A sweep with a block a cell.
struct SweepCellsArguments {
    // The sweep.
    CellPass pass;
    // The cells with their slices.
    CellTasks tasks;
};
HILBRIUM_SIZE(SweepCellsArguments, 240)
HILBRIUM_OFFSET(SweepCellsArguments, pass, 0)
HILBRIUM_OFFSET(SweepCellsArguments, tasks, 200)

// A sweep with a block a cell, through shared memory.
struct SweepCellsSharedArguments {
    // The sweep.
    CellPass pass;
    // The cells with their slices.
    CellTasks tasks;
    // Particles that the shared memory holds.
    unsigned capacity;
};
HILBRIUM_SIZE(SweepCellsSharedArguments, 248)
HILBRIUM_OFFSET(SweepCellsSharedArguments, pass, 0)
HILBRIUM_OFFSET(SweepCellsSharedArguments, tasks, 200)
HILBRIUM_OFFSET(SweepCellsSharedArguments, capacity, 240)

}  // namespace hilbrium

extern "C" __global__ void sweep_cells(
    const __grid_constant__ hilbrium::SweepCellsArguments args);
extern "C" __global__ void sweep_cells_shared(
    const __grid_constant__ hilbrium::SweepCellsSharedArguments args);
