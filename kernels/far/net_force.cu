// Net force and torque, and subtraction of the field of a rigid motion: mirrors src/far/net_force.rs. The
// order of summation differs from the CPU's, but is the same in every run.
//
// Rows [begin, end) are the owned ones, without ghosts.
#include "../device.cuh"
#include "../arguments/far_net_force.cuh"
#include "../motion/block.cuh"

namespace hilbrium {

// Mass, first and second moments, force and torque about `origin`: sixteen columns of `partial`. Launch:
// blocks of 256 threads, 2048 rows per block. Floor: 56 bytes read per row.
extern "C" __global__ void __launch_bounds__(THREADS)
    net_force(const __grid_constant__ NetForceArguments args) {
    const auto [begin, end] = args.rows;
    const unsigned long long first = begin + static_cast<unsigned long long>(blockIdx.x) * ROWS_PER_BLOCK;
    double sums[16] = {};
    for (unsigned k = threadIdx.x; k < ROWS_PER_BLOCK; k += THREADS) {
        const unsigned long long row = first + k;
        if (row >= end) { break; }
        const double m = args.mass[row];
        double r[3], f[3];
#pragma unroll
        for (int d = 0; d < 3; ++d) {
            r[d] = args.position[d][row] - args.origin[d];
            f[d] = m * args.acceleration[d][row];
        }
        sums[0] += m;
#pragma unroll
        for (int d = 0; d < 3; ++d) {
            const int e = (d + 1) % 3, g = (d + 2) % 3;
            sums[1 + d] += m * r[d];
            sums[4 + d] += m * r[d] * r[d];
            sums[10 + d] += f[d];
            sums[13 + d] += r[e] * f[g] - r[g] * f[e];
        }
        sums[7] += m * r[0] * r[1];
        sums[8] += m * r[0] * r[2];
        sums[9] += m * r[1] * r[2];
    }
    store_partial_sums(sums, args.partial);
}
HILBRIUM_EXPORT(net_force)

// Subtracts `linear` + `angular` x (position - `center`) from the accelerations. Launch: blocks of 256
// threads, one thread per row. Floor: 48 bytes read, 24 written per row.
extern "C" __global__ void __launch_bounds__(THREADS)
    subtract_rigid_field(const __grid_constant__ SubtractRigidFieldArguments args) {
    const auto [begin, end] = args.rows;
    const unsigned long long place = thread_of_grid(), row = begin + place;
    if (place >= end - begin) { return; }
    double away[3];
#pragma unroll
    for (int d = 0; d < 3; ++d) { away[d] = args.position[d][row] - args.center[d]; }
#pragma unroll
    for (int d = 0; d < 3; ++d) {
        const int e = (d + 1) % 3, g = (d + 2) % 3;
        args.acceleration[d][row] -= args.linear[d] + args.angular[e] * away[g] - args.angular[g] * away[e];
    }
}
HILBRIUM_EXPORT(subtract_rigid_field)

}  // namespace hilbrium
