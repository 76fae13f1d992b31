// Center-of-mass motion, and reduction of the blocks' partial sums: mirrors src/motion/bulk_motion.rs. The
// order of summation differs from the CPU's, but is the same in every run; scaled and shifted velocities are
// bitwise equal.
//
// Rows [begin, end) are the owned ones, without ghosts.
#include "../device.cuh"
#include "../arguments/motion_whole.cuh"
#include "../motion/block.cuh"
#include "../motion/rounded.cuh"

namespace hilbrium {

// Reduces partial sums: block k adds column k of `partial`, of `blocks` values, into sums[k]. Launch: blocks
// of 256 threads; fixed order of summation. Floor: 8 bytes per value, one multiprocessor per column.
extern "C" __global__ void __launch_bounds__(THREADS)
    finish_sums(const __grid_constant__ FinishSumsArguments args) {
    const double* __restrict__ const partial = args.partial;
    double* __restrict__ const sums = args.sums;
    const double* const column = partial + static_cast<unsigned long long>(blockIdx.x) * args.blocks;
    double sum = 0.0;
    for (unsigned block = threadIdx.x; block < args.blocks; block += THREADS) { sum += column[block]; }
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

// Mass, momentum and kinetic energy: five columns of `partial`. Launch: blocks of 256 threads, 2048 rows per
// block. Floor: 32 bytes read per row.
extern "C" __global__ void __launch_bounds__(THREADS)
    whole_motion(const __grid_constant__ WholeMotionArguments args) {
    const double* __restrict__ const velocity[3] = {args.velocity[0], args.velocity[1], args.velocity[2]};
    const double* __restrict__ const mass = args.mass;
    const auto [begin, end] = args.rows;
    double* __restrict__ const partial = args.partial;
    const unsigned long long first = begin + static_cast<unsigned long long>(blockIdx.x) * ROWS_PER_BLOCK;
    double sums[5] = {0.0, 0.0, 0.0, 0.0, 0.0};
#pragma unroll 4
    for (unsigned k = threadIdx.x; k < ROWS_PER_BLOCK; k += THREADS) {
        const unsigned long long row = first + k;
        if (row >= end) { break; }
        const double m = mass[row], x = velocity[0][row], y = velocity[1][row], z = velocity[2][row];
        sums[0] += m;
        sums[1] += m * x;
        sums[2] += m * y;
        sums[3] += m * z;
        sums[4] += 0.5 * (m * x * x + m * y * y + m * z * z);
    }
    store_partial_sums(sums, partial);
}
HILBRIUM_EXPORT(whole_motion)

// Replaces every velocity v by v scale + offset. Launch: blocks of 256 threads, one thread per row. Floor: 24
// bytes read, 24 written per row.
extern "C" __global__ void __launch_bounds__(THREADS)
    scale_velocities(const __grid_constant__ ScaleVelocitiesArguments args) {
    double* __restrict__ const velocity[3] = {args.velocity[0], args.velocity[1], args.velocity[2]};
    const double scale = args.scale;
    const auto [begin, end] = args.rows;
    const unsigned long long place = thread_of_grid(), row = begin + place;
    if (place >= end - begin) { return; }
    velocity[0][row] = (Rounded(velocity[0][row]) * scale + args.offset[0]).value;
    velocity[1][row] = (Rounded(velocity[1][row]) * scale + args.offset[1]).value;
    velocity[2][row] = (Rounded(velocity[2][row]) * scale + args.offset[2]).value;
}
HILBRIUM_EXPORT(scale_velocities)

}  // namespace hilbrium
