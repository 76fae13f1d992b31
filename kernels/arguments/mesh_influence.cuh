// Printed from src/device/arguments: change it there, then run
// HILBRIUM_PRINT=1 cargo test --test device kernel_arguments
#pragma once

#include "../arguments/layout.cuh"
#include "../pair/real.cuh"

namespace hilbrium {

// Waves that are multiplied by an influence function.
struct MultiplyWavesArguments {
    // Real and imaginary part of each wave.
    Real* waves;
    // The factor of each wave.
    const Real* influence;
    // Number of waves.
    unsigned long long count;
};
HILBRIUM_SIZE(MultiplyWavesArguments, 24)
HILBRIUM_OFFSET(MultiplyWavesArguments, waves, 0)
HILBRIUM_OFFSET(MultiplyWavesArguments, influence, 8)
HILBRIUM_OFFSET(MultiplyWavesArguments, count, 16)

}  // namespace hilbrium

extern "C" __global__ void multiply_waves(
    const __grid_constant__ hilbrium::MultiplyWavesArguments args);
