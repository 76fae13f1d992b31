// Computes boxes and largest radii of the hierarchy over rows (hierarchy.cuh), three levels per launch.
#include "../device.cuh"
#include "../arguments/tree_hierarchy.cuh"
#include "../tree/hierarchy.cuh"

namespace hilbrium {

constexpr unsigned HIERARCHY_WARPS = 8;
constexpr unsigned HIERARCHY_THREADS = HIERARCHY_WARPS * WARP;

// The box of a set of particles as four pairs of numbers under a minimum reduction: lower corner and negated
// upper corner of x, y and z; negated largest radius, and 0 if the set is not empty.
constexpr unsigned BOUNDS = 8, BOUND_RADIUS = 6, BOUND_PRESENT = 7;

__device__ __forceinline__ double infinity() { return __longlong_as_double(0x7ff0000000000000ll); }

// Includes a particle. NaN fails the comparisons and is ignored, as by the host's minimum and maximum.
__device__ __forceinline__ void include(double (&bounds)[BOUNDS], double x, double y, double z, double radius) {
    const double position[3] = {x, y, z};
#pragma unroll
    for (unsigned d = 0; d < 3; ++d) {
        bounds[2 * d] = position[d] < bounds[2 * d] ? position[d] : bounds[2 * d];
        bounds[2 * d + 1] = -position[d] < bounds[2 * d + 1] ? -position[d] : bounds[2 * d + 1];
    }
    const double reach = radius > 0.0 ? -radius : 0.0;
    bounds[BOUND_RADIUS] = reach < bounds[BOUND_RADIUS] ? reach : bounds[BOUND_RADIUS];
    bounds[BOUND_PRESENT] = x == x ? 0.0 : bounds[BOUND_PRESENT];
}

// Reduce-scatter between two lanes `distance` apart: each keeps the minima of half of the 2 KEPT numbers.
// Four lanes thus reduce eight numbers with 6 exchanges instead of 16 of a butterfly; lane % 4 is the pair
// that a lane keeps.
template <unsigned KEPT>
__device__ __forceinline__ void share(double (&bounds)[BOUNDS], unsigned distance) {
    const bool second = (lane_index() & distance) != 0u;
#pragma unroll
    for (unsigned k = 0; k < KEPT; ++k) {
        const double kept = second ? bounds[k + KEPT] : bounds[k];
        const double given = second ? bounds[k] : bounds[k + KEPT];
        bounds[k] = smaller(kept, __shfl_xor_sync(FULL, given, distance));
    }
}

// Minima of the pairs over all lanes with the same lane % 4.
__device__ __forceinline__ void reduce_pair(double& first, double& second) {
#pragma unroll
    for (unsigned distance = 4; distance < WARP; distance *= 2) {
        first = smaller(first, __shfl_xor_sync(FULL, first, distance));
        second = smaller(second, __shfl_xor_sync(FULL, second, distance));
    }
}

// Output nodes, and the first of the three levels.
struct Nodes {
    double* center;
    float* extent;
    double scale;
    unsigned long long count;
    unsigned rows, level, levels, offset;
};

// Writes part 0 to 3 of a node: x, y, z, or radius and presence.
__device__ __forceinline__ void write_part(const Nodes& nodes, unsigned long long element, unsigned part, double first,
                                           double second) {
    if (part < 3u) {
        const double lower = first, upper = -second;
        const double center = 0.5 * lower + 0.5 * upper;
        const double half = larger(center - lower, upper - center);
        const bool nothing = lower > upper;
        nodes.center[part * nodes.count + element] = nothing ? 0.0 : center;
        nodes.extent[4 * element + part] = nothing ? 0.0f : round_up(half * nodes.scale);
    } else {
        nodes.extent[4 * element + part] = second == 0.0 ? round_up(-first * nodes.scale) : -1.0f;
    }
}

// Writes three levels from nodes.level on. Each warp holds eight nodes of the first one, four lanes per node,
// two particles or child nodes per lane. Stores the block's bounds to `bounds_of_block`, unless null, for the
// levels above.
__device__ inline void write_levels(double (&bounds)[BOUNDS], const Nodes& nodes, double* bounds_of_block) {
    __shared__ double of_warps[HIERARCHY_WARPS][BOUNDS];
    const unsigned lane = lane_index(), warp = warp_of_block(), part = lane % 4u;
    const unsigned rows = nodes.rows, level = nodes.level, levels = nodes.levels;
    unsigned long long offset = nodes.offset;
    share<4>(bounds, 2);
    share<2>(bounds, 1);
    double first = bounds[0], second = bounds[1];

    const unsigned node = (blockIdx.x * HIERARCHY_WARPS + warp) * 8u + lane / 4u;
    if (node < hierarchy_padded_count(rows, level)) { write_part(nodes, offset + node, part, first, second); }
    if (level + 1 == levels) { return; }

    offset += hierarchy_padded_count(rows, level);
    reduce_pair(first, second);
    const unsigned parent = blockIdx.x * HIERARCHY_WARPS + warp;
    if (lane < 4u) {
        if (parent < hierarchy_padded_count(rows, level + 1)) {
            write_part(nodes, offset + parent, part, first, second);
        }
        of_warps[warp][2 * part] = first;
        of_warps[warp][2 * part + 1] = second;
    }
    if (level + 2 == levels) { return; }

    __syncthreads();
    if (warp != 0) { return; }
    offset += hierarchy_padded_count(rows, level + 1);
    first = of_warps[lane / 4u][2 * part];
    second = of_warps[lane / 4u][2 * part + 1];
    reduce_pair(first, second);
    if (lane < 4u) {
        write_part(nodes, offset + blockIdx.x, part, first, second);
        if (bounds_of_block != nullptr) {
            bounds_of_block[2 * part] = first;
            bounds_of_block[2 * part + 1] = second;
        }
    }
}

// Writes levels 0, 1 and 2. If `radius` is null, all rows have radius_of_all; if `id` is null, there are no
// ghosts. `bounds` receives the exact bounds of level 2 for hierarchy_above, 8 doubles per node; null if
// there are no further levels. `nodes.levels` is hierarchy_levels(rows), `nodes.count` hierarchy_nodes(rows).
// Columns start at multiples of 16 bytes.
// Launch: blocks of 256 threads, 512 rows each; as many as level 2 has nodes including padding, or one
// without level 2.
// Floor: 24 bytes per row, 8 more each with radii and ids, 5.7 written; about 4 instructions per row.
extern "C" __global__ void __launch_bounds__(HIERARCHY_THREADS)
    hierarchy_from_rows(const __grid_constant__ HierarchyFromRowsArguments args) {
    const double* __restrict__ const position[3] = {args.position[0], args.position[1], args.position[2]};
    const double* __restrict__ const radius = args.radius;
    const double radius_of_all = args.radius_of_all;
    const unsigned long long* __restrict__ const id = args.id;
    const unsigned rows = args.nodes.rows;
    double* const bounds = args.bounds;
    const unsigned pair = blockIdx.x * HIERARCHY_THREADS + threadIdx.x;
    double own[BOUNDS];
#pragma unroll
    for (double& bound : own) {
        bound = infinity();
    }
    if (pair < rows / 2) {
        const double2 two_x = reinterpret_cast<const double2*>(position[0])[pair];
        const double2 two_y = reinterpret_cast<const double2*>(position[1])[pair];
        const double2 two_z = reinterpret_cast<const double2*>(position[2])[pair];
        double2 two_radius = make_double2(radius_of_all, radius_of_all);
        if (radius != nullptr) { two_radius = reinterpret_cast<const double2*>(radius)[pair]; }
        ulonglong2 two_id = make_ulonglong2(0, 0);
        if (id != nullptr) { two_id = reinterpret_cast<const ulonglong2*>(id)[pair]; }
        if (two_id.x != GHOST) { include(own, two_x.x, two_y.x, two_z.x, two_radius.x); }
        if (two_id.y != GHOST) { include(own, two_x.y, two_y.y, two_z.y, two_radius.y); }
    } else if (2 * pair < rows) {
        const unsigned row = 2 * pair;
        if (id == nullptr || id[row] != GHOST) {
            include(own, position[0][row], position[1][row], position[2][row],
                    radius != nullptr ? radius[row] : radius_of_all);
        }
    }
    const Nodes all{args.nodes.center,
                    args.nodes.extent,
                    args.nodes.scale,
                    args.nodes.count,
                    rows,
                    0,
                    args.nodes.levels,
                    0};
    write_levels(own, all, bounds == nullptr ? nullptr : bounds + BOUNDS * blockIdx.x);
}
HILBRIUM_EXPORT(hierarchy_from_rows)

// Writes three more levels from `level` (3, 6 or 9) on. `below` holds the bounds of level - 1; `bounds`
// receives those of level + 2, or is null if that is the last level or beyond.
// Launch: blocks of 256 threads, as many as level + 2 has nodes including padding, or one without that level.
// Floor: latency; 64 bytes per 512 rows.
extern "C" __global__ void __launch_bounds__(HIERARCHY_THREADS)
    hierarchy_above(const __grid_constant__ HierarchyAboveArguments args) {
    const double* __restrict__ const below = args.below;
    const unsigned rows = args.nodes.rows;
    const unsigned level = args.level;
    double* const bounds = args.bounds;
    const unsigned first = 2 * (blockIdx.x * HIERARCHY_THREADS + threadIdx.x);
    const unsigned count = hierarchy_count(rows, level - 1);
    double own[BOUNDS];
#pragma unroll
    for (double& bound : own) {
        bound = infinity();
    }
    for (unsigned node = first; node < first + 2 && node < count; ++node) {
#pragma unroll
        for (unsigned k = 0; k < BOUNDS; ++k) {
            own[k] = smaller(own[k], below[8ull * node + k]);
        }
    }
    const Nodes all{args.nodes.center,
                    args.nodes.extent,
                    args.nodes.scale,
                    args.nodes.count,
                    rows,
                    level,
                    args.nodes.levels,
                    hierarchy_offset(rows, level)};
    write_levels(own, all, bounds == nullptr ? nullptr : bounds + BOUNDS * blockIdx.x);
}
HILBRIUM_EXPORT(hierarchy_above)

// Largest radius of all rows except ghosts (`id`, or null), as the bits of a double, initially zero: bit
// patterns of non-negative doubles are ordered like their values. Determines the list's unit of length.
// Launch: blocks of 256 threads, at most as many as fill the device. Floor: 8 bytes per row, 16 with ids.
extern "C" __global__ void __launch_bounds__(HIERARCHY_THREADS)
    largest_radius(const __grid_constant__ LargestRadiusArguments args) {
    const double* __restrict__ const radius = args.radius;
    const unsigned long long* __restrict__ const id = args.id;
    double found = 0.0;
    for (unsigned long long row = thread_of_grid(); row < args.rows; row += threads_of_grid()) {
        const double own = radius[row];
        if (own > found && (id == nullptr || id[row] != GHOST)) { found = own; }
    }
    found = warp_largest(found);
    if (lane_index() == 0 && found > 0.0) {
        atomicMax(args.largest, static_cast<unsigned long long>(__double_as_longlong(found)));
    }
}
HILBRIUM_EXPORT(largest_radius)

} // namespace hilbrium
