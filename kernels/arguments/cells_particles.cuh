#pragma once
#include "../arguments/layout.cuh"
#include "../pair/real.cuh"
#include "../arguments/cells_cells.cuh"
namespace hilbrium {
namespace pair { struct Real4; }
struct SweepParticlesArguments {
    CellPass pass;
};
}
extern "C" __global__ void sweep_particles(const __grid_constant__ hilbrium::SweepParticlesArguments args);
