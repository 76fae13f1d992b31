// The single mesh of Guo et al. 2015: the spreading matrix in compressed rows, a row per mesh point.
//
// Macro beside those of entries.cuh: HILBRIUM_LANES is the number of lanes per row of the product, a power of
// two up to 16.
#ifndef HILBRIUM_SHUFFLES
#define HILBRIUM_SHUFFLES 1
#endif
#include "../mesh/entries.cuh"
#include "../arguments/mesh_single.cuh"

namespace hilbrium {
namespace mesh {

constexpr unsigned LANES = HILBRIUM_LANES;

// Sum over the lanes of a row, in its first lane; all 32 lanes must call. `sub` is the lane's number within
// the row.
__device__ __forceinline__ Real sum_of_row(Real sum, unsigned sub) {
    if (SHUFFLES) {
#pragma unroll
        for (unsigned distance = LANES / 2u; distance > 0u; distance /= 2u) {
            sum += __shfl_down_sync(FULL, sum, distance, LANES);
        }
        return sum;
    }
    __shared__ Real partial[ENTRY_THREADS];
    Real* const own = partial + threadIdx.x;
#pragma unroll
    for (unsigned distance = LANES / 2u; distance > 0u; distance /= 2u) {
        *own = sum;
        __syncwarp();
        if (sub < distance) { sum += own[distance]; }
        __syncwarp(); // all reads precede the next writes
    }
    return sum;
}

} // namespace mesh

// Number of entries of each row; counts are initially 0.
// Launch: blocks of 256 threads, p^3 threads per particle. Floor: p^3 atomic additions per particle, about
// 1.6e11 per second on an H100: 1.35 ns per particle at p = 6.
extern "C" __global__ void __launch_bounds__(mesh::ENTRY_THREADS)
    count_points(const __grid_constant__ CountPointsArguments args) {
    using namespace mesh;
    const unsigned long long thread = thread_of_grid();
    const unsigned long long place = thread / FOOTPRINT;
    if (place >= args.count) { return; }
    const unsigned number = static_cast<unsigned>(thread % FOOTPRINT);
    const Entry entry = entry_of(args.geometry, args.records[place], number);
    atomicAdd(args.counts + entry.point, 1u);
}
HILBRIUM_EXPORT(count_points)

// Inserts the entries into their rows, in an order that differs between runs; counts become 0.
// Launch: blocks of 256 threads, p^3 threads per particle. Floor: p^3 atomic subtractions per particle, and a
// sector of 32 bytes for each of an entry's column and weight: 14 KB per particle at p = 6, 4 ns on an H100.
extern "C" __global__ void __launch_bounds__(mesh::ENTRY_THREADS)
    insert_points(const __grid_constant__ InsertPointsArguments args) {
    using namespace mesh;
    __shared__ Coefficients coefficients;
    coefficients.load();
    __syncthreads();
    const unsigned long long thread = thread_of_grid();
    const unsigned long long place = thread / FOOTPRINT;
    if (place >= args.count) { return; }
    const Record record = args.records[place];
    const Entry entry = entry_of(args.geometry, record, static_cast<unsigned>(thread % FOOTPRINT));
    const unsigned rank = atomicSub(args.counts + entry.point, 1u) - 1u;
    const unsigned long long slot = args.starts[entry.point] + rank;
    args.columns[slot] = static_cast<unsigned>(place);
    if (STORED) { args.weights[slot] = weight_of(coefficients, record, entry); }
}
HILBRIUM_EXPORT(insert_points)

// Product of the matrix and the particles' values: HILBRIUM_LANES lanes per row, whose sums a tree adds.
// Launch: blocks of 256 threads. Floor, with stored weights: 8 bytes per entry (12 in double precision), 12
// per row; 1.7 KB per particle at p = 6, 0.52 ns on an H100 with 3.35 TB/s. Values come from the second-level
// cache.
extern "C" __global__ void __launch_bounds__(mesh::ENTRY_THREADS)
    multiply_rows(const __grid_constant__ MultiplyRowsArguments args) {
    using namespace mesh;
    __shared__ Coefficients coefficients;
    if (!STORED) {
        coefficients.load();
        __syncthreads();
    }
    const unsigned long long row = thread_of_grid() / LANES;
    const unsigned sub = lane_index() % LANES;
    Real sum = 0;
    if (row < args.points) {
        const unsigned point = static_cast<unsigned>(row);
        const unsigned long long end = args.starts[row + 1u];
        for (unsigned long long entry = args.starts[row] + sub; entry < end; entry += LANES) {
            const unsigned column = args.columns[entry];
            const Real weight = weight_for_product(
                coefficients, args.geometry, args.records, args.weights, entry, column, point);
            sum = mul_add(weight, static_cast<Real>(args.values[column]), sum);
        }
    }
    sum = sum_of_row(sum, sub);
    if (row < args.points && sub == 0) { args.sums[row] = sum; }
}
HILBRIUM_EXPORT(multiply_rows)

} // namespace hilbrium
