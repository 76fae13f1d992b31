// The hybrid mesh of Guo et al. 2015: the first `width` entries of each row in a rectangle (ELL), whose
// columns are contiguous, the others as a list with their points (COO). cuSPARSE, which the paper uses, has
// this format no more.
#ifndef HILBRIUM_SHUFFLES
#define HILBRIUM_SHUFFLES 1
#endif
#include "../mesh/entries.cuh"
#include "../arguments/mesh_hybrid.cuh"

namespace hilbrium {
namespace mesh {

constexpr unsigned NONE = ~0u;

// The lanes of a warp have entries sorted by point. Returns the sum over this and the lower lanes of the same
// point, and sets `last` in the last lane of each point; all 32 lanes must call.
__device__ __forceinline__ Real sum_of_point(Real sum, unsigned point, bool& last) {
    const unsigned lane = lane_index();
    if (SHUFFLES) {
#pragma unroll
        for (unsigned distance = 1u; distance < WARP; distance *= 2u) {
            const Real below = __shfl_up_sync(FULL, sum, distance);
            const unsigned other = __shfl_up_sync(FULL, point, distance);
            if (lane >= distance && other == point) { sum += below; }
        }
        const unsigned next = __shfl_down_sync(FULL, point, 1u);
        last = lane == WARP - 1u || next != point;
        return sum;
    }
    __shared__ Real partial[ENTRY_THREADS];
    __shared__ unsigned points[ENTRY_THREADS];
    const unsigned own = threadIdx.x;
    points[own] = point;
#pragma unroll
    for (unsigned distance = 1u; distance < WARP; distance *= 2u) {
        partial[own] = sum;
        __syncwarp();
        if (lane >= distance && points[own - distance] == point) { sum += partial[own - distance]; }
        __syncwarp(); // all reads precede the next writes
    }
    last = lane == WARP - 1u || points[own + 1u] != point;
    return sum;
}

} // namespace mesh

// Number of entries of each row beyond the rectangle.
// Launch: blocks of 256 threads, one thread per row. Floor: 8 bytes per row.
extern "C" __global__ void __launch_bounds__(mesh::ENTRY_THREADS)
    find_excess(const __grid_constant__ FindExcessArguments args) {
    const unsigned long long row = thread_of_grid();
    if (row >= args.points) { return; }
    const unsigned count = args.counts[row];
    args.excess[row] = count > args.width ? count - args.width : 0u;
}
HILBRIUM_EXPORT(find_excess)

// Inserts the entries, in an order that differs between runs; counts become 0. Columns of the rectangle are
// initially NONE.
// Launch: blocks of 256 threads, p^3 threads per particle. Floor: as insert_points.
extern "C" __global__ void __launch_bounds__(mesh::ENTRY_THREADS)
    insert_hybrid(const __grid_constant__ InsertHybridArguments args) {
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
    const Real weight = STORED ? weight_of(coefficients, record, entry) : Real(0);
    if (rank < args.width) {
        const unsigned long long slot = static_cast<unsigned long long>(rank) * args.points + entry.point;
        args.columns[slot] = static_cast<unsigned>(place);
        if (STORED) { args.weights[slot] = weight; }
    } else {
        const unsigned long long slot = args.excess_starts[entry.point] + (rank - args.width);
        args.excess_points[slot] = entry.point;
        args.excess_columns[slot] = static_cast<unsigned>(place);
        if (STORED) { args.excess_weights[slot] = weight; }
    }
}
HILBRIUM_EXPORT(insert_hybrid)

// Product of the rectangle and the particles' values.
// Launch: blocks of 256 threads, one thread per row. Floor, with stored weights: 8 bytes per place of the
// rectangle, filled or not (12 in double precision), all of them contiguous.
extern "C" __global__ void __launch_bounds__(mesh::ENTRY_THREADS)
    multiply_rectangle(const __grid_constant__ MultiplyRectangleArguments args) {
    using namespace mesh;
    __shared__ Coefficients coefficients;
    if (!STORED) {
        coefficients.load();
        __syncthreads();
    }
    const unsigned long long row = thread_of_grid();
    if (row >= args.points) { return; }
    Real sum = 0;
    unsigned long long slot = row;
    for (unsigned k = 0; k < args.width; ++k, slot += args.points) {
        const unsigned column = args.columns[slot];
        if (column == NONE) { break; }
        const unsigned point = static_cast<unsigned>(row);
        const Real weight = weight_for_product(
            coefficients, args.geometry, args.records, args.weights, slot, column, point);
        sum = mul_add(weight, static_cast<Real>(args.values[column]), sum);
    }
    args.sums[row] = sum;
}
HILBRIUM_EXPORT(multiply_rectangle)

// Adds the product of the list and the particles' values. The list is sorted by point: a warp sums the
// entries of each point, and the last lane of a point adds the sum atomically.
// Launch: blocks of 256 threads, one thread per entry. Floor, with stored weights: 12 bytes per entry (16 in
// double precision), 10 shuffles.
extern "C" __global__ void __launch_bounds__(mesh::ENTRY_THREADS)
    multiply_excess(const __grid_constant__ MultiplyExcessArguments args) {
    using namespace mesh;
    __shared__ Coefficients coefficients;
    if (!STORED) {
        coefficients.load();
        __syncthreads();
    }
    const unsigned long long entry = thread_of_grid();
    const bool active = entry < args.excess;
    const unsigned point = active ? args.excess_points[entry] : NONE;
    Real sum = 0;
    if (active) {
        const unsigned column = args.excess_columns[entry];
        const Real weight = weight_for_product(
            coefficients, args.geometry, args.records, args.excess_weights, entry, column, point);
        sum = weight * static_cast<Real>(args.values[column]);
    }
    bool last = false;
    sum = sum_of_point(sum, point, last);
    if (active && last) { atomicAdd(args.sums + point, sum); }
}
HILBRIUM_EXPORT(multiply_excess)

} // namespace hilbrium
