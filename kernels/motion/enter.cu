// Wraps positions into the box: mirrors src/domain/wrap.rs bit for bit. Rows [begin, end) are the owned
// ones, without ghosts.
#include "../device.cuh"
#include "../arguments/motion_enter.cuh"
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

// Wraps rows along dimension d if bit d of `bx.periodic` is set. `extent` receives the minimum (reduce_min)
// and maximum (reduce_max) coordinate of each dimension before wrapping. `first_nowhere` receives for each
// dimension the first row with an invalid coordinate (record_first). Such rows are left unchanged, and the
// host must reject the positions. `image` may be null.
// Launch: blocks of 256 threads, 2048 rows per block. Floor: 24 bytes read per row.
extern "C" __global__ void __launch_bounds__(THREADS)
    enter_box(const __grid_constant__ EnterBoxArguments args) {
    double* __restrict__ const position[3] = {args.position[0], args.position[1], args.position[2]};
    double* __restrict__ const image[3] = {args.image[0], args.image[1], args.image[2]};
    const auto [begin, end] = args.rows;
    unsigned long long* __restrict__ const extent = args.extent;
    unsigned* __restrict__ const first_nowhere = args.first_nowhere;
    const unsigned long long first = begin + static_cast<unsigned long long>(blockIdx.x) * ROWS_PER_BLOCK;
    const double lower[3] = {args.bx.lower[0], args.bx.lower[1], args.bx.lower[2]};
    const double upper[3] = {args.bx.upper[0], args.bx.upper[1], args.bx.upper[2]};
    const double infinity = __longlong_as_double(0x7ff0000000000000ll);
    double least_here[3] = {infinity, infinity, infinity}, greatest_here[3] = {-infinity, -infinity, -infinity};
#pragma unroll 2
    for (unsigned k = threadIdx.x; k < ROWS_PER_BLOCK; k += THREADS) {
        const unsigned long long row = first + k;
        if (row >= end) { break; }
        const double x[3] = {position[0][row], position[1][row], position[2][row]};
#pragma unroll
        for (int d = 0; d < 3; ++d) {
            if (!(::fabs(x[d]) <= FARTHEST)) {
                record_first(&first_nowhere[d], row);
                continue;
            }
            least_here[d] = smaller(least_here[d], x[d]);
            greatest_here[d] = larger(greatest_here[d], x[d]);
            if ((args.bx.periodic >> d & 1u) != 0 && !(lower[d] <= x[d] && x[d] < upper[d])) {
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
