// Rows of the leaves of the global octree, and extents of the particles in them.
#include "../device.cuh"
#include "../arguments/domain_leaves.cuh"
#include "../domain/extent.cuh"
#include "../tree/hierarchy.cuh"

namespace hilbrium {

constexpr unsigned LEAF_THREADS = 256;
constexpr unsigned LEAF_WARPS = LEAF_THREADS / WARP;

// first[k] becomes the first row whose key is not below bounds[k], or `rows` if there is none; keys are
// sorted.
// Launch: up to one thread per bound. Floor: latency; as many dependent loads as `rows` has binary digits.
extern "C" __global__ void first_rows(const __grid_constant__ FirstRowsArguments args) {
    const unsigned long long* __restrict__ const keys = args.keys;
    const unsigned long long* __restrict__ const bounds = args.bounds;
    unsigned* __restrict__ const first = args.first;
    for (unsigned long long place = thread_of_grid(); place < args.count; place += threads_of_grid()) {
        const unsigned long long bound = bounds[place];
        unsigned below = 0, above = args.rows;
        while (below < above) {
            const unsigned middle = below + (above - below) / 2u;
            if (keys[middle] < bound) {
                below = middle + 1u;
            } else {
                above = middle;
            }
        }
        first[place] = below;
    }
}
HILBRIUM_EXPORT(first_rows)

// Extents of the clusters that begin in each leaf, that is, in rows first[leaf] .. first[leaf + 1]. Together
// they cover all clusters. `center` and `extent` are those of the hierarchy, whose unit of length extents
// have; radii are limited to `largest`, which rounding may have exceeded.
// Launch: one block of 256 threads per leaf. Floor: 40 bytes per cluster, 5 per row.
extern "C" __global__ void __launch_bounds__(LEAF_THREADS)
    leaf_extents(const __grid_constant__ LeafExtentsArguments args) {
    const unsigned* __restrict__ const first = args.first;
    const double* __restrict__ const center = args.center;
    const float4* __restrict__ const extent = args.extent;
    __shared__ double of_warps[LEAF_WARPS][7];
    const double infinity = __longlong_as_double(0x7ff0000000000000ll);
    // lower corner, negated upper corner, negated radius: all under a minimum reduction
    double least[7] = {infinity, infinity, infinity, infinity, infinity, infinity, 0.0};
    const unsigned end = (first[blockIdx.x + 1] + CLUSTER - 1u) / CLUSTER;
    for (unsigned cluster = (first[blockIdx.x] + CLUSTER - 1u) / CLUSTER + threadIdx.x; cluster < end;
         cluster += LEAF_THREADS) {
        const Extent own = extent_of_node(center, extent, args.nodes, args.unit, args.largest, cluster);
#pragma unroll
        for (unsigned d = 0; d < 3; ++d) {
            least[d] = smaller(least[d], own.lower[d]);
            least[3 + d] = smaller(least[3 + d], -own.upper[d]);
        }
        least[6] = smaller(least[6], -own.radius);
    }
#pragma unroll
    for (double& value : least) {
        value = warp_smallest(value);
    }
    if (lane_index() == 0) {
#pragma unroll
        for (unsigned k = 0; k < 7; ++k) {
            of_warps[warp_of_block()][k] = least[k];
        }
    }
    __syncthreads();
    if (threadIdx.x != 0) { return; }
    for (unsigned warp = 1; warp < LEAF_WARPS; ++warp) {
#pragma unroll
        for (unsigned k = 0; k < 7; ++k) {
            least[k] = smaller(least[k], of_warps[warp][k]);
        }
    }
    args.extents[blockIdx.x] = {{least[0], least[1], least[2]},
                                {-least[3], -least[4], -least[5]},
                                0.0 - least[6]};
}
HILBRIUM_EXPORT(leaf_extents)

}  // namespace hilbrium
