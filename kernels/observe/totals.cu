// What is observed of all particles: mirrors the sums of src/observe/mod.rs. Sums are taken in another order than the
// processor's, the same in every run; extremes are exact. finish_sums of motion/whole.cu joins what blocks leave.
#include "../device.cuh"
#include "../arguments/observe_totals.cuh"
#include "../motion/block.cuh"

namespace hilbrium {

// Fourteen columns of `partial`: mass, kinetic, thermal and potential energy, momentum (3), angular momentum about the
// origin (3), m r (3), virial. extremes[0]: the greatest density (join_largest), extremes[1]: the least smoothing
// length (join_smallest). Columns that particles do not have are null. Rows begin .. end are
// the owned ones, without ghosts; blocks of 256 threads, 2048 rows a block. Floor: 56 bytes read a row, and 8 a column that
// is there beside.
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
    const unsigned long long first = begin + static_cast<unsigned long long>(blockIdx.x) * PIECE;
    double sums[14] = {};
    double greatest_density = 0.0, least_length = __longlong_as_double(0x7ff0000000000000ll);
    for (unsigned k = threadIdx.x; k < PIECE; k += THREADS) {
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
    leave_sums(sums, partial);
    join_largest(greatest_density, &extremes[0]);
    join_smallest(least_length, &extremes[1]);
}
HILBRIUM_EXPORT(observe_totals)

}  // namespace hilbrium
