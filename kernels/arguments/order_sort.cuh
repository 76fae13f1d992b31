// Printed from src/device/arguments: change it there, then run
// HILBRIUM_PRINT=1 cargo test --test device kernel_arguments
#pragma once

#include "../arguments/layout.cuh"

namespace hilbrium {

// Histograms of all digits.
struct RadixHistogramsArguments {
    // Keys.
    const unsigned long long* keys;
    // Number of keys.
    unsigned count;
    // Lowest bit of the lowest digit.
    unsigned first_shift;
    // Number of digits.
    unsigned digits;
    // Histograms, initially 0.
    unsigned* histograms;
    // Number of keys below their predecessor, initially 0.
    unsigned* descents;
};
HILBRIUM_SIZE(RadixHistogramsArguments, 40)
HILBRIUM_OFFSET(RadixHistogramsArguments, keys, 0)
HILBRIUM_OFFSET(RadixHistogramsArguments, count, 8)
HILBRIUM_OFFSET(RadixHistogramsArguments, first_shift, 12)
HILBRIUM_OFFSET(RadixHistogramsArguments, digits, 16)
HILBRIUM_OFFSET(RadixHistogramsArguments, histograms, 24)
HILBRIUM_OFFSET(RadixHistogramsArguments, descents, 32)

// Prefix sums of the histograms.
struct RadixBasesArguments {
    // Histograms, then offsets.
    unsigned* histograms;
    // 1 for digits with a single value.
    unsigned* trivial;
    // Number of keys.
    unsigned count;
};
HILBRIUM_SIZE(RadixBasesArguments, 24)
HILBRIUM_OFFSET(RadixBasesArguments, histograms, 0)
HILBRIUM_OFFSET(RadixBasesArguments, trivial, 8)
HILBRIUM_OFFSET(RadixBasesArguments, count, 16)

// One pass of a radix sort over pairs of key and row.
struct RadixPass {
    // Keys to read.
    const unsigned long long* keys_from;
    // Rows to read; unused by the first pass, whose rows are 0, 1, 2, ...
    const unsigned* rows_from;
    // Keys to write.
    unsigned long long* keys_to;
    // Rows to write.
    unsigned* rows_to;
    // Offsets of the digit's values.
    const unsigned* base;
    // Published counts of tiles, initially 0.
    unsigned* published;
    // Published counts of the next pass, which this pass clears.
    unsigned* next_published;
    // Number of tiles taken, initially 0.
    unsigned* tiles_taken;
    // Number of pairs.
    unsigned count;
    // Lowest bit of the digit.
    unsigned shift;
};
HILBRIUM_SIZE(RadixPass, 72)
HILBRIUM_OFFSET(RadixPass, keys_from, 0)
HILBRIUM_OFFSET(RadixPass, rows_from, 8)
HILBRIUM_OFFSET(RadixPass, keys_to, 16)
HILBRIUM_OFFSET(RadixPass, rows_to, 24)
HILBRIUM_OFFSET(RadixPass, base, 32)
HILBRIUM_OFFSET(RadixPass, published, 40)
HILBRIUM_OFFSET(RadixPass, next_published, 48)
HILBRIUM_OFFSET(RadixPass, tiles_taken, 56)
HILBRIUM_OFFSET(RadixPass, count, 64)
HILBRIUM_OFFSET(RadixPass, shift, 68)

// A pass over rows in order.
struct RadixPassFirstArguments {
    // The pass.
    RadixPass pass;
};
HILBRIUM_SIZE(RadixPassFirstArguments, 72)
HILBRIUM_OFFSET(RadixPassFirstArguments, pass, 0)

// A later pass.
struct RadixPassNextArguments {
    // The pass.
    RadixPass pass;
};
HILBRIUM_SIZE(RadixPassNextArguments, 72)
HILBRIUM_OFFSET(RadixPassNextArguments, pass, 0)

// The rows 0, 1, 2, ...
struct RowsInOrderArguments {
    // The rows.
    unsigned* rows;
    // Number of rows.
    unsigned count;
};
HILBRIUM_SIZE(RowsInOrderArguments, 16)
HILBRIUM_OFFSET(RowsInOrderArguments, rows, 0)
HILBRIUM_OFFSET(RowsInOrderArguments, count, 8)

// Runs of keys that agree in their upper bits, sorted in place.
struct SortRunsArguments {
    // Keys.
    unsigned long long* keys;
    // Rows of the keys.
    unsigned* rows;
    // Identities of rows, or null.
    const unsigned long long* id;
    // Number of keys.
    unsigned count;
    // Keys of a run agree from this bit on.
    unsigned shift;
    // Number of runs that are too long.
    unsigned* too_long;
    // 1 if any pair moved.
    unsigned* moved;
};
HILBRIUM_SIZE(SortRunsArguments, 48)
HILBRIUM_OFFSET(SortRunsArguments, keys, 0)
HILBRIUM_OFFSET(SortRunsArguments, rows, 8)
HILBRIUM_OFFSET(SortRunsArguments, id, 16)
HILBRIUM_OFFSET(SortRunsArguments, count, 24)
HILBRIUM_OFFSET(SortRunsArguments, shift, 28)
HILBRIUM_OFFSET(SortRunsArguments, too_long, 32)
HILBRIUM_OFFSET(SortRunsArguments, moved, 40)

}  // namespace hilbrium

extern "C" __global__ void radix_histograms(
    const __grid_constant__ hilbrium::RadixHistogramsArguments args);
extern "C" __global__ void radix_bases(
    const __grid_constant__ hilbrium::RadixBasesArguments args);
extern "C" __global__ void radix_pass_first(
    const __grid_constant__ hilbrium::RadixPassFirstArguments args);
extern "C" __global__ void radix_pass_next(
    const __grid_constant__ hilbrium::RadixPassNextArguments args);
extern "C" __global__ void rows_in_order(
    const __grid_constant__ hilbrium::RowsInOrderArguments args);
extern "C" __global__ void sort_runs(
    const __grid_constant__ hilbrium::SortRunsArguments args);
