// Fraction of a list's skin that the particles have used since its build: mirrors src/neighborhood/skin.rs
// bit for bit. Positions at the build and, if each particle has its own, radii are stored in separate
// columns. Rows [begin, end) are the owned ones, without ghosts; stored columns are indexed from `begin`.
#include "../device.cuh"

#include "../motion/block.cuh"
#include "../motion/wrap.cuh"

namespace hilbrium {

// For particles with a common radius: the largest squared displacement since the build (minimum image) in
// `largest_square` (reduce_max); infinite if a value is NaN. Period and frequency (its inverse) are 0 in
// open dimensions. Launch: blocks of 256 threads, 2048 rows per block. Floor: 48 bytes read per row.
extern "C" __global__ void __launch_bounds__(THREADS)
    farthest_way(const double* __restrict__ position_x, const double* __restrict__ position_y,
                 const double* __restrict__ position_z, const double* __restrict__ then_x,
                 const double* __restrict__ then_y, const double* __restrict__ then_z, double period_x,
                 double period_y, double period_z, double frequency_x, double frequency_y, double frequency_z,
                 unsigned begin, unsigned end, unsigned long long* __restrict__ largest_square) {
    const unsigned long long first = static_cast<unsigned long long>(blockIdx.x) * ROWS_PER_BLOCK;
    const double* const position[3] = {position_x, position_y, position_z};
    const double* const then[3] = {then_x, then_y, then_z};
    const double period[3] = {period_x, period_y, period_z};
    const double frequency[3] = {frequency_x, frequency_y, frequency_z};
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
// the displacement since the build, r the radius at the build, g its growth; infinite if a value is NaN. The
// length of an open dimension is 0. Launch: blocks of 256 threads, 2048 rows per block. Floor: 64 bytes read
// per row.
extern "C" __global__ void __launch_bounds__(THREADS)
    skin_used(const double* __restrict__ position_x, const double* __restrict__ position_y,
              const double* __restrict__ position_z, const double* __restrict__ smoothing_length,
              const double* __restrict__ then_x, const double* __restrict__ then_y, const double* __restrict__ then_z,
              const double* __restrict__ reach_then, double factor, double length_x, double length_y, double length_z,
              unsigned begin, unsigned end, unsigned long long* __restrict__ used) {
    const unsigned long long first = static_cast<unsigned long long>(blockIdx.x) * ROWS_PER_BLOCK;
    double most = 0.0;
    for (unsigned k = threadIdx.x; k < ROWS_PER_BLOCK; k += THREADS) {
        const unsigned long long place = first + k, row = begin + place;
        if (place >= end - begin) { break; }
        const Rounded x = shortest(Rounded(position_x[row]) - then_x[place], length_x);
        const Rounded y = shortest(Rounded(position_y[row]) - then_y[place], length_y);
        const Rounded z = shortest(Rounded(position_z[row]) - then_z[place], length_z);
        const Rounded moved = root(squared_length(x, y, z)), reach = reach_then[place];
        const Rounded grown = Rounded(factor) * smoothing_length[row] - reach;
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
    skin_limits(const double* __restrict__ position_x, const double* __restrict__ position_y,
                const double* __restrict__ position_z, const double* __restrict__ then_x,
                const double* __restrict__ then_y, const double* __restrict__ then_z,
                const double* __restrict__ reach_then, double skin, double length_x, double length_y, double length_z,
                unsigned begin, unsigned end, double* __restrict__ limit) {
    const unsigned long long place = thread_of_grid(), row = begin + place;
    if (place >= end - begin) { return; }
    const Rounded x = shortest(Rounded(position_x[row]) - then_x[place], length_x);
    const Rounded y = shortest(Rounded(position_y[row]) - then_y[place], length_y);
    const Rounded z = shortest(Rounded(position_z[row]) - then_z[place], length_z);
    const Rounded moved = root(squared_length(x, y, z));
    limit[row] = ((Rounded(1.0) + Rounded(0.5) * skin) * reach_then[place] - moved).value;
}
HILBRIUM_EXPORT(skin_limits)

}  // namespace hilbrium
