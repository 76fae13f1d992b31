// How much of a list's skin the particles have used up since it was built: mirrors src/neighbors/skin.rs with the same
// bits. Positions and, where each particle has its own, radii of that time are kept in columns beside the particles'.
// Rows begin .. end are the owned ones; there is no ghost among them; a row of the kept columns is counted from `begin`.
#include "../device.cuh"
#include "../arguments/motion_skin.cuh"
#include "../motion/block.cuh"
#include "../motion/wrap.cuh"

namespace hilbrium {

// Of particles of one radius: the largest square of a way since then, to the nearest image, in `largest_square`
// (join_largest); infinite where something is no number. Period and frequency (its
// inverse) of a dimension are 0 where space is open. Blocks of 256 threads, 2048 rows a block. Floor: 48 bytes read a row.
extern "C" __global__ void __launch_bounds__(THREADS)
    farthest_way(const __grid_constant__ FarthestWayArguments args) {
    const double* __restrict__ const position[3] = {args.position[0], args.position[1], args.position[2]};
    const double* __restrict__ const then[3] = {args.then[0], args.then[1], args.then[2]};
    const auto [begin, end] = args.rows;
    unsigned long long* __restrict__ const largest_square = args.largest_square;
    const unsigned long long first = static_cast<unsigned long long>(blockIdx.x) * PIECE;
    const double period[3] = {args.bx.period[0], args.bx.period[1], args.bx.period[2]};
    const double frequency[3] = {args.bx.frequency[0], args.bx.frequency[1], args.bx.frequency[2]};
    double most = 0.0;
#pragma unroll 4
    for (unsigned k = threadIdx.x; k < PIECE; k += THREADS) {
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
    join_largest(most, largest_square);
}
HILBRIUM_EXPORT(farthest_way)

// Of particles of their own radii, the reach `factor` h: the largest 2 (u + g) / r in `used` (join_largest), u the way
// since then, r the reach of then, g by how much it has grown; infinite where something is no number. A length of 0 says that space is open there. Blocks of 256 threads, 2048 rows a block. Floor:
// 64 bytes read a row.
extern "C" __global__ void __launch_bounds__(THREADS)
    skin_used(const __grid_constant__ SkinUsedArguments args) {
    const double* __restrict__ const position[3] = {args.position[0], args.position[1], args.position[2]};
    const double* __restrict__ const then[3] = {args.then[0], args.then[1], args.then[2]};
    const double* __restrict__ const smoothing_length = args.smoothing_length;
    const double* __restrict__ const reach_then = args.reach_then;
    const auto [begin, end] = args.rows;
    unsigned long long* __restrict__ const used = args.used;
    const unsigned long long first = static_cast<unsigned long long>(blockIdx.x) * PIECE;
    double most = 0.0;
    for (unsigned k = threadIdx.x; k < PIECE; k += THREADS) {
        const unsigned long long place = first + k, row = begin + place;
        if (place >= end - begin) { break; }
        const Rounded x = shortest(Rounded(position[0][row]) - then[0][place], args.bx.period[0]);
        const Rounded y = shortest(Rounded(position[1][row]) - then[1][place], args.bx.period[1]);
        const Rounded z = shortest(Rounded(position[2][row]) - then[2][place], args.bx.period[2]);
        const Rounded moved = root(squared_length(x, y, z)), reach = reach_then[place];
        const Rounded grown = Rounded(args.factor) * smoothing_length[row] - reach;
        // what has not moved has used nothing, even of no radius
        if (moved.value == 0.0 && grown.value <= 0.0) { continue; }
        const double share = (Rounded(2.0) * (moved + greatest(grown, 0.0)) / reach).value;
        const bool number = share == share && grown.value == grown.value;
        most = number ? larger(most, share) : __longlong_as_double(0x7ff0000000000000ll);
    }
    join_largest(most, used);
}
HILBRIUM_EXPORT(skin_used)

// By row the largest support whose pairs a used list still holds, (1 + s / 2) r - u, s its skin. Blocks of 256 threads, one
// thread a row. Floor: 56 bytes read, 8 written a row.
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
