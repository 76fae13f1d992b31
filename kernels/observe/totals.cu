// Totals over all particles: mirrors the sums of src/observe/mod.rs. The order of summation differs from the
// CPU's, but is the same in every run; extremes are exact. finish_sums of motion/whole.cu reduces the partial
// sums of the blocks.
#include "../device.cuh"
#include "../arguments/observe_totals.cuh"
#include "../motion/block.cuh"

namespace hilbrium {

// Fourteen columns of `partial`: mass, kinetic, thermal and potential energy, momentum (3), angular momentum
// about the origin (3), m r (3), virial. extremes[0]: largest density (reduce_max), extremes[1]: smallest
// smoothing length (reduce_min). Missing columns are null. Rows [begin, end) are the owned ones, without
// ghosts.
// Launch: blocks of 256 threads, 2048 rows per block. Floor: 56 bytes read per row, and 8 per additional
// column.
extern "C" __global__ void __launch_bounds__(THREADS)
    observe_totals(const __grid_constant__ TotalsArguments args) {
    const double* __restrict__ const position[3] = {args.position[0], args.position[1], args.position[2]};
    const double* __restrict__ const velocity[3] = {args.velocity[0], args.velocity[1], args.velocity[2]};
    const double* __restrict__ const mass = args.mass;
    const double* __restrict__ const energy = args.energy;
    const double* __restrict__ const potential = args.potential;
    const double* __restrict__ const pair_energy = args.pair_energy;
    const double* __restrict__ const virial = args.virial;
    const double* __restrict__ const density = args.density;
    const double* __restrict__ const smoothing_length = args.smoothing_length;
    const auto [begin, end] = args.rows;
    double* __restrict__ const partial = args.partial;
    unsigned long long* __restrict__ const extremes = args.extremes;
    const unsigned long long first = begin + static_cast<unsigned long long>(blockIdx.x) * ROWS_PER_BLOCK;
    double sums[14] = {};
    double greatest_density = 0.0, least_length = __longlong_as_double(0x7ff0000000000000ll);
    for (unsigned k = threadIdx.x; k < ROWS_PER_BLOCK; k += THREADS) {
        const unsigned long long row = first + k;
        if (row >= end) { break; }
        const double m = mass[row], x = position[0][row], y = position[1][row], z = position[2][row];
        const double u = velocity[0][row], v = velocity[1][row], w = velocity[2][row];
        const double momentum_x = m * u, momentum_y = m * v, momentum_z = m * w;
        sums[0] += m;
        sums[1] += 0.5 * (momentum_x * u + momentum_y * v + momentum_z * w);
        if (energy != nullptr) { sums[2] += m * energy[row]; }
        if (potential != nullptr) { sums[3] += 0.5 * m * potential[row]; }
        if (pair_energy != nullptr) { sums[3] += pair_energy[row]; }
        sums[4] += momentum_x;
        sums[5] += momentum_y;
        sums[6] += momentum_z;
        sums[7] += y * momentum_z - z * momentum_y;
        sums[8] += z * momentum_x - x * momentum_z;
        sums[9] += x * momentum_y - y * momentum_x;
        sums[10] += m * x;
        sums[11] += m * y;
        sums[12] += m * z;
        if (virial != nullptr) { sums[13] += virial[row]; }
        if (density != nullptr) { greatest_density = ::fmax(greatest_density, density[row]); }
        if (smoothing_length != nullptr) { least_length = ::fmin(least_length, smoothing_length[row]); }
    }
    store_partial_sums(sums, partial);
    reduce_max(greatest_density, &extremes[0]);
    reduce_min(least_length, &extremes[1]);
}
HILBRIUM_EXPORT(observe_totals)

}  // namespace hilbrium
