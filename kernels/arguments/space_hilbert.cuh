// Printed from src/device/arguments: change it there, then run
// HILBRIUM_PRINT=1 cargo test --test device kernel_arguments
#pragma once

#include "../arguments/layout.cuh"

namespace hilbrium {

// Hilbert keys of positions.
struct HilbertKeysArguments {
    // Positions.
    const double* position[3];
    // Lower corner of the box.
    double lower[3];
    // Cells per length.
    double scale[3];
    // The keys.
    unsigned long long* keys;
    // Number of rows.
    unsigned rows;
};
HILBRIUM_SIZE(HilbertKeysArguments, 88)
HILBRIUM_OFFSET(HilbertKeysArguments, position, 0)
HILBRIUM_OFFSET(HilbertKeysArguments, lower, 24)
HILBRIUM_OFFSET(HilbertKeysArguments, scale, 48)
HILBRIUM_OFFSET(HilbertKeysArguments, keys, 72)
HILBRIUM_OFFSET(HilbertKeysArguments, rows, 80)

}  // namespace hilbrium

extern "C" __global__ void hilbert_keys(
    const __grid_constant__ hilbrium::HilbertKeysArguments args);
