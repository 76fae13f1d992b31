// Printed from src/device/arguments: change it there, then run
// HILBRIUM_PRINT=1 cargo test --test device kernel_arguments
#pragma once

#include "../arguments/layout.cuh"
#include "../arguments/mesh_mesh.cuh"
#include "../arguments/shared.cuh"

namespace hilbrium {

// Search for the cells along x that hold particles.
struct MarkOccupiedCellsArguments {
    // Coordinates x.
    const double* position;
    // The mesh's shape.
    MeshParameters geometry;
    // The rows.
    Rows rows;
    // A bit per cell, initially 0.
    unsigned* cells;
};
HILBRIUM_SIZE(MarkOccupiedCellsArguments, 88)
HILBRIUM_OFFSET(MarkOccupiedCellsArguments, position, 0)
HILBRIUM_OFFSET(MarkOccupiedCellsArguments, geometry, 8)
HILBRIUM_OFFSET(MarkOccupiedCellsArguments, rows, 72)
HILBRIUM_OFFSET(MarkOccupiedCellsArguments, cells, 80)

}  // namespace hilbrium

extern "C" __global__ void mark_occupied_cells(
    const __grid_constant__ hilbrium::MarkOccupiedCellsArguments args);
