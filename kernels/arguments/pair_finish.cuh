// Printed from src/device/arguments: change it there, then run
// HILBRIUM_PRINT=1 cargo test --test device kernel_arguments
#pragma once

#include "../arguments/layout.cuh"
#include "../device.cuh"

namespace hilbrium {

// A law's outputs from the sums of a sweep.
struct FinishArguments {
    // The first row.
    unsigned long long begin;
    // One past the last row.
    unsigned long long end;
    // Identities, or null without ghosts.
    const unsigned long long* id;
    // Not 0 for rows whose outputs are wanted, or null for all rows.
    const unsigned char* active;
    // The law's input columns, then null.
    const double* inputs[20];
    // Sums of rows.
    const HILBRIUM_SUM_REAL* sums;
    // The law's output columns, then null.
    double* outputs[20];
    // Number of output columns.
    int output_count;
};
HILBRIUM_SIZE(FinishArguments, 368)
HILBRIUM_OFFSET(FinishArguments, begin, 0)
HILBRIUM_OFFSET(FinishArguments, end, 8)
HILBRIUM_OFFSET(FinishArguments, id, 16)
HILBRIUM_OFFSET(FinishArguments, active, 24)
HILBRIUM_OFFSET(FinishArguments, inputs, 32)
HILBRIUM_OFFSET(FinishArguments, sums, 192)
HILBRIUM_OFFSET(FinishArguments, outputs, 200)
HILBRIUM_OFFSET(FinishArguments, output_count, 360)

}  // namespace hilbrium

extern "C" __global__ void finish(
    const __grid_constant__ hilbrium::FinishArguments args);
