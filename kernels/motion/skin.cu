// Fraction of a list's skin that the particles have used since its build: mirrors src/neighborhood/skin.rs
// bit for bit. Positions at the build and, if each particle has its own, radii are stored in separate
// columns. Rows [begin, end) are the owned ones, without ghosts; stored columns are indexed from `begin`.
#include "../device.cuh"
#include "../arguments/motion_skin.cuh"
#include "../motion/block.cuh"
#include "../motion/wrap.cuh"

namespace hilbrium {

// For particles with a common radius: the largest squared displacement since the build (minimum image) in
// `largest_square` (reduce_max); infinite if a value is NaN. `bx.period` and `bx.frequency` are 0 in open
// dimensions. Launch: blocks of 256 threads, 2048 rows per block. Floor: 48 bytes read per row.
extern "C" __global__ void __launch_bounds__(THREADS)
    farthest_way(const __grid_constant__ FarthestWayArguments args) {
    const double* __restrict__ const position[3] = {args.position[0], args.position[1], args.position[2]};
    const double* __restrict__ const then[3] = {args.then[0], args.then[1], args.then[2]};
    const auto [begin, end] = args.rows;
    unsigned long long* __restrict__ const largest_square = args.largest_square;
    const unsigned long long first = static_cast<unsigned long long>(blockIdx.x) * ROWS_PER_BLOCK;
    const double period[3] = {args.bx.period[0], args.bx.period[1], args.bx.period[2]};
    const double frequency[3] = {args.bx.frequency[0], args.bx.frequency[1], args.bx.frequency[2]};
    double most = 0.0;
#pragma unroll 4
    for (unsigned k = threadIdx.x; k < ROWS_PER_BLOCK; k += THREADS) {
        const unsigned long long place = first + k;
        if (place >= end - begin) { break; }
        double square = 0.0;
#pragma unroll
        for (int d = 0; d < 3; ++d) {
            double way = rounded_sum(position[d][begin + place], -then[d][place]);
            way = rounded_sum(way, -rounded_product(::rint(rounded_product(way, frequency[d])), period[d]));
            square = ::fma(way, way, square);
        }
        most = is_finite(square) ? larger(most, square) : __longlong_as_double(0x7ff0000000000000ll);
    }
    reduce_max(most, largest_square);
}
HILBRIUM_EXPORT(farthest_way)

// For particles with individual radii `factor` h: the largest 2 (u + g) / r in `used` (reduce_max), with u
// the displacement since the build, r the radius at the build, g its growth; infinite if a value is NaN.
// Launch: blocks of 256 threads, 2048 rows per block. Floor: 64 bytes read per row.
extern "C" __global__ void __launch_bounds__(THREADS)
    skin_used(const __grid_constant__ SkinUsedArguments args) {
    const double* __restrict__ const position[3] = {args.position[0], args.position[1], args.position[2]};
    const double* __restrict__ const then[3] = {args.then[0], args.then[1], args.then[2]};
    const double* __restrict__ const smoothing_length = args.smoothing_length;
    const double* __restrict__ const reach_then = args.reach_then;
    const auto [begin, end] = args.rows;
    unsigned long long* __restrict__ const used = args.used;
    const unsigned long long first = static_cast<unsigned long long>(blockIdx.x) * ROWS_PER_BLOCK;
    double most = 0.0;
    for (unsigned k = threadIdx.x; k < ROWS_PER_BLOCK; k += THREADS) {
        const unsigned long long place = first + k, row = begin + place;
        if (place >= end - begin) { break; }
        const Rounded x = shortest(Rounded(position[0][row]) - then[0][place], args.bx.period[0]);
        const Rounded y = shortest(Rounded(position[1][row]) - then[1][place], args.bx.period[1]);
        const Rounded z = shortest(Rounded(position[2][row]) - then[2][place], args.bx.period[2]);
        const Rounded moved = root(squared_length(x, y, z)), reach = reach_then[place];
        const Rounded grown = Rounded(args.factor) * smoothing_length[row] - reach;
        // A row that has not moved uses no skin, even with zero radius.
        if (moved.value == 0.0 && grown.value <= 0.0) { continue; }
        const double share = (Rounded(2.0) * (moved + greatest(grown, 0.0)) / reach).value;
        const bool number = share == share && grown.value == grown.value;
        most = number ? larger(most, share) : __longlong_as_double(0x7ff0000000000000ll);
    }
    reduce_max(most, used);
}
HILBRIUM_EXPORT(skin_used)

// Per row, the largest support that a used list still covers, (1 + s / 2) r - u, with s the skin. Launch:
// blocks of 256 threads, one thread per row. Floor: 56 bytes read, 8 written per row.
extern "C" __global__ void __launch_bounds__(THREADS)
    skin_limits(const __grid_constant__ SkinLimitsArguments args) {
    const double* __restrict__ const position[3] = {args.position[0], args.position[1], args.position[2]};
    const double* __restrict__ const then[3] = {args.then[0], args.then[1], args.then[2]};
    const double* __restrict__ const reach_then = args.reach_then;
    const auto [begin, end] = args.rows;
    double* __restrict__ const limit = args.limit;
    const unsigned long long place = thread_of_grid(), row = begin + place;
    if (place >= end - begin) { return; }
    const Rounded x = shortest(Rounded(position[0][row]) - then[0][place], args.bx.period[0]);
    const Rounded y = shortest(Rounded(position[1][row]) - then[1][place], args.bx.period[1]);
    const Rounded z = shortest(Rounded(position[2][row]) - then[2][place], args.bx.period[2]);
    const Rounded moved = root(squared_length(x, y, z));
    limit[row] = ((Rounded(1.0) + Rounded(0.5) * args.skin) * reach_then[place] - moved).value;
}
HILBRIUM_EXPORT(skin_limits)

}  // namespace hilbrium
