// What is not finite: found, or mended. Rows begin .. end are the owned ones; there is no ghost among them.
#include "../device.cuh"

#include "../motion/block.cuh"
#include "../motion/rounded.cuh"

namespace hilbrium {

// The first row of each of `count` columns with a value that is not finite: block b looks at piece b / count of column
// b % count. `first_not_finite` has a row for each column (note_first). Blocks of 256 threads, count times (rows / 2048) of
// them. Floor: 8 bytes read a row and column.
extern "C" __global__ void __launch_bounds__(THREADS)
    find_not_finite(const double* const* __restrict__ columns, unsigned count, unsigned begin, unsigned end,
                    unsigned* __restrict__ first_not_finite) {
    const unsigned column = blockIdx.x % count;
    const double* const values = columns[column];
    const unsigned long long first = begin + static_cast<unsigned long long>(blockIdx.x / count) * PIECE;
    unsigned found = 0xffffffffu;
#pragma unroll 4
    for (unsigned k = threadIdx.x; k < PIECE; k += THREADS) {
        const unsigned long long row = first + k;
        if (row >= end) { break; }
        if (!is_finite(values[row])) { found = found < row ? found : static_cast<unsigned>(row); }
    }
    if (found != 0xffffffffu) { note_first(&first_not_finite[column], found); }
}
HILBRIUM_EXPORT(find_not_finite)

// Replaces what is not finite in a column by a first guess: what failed forces have spoiled. Floor: 8 bytes read a row.
extern "C" __global__ void __launch_bounds__(THREADS)
    mend_column(double* __restrict__ column, double guess, unsigned begin, unsigned end) {
    const unsigned long long place = thread_of_grid(), row = begin + place;
    if (place < end - begin && !is_finite(column[row])) { column[row] = guess; }
}
HILBRIUM_EXPORT(mend_column)

}  // namespace hilbrium
