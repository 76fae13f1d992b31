// Printed from src/device/arguments: change it there, then run
// HILBRIUM_PRINT=1 cargo test --test device kernel_arguments
#pragma once

#include "../arguments/layout.cuh"
#include "../arguments/motion_verlet.cuh"
#include "../arguments/pair_pack.cuh"
#include "../arguments/shared.cuh"
#include "../pair/real.cuh"

namespace hilbrium {

namespace pair { struct Real4; }

// Half kick, drift and packing of all rows.
struct DriftAndPackArguments {
    // Half kick and drift.
    VerletKickAndDriftArguments drift;
    // Packing.
    PackArguments pack;
};
HILBRIUM_SIZE(DriftAndPackArguments, 416)
HILBRIUM_OFFSET(DriftAndPackArguments, drift, 0)
HILBRIUM_OFFSET(DriftAndPackArguments, pack, 152)

}  // namespace hilbrium

extern "C" __global__ void drift_and_pack(
    const __grid_constant__ hilbrium::DriftAndPackArguments args);
