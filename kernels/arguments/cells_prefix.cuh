// Printed from src/device/arguments: change it there, then run
// HILBRIUM_PRINT=1 cargo test --test device kernel_arguments
#pragma once

#include "../arguments/layout.cuh"

namespace hilbrium {

// Prefix sums in shared memory, in place.
struct PrefixInPlaceArguments {
    // The numbers of all blocks.
    const unsigned* numbers;
    // Numbers of a block.
    unsigned count;
    // Times that the sums are taken, each of the last ones.
    unsigned repeats;
    // The inclusive prefix sums of all blocks.
    unsigned* sums;
    // Initially 0: barriers of a block, and updates of all blocks. Only of units that count.
    unsigned* counted;
};
HILBRIUM_SIZE(PrefixInPlaceArguments, 32)
HILBRIUM_OFFSET(PrefixInPlaceArguments, numbers, 0)
HILBRIUM_OFFSET(PrefixInPlaceArguments, count, 8)
HILBRIUM_OFFSET(PrefixInPlaceArguments, repeats, 12)
HILBRIUM_OFFSET(PrefixInPlaceArguments, sums, 16)
HILBRIUM_OFFSET(PrefixInPlaceArguments, counted, 24)

// Prefix sums in shared memory, by warps.
struct PrefixByWarpsArguments {
    // The numbers of all blocks.
    const unsigned* numbers;
    // Numbers of a block.
    unsigned count;
    // Times that the sums are taken, each of the last ones.
    unsigned repeats;
    // The inclusive prefix sums of all blocks.
    unsigned* sums;
};
HILBRIUM_SIZE(PrefixByWarpsArguments, 24)
HILBRIUM_OFFSET(PrefixByWarpsArguments, numbers, 0)
HILBRIUM_OFFSET(PrefixByWarpsArguments, count, 8)
HILBRIUM_OFFSET(PrefixByWarpsArguments, repeats, 12)
HILBRIUM_OFFSET(PrefixByWarpsArguments, sums, 16)

}  // namespace hilbrium

extern "C" __global__ void prefix_in_place(
    const __grid_constant__ hilbrium::PrefixInPlaceArguments args);
extern "C" __global__ void prefix_by_warps(
    const __grid_constant__ hilbrium::PrefixByWarpsArguments args);
