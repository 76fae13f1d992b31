// Printed from src/device/arguments: change it there, then run
// HILBRIUM_PRINT=1 cargo test --test device kernel_arguments
#pragma once

#include "../arguments/layout.cuh"
#include "../arguments/cells_cells.cuh"
#include "../pair/real.cuh"

namespace hilbrium {

namespace pair { struct Real4; }

// A sweep with a thread a particle.
struct SweepParticlesArguments {
    // The sweep.
    CellPass pass;
};
HILBRIUM_SIZE(SweepParticlesArguments, 200)
HILBRIUM_OFFSET(SweepParticlesArguments, pass, 0)

}  // namespace hilbrium

extern "C" __global__ void sweep_particles(
    const __grid_constant__ hilbrium::SweepParticlesArguments args);
