// Printed from src/device/arguments: change it there, then run
// HILBRIUM_PRINT=1 cargo test --test device kernel_arguments
#pragma once

#include "../arguments/layout.cuh"
#include "../arguments/motion_verlet.cuh"
#include "../arguments/pair_finish.cuh"
#include "../arguments/shared.cuh"
#include "../device.cuh"

namespace hilbrium {

// Forces from sums, accelerations and a half kick.
struct FinishAndAccelerateArguments {
    // Forces from sums.
    FinishArguments finish;
    // Accelerations and a half kick.
    AccelerateArguments accelerate;
};
HILBRIUM_SIZE(FinishAndAccelerateArguments, 528)
HILBRIUM_OFFSET(FinishAndAccelerateArguments, finish, 0)
HILBRIUM_OFFSET(FinishAndAccelerateArguments, accelerate, 368)

}  // namespace hilbrium

extern "C" __global__ void finish_and_accelerate(
    const __grid_constant__ hilbrium::FinishAndAccelerateArguments args);
