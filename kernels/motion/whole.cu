// The motion of the whole, and the joining of blocks' sums: mirrors src/motion/whole.rs. Sums are taken in another order
// than the processor's, the same in every run; scaled and shifted velocities have its bits.
//
// Rows begin .. end are the owned ones; there is no ghost among them.
#include "../device.cuh"

#include "../motion/block.cuh"
#include "../motion/rounded.cuh"

namespace hilbrium {

// Joins the sums that blocks have left: block k of the grid adds column k of `partial`, of `blocks` values, into sums[k].
// Blocks of 256 threads; a fixed order. Floor: 8 bytes a value, one multiprocessor a column.
extern "C" __global__ void __launch_bounds__(THREADS)
    finish_sums(const double* __restrict__ partial, unsigned blocks, double* __restrict__ sums) {
    const double* const column = partial + static_cast<unsigned long long>(blockIdx.x) * blocks;
    double sum = 0.0;
    for (unsigned block = threadIdx.x; block < blocks; block += THREADS) { sum += column[block]; }
    __shared__ double of_warp[WARPS];
    sum = warp_sum(sum);
    if (lane_index() == 0) { of_warp[warp_of_block()] = sum; }
    __syncthreads();
    if (threadIdx.x == 0) {
        double whole = 0.0;
        for (unsigned warp = 0; warp < WARPS; ++warp) { whole += of_warp[warp]; }
        sums[blockIdx.x] = whole;
    }
}
HILBRIUM_EXPORT(finish_sums)

// Mass, momentum and kinetic energy: five columns of `partial`. Blocks of 256 threads, 2048 rows a block. Floor: 32 bytes
// read a row.
extern "C" __global__ void __launch_bounds__(THREADS)
    whole_motion(const double* __restrict__ velocity_x, const double* __restrict__ velocity_y,
                 const double* __restrict__ velocity_z, const double* __restrict__ mass, unsigned begin, unsigned end,
                 double* __restrict__ partial) {
    const unsigned long long first = begin + static_cast<unsigned long long>(blockIdx.x) * PIECE;
    double sums[5] = {0.0, 0.0, 0.0, 0.0, 0.0};
#pragma unroll 4
    for (unsigned k = threadIdx.x; k < PIECE; k += THREADS) {
        const unsigned long long row = first + k;
        if (row >= end) { break; }
        const double m = mass[row], x = velocity_x[row], y = velocity_y[row], z = velocity_z[row];
        sums[0] += m;
        sums[1] += m * x;
        sums[2] += m * y;
        sums[3] += m * z;
        sums[4] += 0.5 * (m * x * x + m * y * y + m * z * z);
    }
    leave_sums(sums, partial);
}
HILBRIUM_EXPORT(whole_motion)

// Every velocity v becomes v scale + offset. Blocks of 256 threads, one thread a row. Floor: 24 bytes read, 24 written a
// row.
extern "C" __global__ void __launch_bounds__(THREADS)
    scale_velocities(double* __restrict__ velocity_x, double* __restrict__ velocity_y, double* __restrict__ velocity_z,
                     double scale, double offset_x, double offset_y, double offset_z, unsigned begin, unsigned end) {
    const unsigned long long place = thread_of_grid(), row = begin + place;
    if (place >= end - begin) { return; }
    velocity_x[row] = (Rounded(velocity_x[row]) * scale + offset_x).value;
    velocity_y[row] = (Rounded(velocity_y[row]) * scale + offset_y).value;
    velocity_z[row] = (Rounded(velocity_z[row]) * scale + offset_z).value;
}
HILBRIUM_EXPORT(scale_velocities)

}  // namespace hilbrium
