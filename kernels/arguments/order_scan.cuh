// Printed from src/device/arguments: change it there, then run
// HILBRIUM_PRINT=1 cargo test --test device kernel_arguments
#pragma once

#include "../arguments/layout.cuh"

namespace hilbrium {

// Exclusive prefix sums.
struct SumCountsArguments {
    // The counts.
    const unsigned* counts;
    // Number of counts.
    unsigned count;
    // The sums, then the total.
    unsigned long long* sums;
    // Published sums of tiles, initially 0.
    unsigned long long* published;
    // Number of tiles taken, initially 0.
    unsigned* tiles_taken;
};
HILBRIUM_SIZE(SumCountsArguments, 40)
HILBRIUM_OFFSET(SumCountsArguments, counts, 0)
HILBRIUM_OFFSET(SumCountsArguments, count, 8)
HILBRIUM_OFFSET(SumCountsArguments, sums, 16)
HILBRIUM_OFFSET(SumCountsArguments, published, 24)
HILBRIUM_OFFSET(SumCountsArguments, tiles_taken, 32)

// The marked rows.
struct FindMarkedArguments {
    // Marks.
    const unsigned char* marks;
    // Number of rows.
    unsigned rows;
    // The rows whose mark is not 0.
    unsigned* rows_of_marks;
    // Their number.
    unsigned* found;
    // Published sums of tiles, initially 0.
    unsigned long long* published;
    // Number of tiles taken, initially 0.
    unsigned* tiles_taken;
};
HILBRIUM_SIZE(FindMarkedArguments, 48)
HILBRIUM_OFFSET(FindMarkedArguments, marks, 0)
HILBRIUM_OFFSET(FindMarkedArguments, rows, 8)
HILBRIUM_OFFSET(FindMarkedArguments, rows_of_marks, 16)
HILBRIUM_OFFSET(FindMarkedArguments, found, 24)
HILBRIUM_OFFSET(FindMarkedArguments, published, 32)
HILBRIUM_OFFSET(FindMarkedArguments, tiles_taken, 40)

}  // namespace hilbrium

extern "C" __global__ void sum_counts(
    const __grid_constant__ hilbrium::SumCountsArguments args);
extern "C" __global__ void find_marked(
    const __grid_constant__ hilbrium::FindMarkedArguments args);
