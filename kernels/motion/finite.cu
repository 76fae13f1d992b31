// Finds or replaces values that are not finite. Rows [begin, end) are the owned ones, without ghosts.
#include "../device.cuh"
#include "../arguments/motion_finite.cuh"
#include "../motion/block.cuh"
#include "../motion/rounded.cuh"

namespace hilbrium {

// First row with a non-finite value in each of `count` columns (record_first). Block b reads rows
// 2048 (b / count) .. 2048 (b / count + 1), from `begin` on, of column b % count. Launch: blocks of 256
// threads, count times (rows / 2048) blocks. Floor: 8 bytes read per row and column.
extern "C" __global__ void __launch_bounds__(THREADS)
    find_not_finite(const __grid_constant__ FindNotFiniteArguments args) {
    const double* const* __restrict__ const columns = args.columns;
    const auto [begin, end] = args.rows;
    unsigned* __restrict__ const first_not_finite = args.first_not_finite;
    const unsigned column = blockIdx.x % args.count;
    const double* const values = columns[column];
    const unsigned long long block = blockIdx.x / args.count;
    const unsigned long long first = begin + block * ROWS_PER_BLOCK;
    unsigned found = 0xffffffffu;
#pragma unroll 4
    for (unsigned k = threadIdx.x; k < ROWS_PER_BLOCK; k += THREADS) {
        const unsigned long long row = first + k;
        if (row >= end) { break; }
        if (!is_finite(values[row])) { found = found < row ? found : static_cast<unsigned>(row); }
    }
    if (found != 0xffffffffu) { record_first(&first_not_finite[column], found); }
}
HILBRIUM_EXPORT(find_not_finite)

// Replaces non-finite values, left by failed forces, by an initial guess. Floor: 8 bytes read per row.
extern "C" __global__ void __launch_bounds__(THREADS)
    mend_column(const __grid_constant__ MendColumnArguments args) {
    double* __restrict__ const column = args.column;
    const auto [begin, end] = args.rows;
    const unsigned long long place = thread_of_grid(), row = begin + place;
    if (place < end - begin && !is_finite(column[row])) { column[row] = args.guess; }
}
HILBRIUM_EXPORT(mend_column)

}  // namespace hilbrium
