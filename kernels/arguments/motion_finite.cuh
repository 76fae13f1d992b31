// Printed from src/device/arguments: change it there, then run
// HILBRIUM_PRINT=1 cargo test --test device kernel_arguments
#pragma once

#include "../arguments/layout.cuh"
#include "../arguments/shared.cuh"

namespace hilbrium {

// The first row of each column with a value that is not finite.
struct FindNotFiniteArguments {
    // The columns.
    const double* const* columns;
    // Number of columns.
    unsigned count;
    // The owned rows.
    Rows rows;
    // The first row of each column.
    unsigned* first_not_finite;
};
HILBRIUM_SIZE(FindNotFiniteArguments, 32)
HILBRIUM_OFFSET(FindNotFiniteArguments, columns, 0)
HILBRIUM_OFFSET(FindNotFiniteArguments, count, 8)
HILBRIUM_OFFSET(FindNotFiniteArguments, rows, 12)
HILBRIUM_OFFSET(FindNotFiniteArguments, first_not_finite, 24)

// Replacement of values that are not finite.
struct MendColumnArguments {
    // The column.
    double* column;
    // The replacement.
    double guess;
    // The owned rows.
    Rows rows;
};
HILBRIUM_SIZE(MendColumnArguments, 24)
HILBRIUM_OFFSET(MendColumnArguments, column, 0)
HILBRIUM_OFFSET(MendColumnArguments, guess, 8)
HILBRIUM_OFFSET(MendColumnArguments, rows, 16)

}  // namespace hilbrium

extern "C" __global__ void find_not_finite(
    const __grid_constant__ hilbrium::FindNotFiniteArguments args);
extern "C" __global__ void mend_column(
    const __grid_constant__ hilbrium::MendColumnArguments args);
