// Printed from src/device/arguments: change it there, then run
// HILBRIUM_PRINT=1 cargo test --test device kernel_arguments
#pragma once

#include "../arguments/layout.cuh"
#include "../arguments/mesh_mesh.cuh"
#include "../arguments/shared.cuh"
#include "../pair/real.cuh"

namespace hilbrium {

// Spreading with a thread per particle.
struct SpreadParticlesArguments {
    // Positions.
    const double* position[3];
    // Values of rows.
    const double* values;
    // The mesh's shape.
    MeshParameters geometry;
    // The rows.
    Rows rows;
    // The mesh, initially 0.
    Real* sums;
};
HILBRIUM_SIZE(SpreadParticlesArguments, 112)
HILBRIUM_OFFSET(SpreadParticlesArguments, position, 0)
HILBRIUM_OFFSET(SpreadParticlesArguments, values, 24)
HILBRIUM_OFFSET(SpreadParticlesArguments, geometry, 32)
HILBRIUM_OFFSET(SpreadParticlesArguments, rows, 96)
HILBRIUM_OFFSET(SpreadParticlesArguments, sums, 104)

}  // namespace hilbrium

extern "C" __global__ void spread_particles(
    const __grid_constant__ hilbrium::SpreadParticlesArguments args);
