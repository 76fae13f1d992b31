// Wraps positions into the box: mirrors src/domain/enter.rs bit for bit. Rows [begin, end) are the owned
// ones, without ghosts.
#include "../device.cuh"

#include "../motion/block.cuh"
#include "../motion/wrap.cuh"

namespace hilbrium {

// Largest accepted coordinate: squared distances must stay finite.
constexpr double FARTHEST = 1e150;

// Wraps a coordinate outside of a periodic box; counts the crossed periods in `image` unless null.
__device__ __noinline__ double wrap_and_count(double coordinate, double lower, double upper, double* image,
                                       unsigned long long row) {
    const double inside = wrapped(coordinate, lower, upper);
    if (image != nullptr) {
        const Rounded periods = (Rounded(coordinate) - Rounded(inside)) / Rounded(rounded_sum(upper, -lower));
        image[row] = rounded_sum(image[row], ::round(periods.value));
    }
    return inside;
}

// Wraps rows along dimension d if bit d of `periodic` is set. `extent` receives the minimum (reduce_min)
// and maximum (reduce_max) coordinate of each dimension before wrapping. `first_nowhere` receives the first
// row with an invalid coordinate (record_first); such rows are left unchanged, and the host must reject the
// positions.
// Launch: blocks of 256 threads, 2048 rows per block. Floor: 24 bytes read per row.
extern "C" __global__ void __launch_bounds__(THREADS)
    enter_box(double* __restrict__ position_x, double* __restrict__ position_y, double* __restrict__ position_z,
              double* __restrict__ image_x, double* __restrict__ image_y, double* __restrict__ image_z, double lower_x,
              double lower_y, double lower_z, double upper_x, double upper_y, double upper_z, unsigned periodic,
              unsigned begin, unsigned end, unsigned long long* __restrict__ extent,
              unsigned* __restrict__ first_nowhere) {
    const unsigned long long first = begin + static_cast<unsigned long long>(blockIdx.x) * ROWS_PER_BLOCK;
    double* const position[3] = {position_x, position_y, position_z};
    double* const image[3] = {image_x, image_y, image_z};
    const double lower[3] = {lower_x, lower_y, lower_z}, upper[3] = {upper_x, upper_y, upper_z};
    const double infinity = __longlong_as_double(0x7ff0000000000000ll);
    double least_here[3] = {infinity, infinity, infinity}, greatest_here[3] = {-infinity, -infinity, -infinity};
#pragma unroll 2
    for (unsigned k = threadIdx.x; k < ROWS_PER_BLOCK; k += THREADS) {
        const unsigned long long row = first + k;
        if (row >= end) { break; }
        const double x[3] = {position_x[row], position_y[row], position_z[row]};
#pragma unroll
        for (int d = 0; d < 3; ++d) {
            if (!(::fabs(x[d]) <= FARTHEST)) {
                record_first(&first_nowhere[d], row);
                continue;
            }
            least_here[d] = smaller(least_here[d], x[d]);
            greatest_here[d] = larger(greatest_here[d], x[d]);
            if ((periodic >> d & 1u) != 0 && !(lower[d] <= x[d] && x[d] < upper[d])) {
                position[d][row] = wrap_and_count(x[d], lower[d], upper[d], image[d], row);
            }
        }
    }
#pragma unroll
    for (int d = 0; d < 3; ++d) {
        reduce_min(least_here[d], &extent[2 * d]);
        reduce_max(greatest_here[d], &extent[2 * d + 1]);
    }
}
HILBRIUM_EXPORT(enter_box)

}  // namespace hilbrium
