// Printed from src/device/arguments: change it there, then run
// HILBRIUM_PRINT=1 cargo test --test device kernel_arguments
#pragma once

#include "../arguments/layout.cuh"
#include "../arguments/shared.cuh"

namespace hilbrium {

// Wrapping of positions into the box.
struct EnterBoxArguments {
    // Positions.
    double* position[3];
    // Counts of crossed periods, or null.
    double* image[3];
    // The box.
    BoxParameters bx;
    // The owned rows.
    Rows rows;
    // Minimum and maximum coordinate of each dimension.
    unsigned long long* extent;
    // For each dimension the first row whose coordinate is not finite or too large.
    unsigned* first_nowhere;
};
HILBRIUM_SIZE(EnterBoxArguments, 176)
HILBRIUM_OFFSET(EnterBoxArguments, position, 0)
HILBRIUM_OFFSET(EnterBoxArguments, image, 24)
HILBRIUM_OFFSET(EnterBoxArguments, bx, 48)
HILBRIUM_OFFSET(EnterBoxArguments, rows, 152)
HILBRIUM_OFFSET(EnterBoxArguments, extent, 160)
HILBRIUM_OFFSET(EnterBoxArguments, first_nowhere, 168)

}  // namespace hilbrium

extern "C" __global__ void enter_box(
    const __grid_constant__ hilbrium::EnterBoxArguments args);
