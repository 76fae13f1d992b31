// External accelerations and their energy: mirrors src/far/external.rs.
//
// Rows [begin, end) are the owned ones, without ghosts.
#define HILBRIUM_REAL double
#include "../device.cuh"
#include "../arguments/far_external.cuh"
#include "../motion/block.cuh"
#include "../shared/plummer.cuh"

namespace hilbrium {

// Vector from the point mass to a row, without the dimensions that do not count; returns the inverse of its
// softened length.
__device__ __forceinline__ double away_from_point(
    const ExternalParameters& field,
    const double* const (&position)[3],
    unsigned long long row,
    double (&away)[3]) {
    double square = 0.0;
#pragma unroll
    for (int d = 0; d < 3; ++d) {
        away[d] = field.counted[d] * (position[d][row] - field.center[d]);
        square += away[d] * away[d];
    }
    return plummer::inverse_distance(square, field.squared_softening);
}

// Adds the field to the accelerations. Launch: blocks of 256 threads, one thread per row. Floor: 48 bytes
// read, 24 written per row.
extern "C" __global__ void __launch_bounds__(THREADS)
    external_acceleration(const __grid_constant__ ExternalAccelerationArguments args) {
    const auto [begin, end] = args.rows;
    const unsigned long long place = thread_of_grid(), row = begin + place;
    if (place >= end - begin) { return; }
    double away[3] = {}, pull = 0.0;
    if (args.field.strength > 0.0) {
        pull = args.field.strength * plummer::pull(away_from_point(args.field, args.position, row, away));
    }
#pragma unroll
    for (int d = 0; d < 3; ++d) { args.acceleration[d][row] += args.field.uniform[d] - pull * away[d]; }
}
HILBRIUM_EXPORT(external_acceleration)

// Sum of m phi: one column of `partial`. Launch: blocks of 256 threads, 2048 rows per block. Floor: 32 bytes
// read per row.
extern "C" __global__ void __launch_bounds__(THREADS)
    external_energy(const __grid_constant__ ExternalEnergyArguments args) {
    const auto [begin, end] = args.rows;
    const unsigned long long first = begin + static_cast<unsigned long long>(blockIdx.x) * ROWS_PER_BLOCK;
    double sums[1] = {};
    for (unsigned k = threadIdx.x; k < ROWS_PER_BLOCK; k += THREADS) {
        const unsigned long long row = first + k;
        if (row >= end) { break; }
        double potential = 0.0, away[3];
#pragma unroll
        for (int d = 0; d < 3; ++d) { potential -= args.field.uniform[d] * args.position[d][row]; }
        if (args.field.strength > 0.0) {
            potential -= args.field.strength * away_from_point(args.field, args.position, row, away);
        }
        sums[0] += args.mass[row] * potential;
    }
    store_partial_sums(sums, args.partial);
}
HILBRIUM_EXPORT(external_energy)

}  // namespace hilbrium
