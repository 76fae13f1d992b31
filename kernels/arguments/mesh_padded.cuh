// Printed from src/device/arguments: change it there, then run
// HILBRIUM_PRINT=1 cargo test --test device kernel_arguments
#pragma once

#include "../arguments/layout.cuh"
#include "../arguments/mesh_mesh.cuh"
#include "../pair/real.cuh"

namespace hilbrium {

namespace mesh { struct Record; }

// Spreading by padded tiles.
struct SpreadPaddedArguments {
    // The mesh's shape.
    MeshParameters geometry;
    // The particles.
    BinnedRecords binned;
    // Their number.
    unsigned count;
    // Number of consecutive records of a warp.
    unsigned records_of_warp;
    // Values of rows.
    const double* values;
    // The mesh, initially 0.
    Real* sums;
};
HILBRIUM_SIZE(SpreadPaddedArguments, 112)
HILBRIUM_OFFSET(SpreadPaddedArguments, geometry, 0)
HILBRIUM_OFFSET(SpreadPaddedArguments, binned, 64)
HILBRIUM_OFFSET(SpreadPaddedArguments, count, 88)
HILBRIUM_OFFSET(SpreadPaddedArguments, records_of_warp, 92)
HILBRIUM_OFFSET(SpreadPaddedArguments, values, 96)
HILBRIUM_OFFSET(SpreadPaddedArguments, sums, 104)

}  // namespace hilbrium

extern "C" __global__ void spread_padded(
    const __grid_constant__ hilbrium::SpreadPaddedArguments args);
