// Printed from src/device/arguments: change it there, then run
// HILBRIUM_PRINT=1 cargo test --test device kernel_arguments
#pragma once

#include "../arguments/layout.cuh"

namespace hilbrium {

// Columns of 64 bits in another order.
struct GatherWordsArguments {
    // Columns to read; unused ones at the end are null.
    const unsigned long long* from[8];
    // Columns to write.
    unsigned long long* to[8];
    // Source row of each row.
    const unsigned* rows;
    // Number of rows.
    unsigned count;
};
HILBRIUM_SIZE(GatherWordsArguments, 144)
HILBRIUM_OFFSET(GatherWordsArguments, from, 0)
HILBRIUM_OFFSET(GatherWordsArguments, to, 64)
HILBRIUM_OFFSET(GatherWordsArguments, rows, 128)
HILBRIUM_OFFSET(GatherWordsArguments, count, 136)

// A column of 32 bits in another order.
struct GatherHalvesArguments {
    // The column to read.
    const unsigned* from;
    // The column to write.
    unsigned* to;
    // Source row of each row.
    const unsigned* rows;
    // Number of rows.
    unsigned count;
};
HILBRIUM_SIZE(GatherHalvesArguments, 32)
HILBRIUM_OFFSET(GatherHalvesArguments, from, 0)
HILBRIUM_OFFSET(GatherHalvesArguments, to, 8)
HILBRIUM_OFFSET(GatherHalvesArguments, rows, 16)
HILBRIUM_OFFSET(GatherHalvesArguments, count, 24)

// The inverse of an order.
struct InvertOrderArguments {
    // The order.
    const unsigned* rows;
    // Its inverse.
    unsigned* places;
    // Number of rows.
    unsigned count;
};
HILBRIUM_SIZE(InvertOrderArguments, 24)
HILBRIUM_OFFSET(InvertOrderArguments, rows, 0)
HILBRIUM_OFFSET(InvertOrderArguments, places, 8)
HILBRIUM_OFFSET(InvertOrderArguments, count, 16)

}  // namespace hilbrium

extern "C" __global__ void gather_words(
    const __grid_constant__ hilbrium::GatherWordsArguments args);
extern "C" __global__ void gather_halves(
    const __grid_constant__ hilbrium::GatherHalvesArguments args);
extern "C" __global__ void invert_order(
    const __grid_constant__ hilbrium::InvertOrderArguments args);
