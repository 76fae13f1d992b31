// Multipoles of all nodes of the hierarchy, bottom-up from the particles: mirrors src/tree/moments.rs. The
// order of summation is fixed, so that results are bitwise reproducible.
//
// Three kernels in this order: levels 0 to 2 from the rows; one launch per level above; the radii of these
// levels. Up to level 2, a radius is the distance of the farthest particle. Above, it is that of the farthest
// sphere around a super-cluster, larger by a few percent at most: a bound from the children alone would grow
// with every level.
//
// The last two kernels also build the hierarchy over elements received from other ranks, which are its level
// 0 (`rows` is 8 times their number): level by level from 1 on, then the radii from spheres around the
// elements.
#include "../far/multipole.cuh"

#include "../tree/hierarchy.cuh"
#include "../arguments/far_moments.cuh"

namespace hilbrium {

constexpr unsigned ROWS_PER_BLOCK = 512u;

// Sum over the 8 lanes of a cluster, in each of them.
template <class Value> __device__ __forceinline__ Value sum_of_eight(Value value) {
    value += __shfl_xor_sync(FULL, value, 1u);
    value += __shfl_xor_sync(FULL, value, 2u);
    return value + __shfl_xor_sync(FULL, value, 4u);
}

__device__ __forceinline__ float largest_of_eight(float value) {
    value = larger(value, __shfl_xor_sync(FULL, value, 1u));
    value = larger(value, __shfl_xor_sync(FULL, value, 2u));
    return larger(value, __shfl_xor_sync(FULL, value, 4u));
}

// Center of mass and mass.
struct Center {
    double x, y, z, mass;
};

// Common center of mass of 8 lanes; the origin if the mass is zero.
__device__ __forceinline__ Center center_of_eight(const Center& part) {
    const double mass = sum_of_eight(part.mass);
    const double inverse = mass != 0.0 ? 1.0 / mass : 0.0;
    return {sum_of_eight(part.mass * part.x) * inverse, sum_of_eight(part.mass * part.y) * inverse,
            sum_of_eight(part.mass * part.z) * inverse, mass};
}

// Multipole of 8 parts about their common center; (from_x, from_y, from_z) is the part's center relative to
// it.
__device__ __forceinline__ Multipole multipole_of_eight(const Multipole& part, double from_x, double from_y,
                                                        double from_z) {
    const Real x = Real(from_x), y = Real(from_y), z = Real(from_z), m = part.mass;
    Multipole whole = {};
    whole.mass = sum_of_eight(m);
    whole.xx = sum_of_eight(part.xx + m * x * x);
    whole.xy = sum_of_eight(part.xy + m * x * y);
    whole.xz = sum_of_eight(part.xz + m * x * z);
    whole.yy = sum_of_eight(part.yy + m * y * y);
    whole.yz = sum_of_eight(part.yz + m * y * z);
    whole.zz = sum_of_eight(part.zz + m * z * z);
#if HILBRIUM_ORDER == 3
    whole.xxx = sum_of_eight(part.xxx + (Real(3) * part.xx + m * x * x) * x);
    whole.xxy = sum_of_eight(part.xxy + part.xx * y + (Real(2) * part.xy + m * x * y) * x);
    whole.xxz = sum_of_eight(part.xxz + part.xx * z + (Real(2) * part.xz + m * x * z) * x);
    whole.xyy = sum_of_eight(part.xyy + part.yy * x + (Real(2) * part.xy + m * x * y) * y);
    whole.xyz = sum_of_eight(part.xyz + part.xy * z + part.xz * y + (part.yz + m * y * z) * x);
    whole.xzz = sum_of_eight(part.xzz + part.zz * x + (Real(2) * part.xz + m * x * z) * z);
    whole.yyy = sum_of_eight(part.yyy + (Real(3) * part.yy + m * y * y) * y);
    whole.yyz = sum_of_eight(part.yyz + part.yy * z + (Real(2) * part.yz + m * y * z) * y);
    whole.yzz = sum_of_eight(part.yzz + part.zz * y + (Real(2) * part.yz + m * y * z) * z);
    whole.zzz = sum_of_eight(part.zzz + (Real(3) * part.zz + m * z * z) * z);
#endif
    return whole;
}

__device__ __forceinline__ double squared_length(double x, double y, double z) { return x * x + (y * y + z * z); }

// Radius from a square that was rounded up.
__device__ __forceinline__ float radius_of(float squared, bool acts) {
    return acts ? round_up(double(::sqrtf(squared))) : NOTHING_ACTS;
}

// Largest distance from (x, y, z) to a point of the sphere around a node.
__device__ __forceinline__ float reach_of(const Node& node, double x, double y, double z) {
    return round_up(::sqrt(squared_length(node.x - x, node.y - y, node.z - z)) + double(node.radius));
}

__device__ __forceinline__ Node node_at(const Center& center, float squared_radius) {
    return {center.x, center.y, center.z, radius_of(squared_radius, center.mass != 0.0), float(center.mass)};
}

// Levels 0 to 2 (level 2 only if it exists) from columns of rows. Ghosts and rows without mass are ignored,
// whatever their positions.
// Launch: blocks of 512 threads, one per node of level 2 including padding (hierarchy_padded_count(rows, 2)):
// one thread per row. Floor: 40 bytes read per row, 11.2 written.
extern "C" __global__ void __launch_bounds__(512)
    gravity_moments_of_rows(const __grid_constant__ MomentsOfRowsArguments args) {
    const double* const position[3] = {args.sources.position[0], args.sources.position[1],
                                       args.sources.position[2]};
    const unsigned rows = args.sources.rows;
    const double length_unit = args.sources.length_unit;
    Node* const nodes = args.nodes;
    Multipole* const multipoles = args.multipoles;
    __shared__ Center clusters[64];
    __shared__ Center supers[8];
    __shared__ Center whole;
    __shared__ Multipole cluster_multipoles[64];
    __shared__ Multipole super_multipoles[8];
    __shared__ unsigned super_radii[8];
    __shared__ unsigned whole_radius;
    const unsigned thread = threadIdx.x;
    const unsigned long long row = static_cast<unsigned long long>(blockIdx.x) * ROWS_PER_BLOCK + thread;
    Center own = {0.0, 0.0, 0.0, 0.0};
    if (row < rows && args.sources.id[row] != GHOST) {
        own.mass = args.sources.mass[row] * args.sources.mass_unit;
    }
    const bool acts = own.mass != 0.0;
    if (acts) {
        own.x = position[0][row] * length_unit;
        own.y = position[1][row] * length_unit;
        own.z = position[2][row] * length_unit;
    }
    if (thread < 8u) { super_radii[thread] = 0u; }
    if (thread == 8u) { whole_radius = 0u; }

    const Center cluster = center_of_eight(own);
    if (thread % 8u == 0u) { clusters[thread / 8u] = cluster; }
    __syncthreads();
    if (thread < 64u) {
        const Center center = center_of_eight(clusters[thread]);
        if (thread % 8u == 0u) { supers[thread / 8u] = center; }
    }
    __syncthreads();
    if (thread < WARP) {
        const Center center = center_of_eight(supers[thread % 8u]);
        if (thread == 0u) { whole = center; }
    }
    __syncthreads();

    const Center super = supers[thread / 64u];
    double dx = 0.0, dy = 0.0, dz = 0.0;
    float squared = 0.0f, squared_of_super = 0.0f, squared_of_whole = 0.0f;
    if (acts) {
        squared_of_whole = round_up(squared_length(own.x - whole.x, own.y - whole.y, own.z - whole.z));
        squared_of_super = round_up(squared_length(own.x - super.x, own.y - super.y, own.z - super.z));
        dx = own.x - cluster.x;
        dy = own.y - cluster.y;
        dz = own.z - cluster.z;
        squared = round_up(squared_length(dx, dy, dz));
    }
    Multipole point = {};
    point.mass = Real(own.mass);
    const Multipole of_cluster = multipole_of_eight(point, dx, dy, dz);
    squared = largest_of_eight(squared);
    const unsigned element = blockIdx.x * 64u + thread / 8u;
    if (thread % 8u == 0u) {
        cluster_multipoles[thread / 8u] = of_cluster;
        if (element < hierarchy_padded_count(rows, 0u)) {
            nodes[element] = node_at(cluster, squared);
            multipoles[element] = of_cluster;
        }
    }
    // Bit patterns of positive floats are ordered like their values.
    squared_of_super = warp_largest(squared_of_super);
    squared_of_whole = warp_largest(squared_of_whole);
    if (lane_index() == 0u) {
        atomicMax(&super_radii[thread / 64u], __float_as_uint(squared_of_super));
        atomicMax(&whole_radius, __float_as_uint(squared_of_whole));
    }
    __syncthreads();
    if (thread < 64u) {
        const Center part = clusters[thread], center = supers[thread / 8u];
        const bool there = part.mass != 0.0;
        const Multipole multipole =
            multipole_of_eight(cluster_multipoles[thread], there ? part.x - center.x : 0.0,
                               there ? part.y - center.y : 0.0, there ? part.z - center.z : 0.0);
        const unsigned place = blockIdx.x * 8u + thread / 8u;
        if (thread % 8u == 0u) {
            super_multipoles[thread / 8u] = multipole;
            if (place < hierarchy_padded_count(rows, 1u)) {
                const unsigned super_element = hierarchy_offset(rows, 1u) + place;
                nodes[super_element] = node_at(center, __uint_as_float(super_radii[thread / 8u]));
                multipoles[super_element] = multipole;
            }
        }
    }
    __syncthreads();
    if (thread < WARP && hierarchy_levels(rows) > 2u) {
        const Center part = supers[thread % 8u];
        const bool there = part.mass != 0.0;
        const Multipole multipole =
            multipole_of_eight(super_multipoles[thread % 8u], there ? part.x - whole.x : 0.0,
                               there ? part.y - whole.y : 0.0, there ? part.z - whole.z : 0.0);
        if (thread == 0u) {
            const unsigned whole_element = hierarchy_offset(rows, 2u) + blockIdx.x;
            nodes[whole_element] = node_at(whole, __uint_as_float(whole_radius));
            multipoles[whole_element] = multipole;
        }
    }
}
HILBRIUM_EXPORT(gravity_moments_of_rows)

// One level from the level below. Radii are set to 0, except on level 1, where they enclose the spheres of
// the children. Launch: blocks of 128 threads, 8 threads per node of the level including padding. Floor: 64
// bytes per child in single precision.
extern "C" __global__ void gravity_moments_of_level(const __grid_constant__ MomentsOfLevelArguments args) {
    const unsigned rows = args.rows;
    const unsigned level = args.level;
    Node* const nodes = args.nodes;
    Multipole* const multipoles = args.multipoles;
    const unsigned long long thread = thread_of_grid();
    const unsigned place = static_cast<unsigned>(thread / 8u);
    const bool writes = thread % 8u == 0u && place < hierarchy_padded_count(rows, level);
    Center part = {0.0, 0.0, 0.0, 0.0};
    Multipole multipole = {};
    Node node = {0.0, 0.0, 0.0, NOTHING_ACTS, 0.0f};
    if (thread < hierarchy_count(rows, level - 1u)) {
        const unsigned child = hierarchy_offset(rows, level - 1u) + static_cast<unsigned>(thread);
        node = nodes[child];
        multipole = multipoles[child];
        if (node.radius != NOTHING_ACTS) { part = {node.x, node.y, node.z, double(multipole.mass)}; }
    }
    const Center center = center_of_eight(part);
    const bool there = part.mass != 0.0;
    multipole = multipole_of_eight(multipole, there ? part.x - center.x : 0.0, there ? part.y - center.y : 0.0,
                                   there ? part.z - center.z : 0.0);
    float radius = 0.0f;
    if (level == 1u) { radius = largest_of_eight(there ? reach_of(node, center.x, center.y, center.z) : 0.0f); }
    if (writes) {
        const unsigned element = hierarchy_offset(rows, level) + place;
        nodes[element] = {center.x, center.y, center.z, center.mass != 0.0 ? radius : NOTHING_ACTS, float(center.mass)};
        multipoles[element] = multipole;
    }
}
HILBRIUM_EXPORT(gravity_moments_of_level)

// Radii of the levels from `from` + 2 on, from the spheres around the nodes of level `from`. Launch: blocks
// of 128 threads, one thread per node of that level. Floor: 32 bytes per such node.
extern "C" __global__ void gravity_radii(const __grid_constant__ NodeRadiiArguments args) {
    const unsigned rows = args.rows;
    const unsigned from = args.from;
    Node* const nodes = args.nodes;
    const unsigned long long place = thread_of_grid();
    const unsigned levels = hierarchy_levels(rows);
    Node part = {0.0, 0.0, 0.0, NOTHING_ACTS, 0.0f};
    if (place < hierarchy_count(rows, from)) { part = nodes[hierarchy_offset(rows, from) + place]; }
    const bool acts = part.radius != NOTHING_ACTS;
    if (!__any_sync(FULL, acts)) { return; }
    // All nodes of a warp have the same ancestors on these levels.
    for (unsigned level = from + 2u; level < levels; ++level) {
        Node& node = nodes[hierarchy_offset(rows, level) + static_cast<unsigned>(place >> (3u * (level - from)))];
        float reach = 0.0f;
        if (acts) { reach = reach_of(part, node.x, node.y, node.z); }
        reach = warp_largest(reach);
        if (lane_index() == 0u) { atomicMax(reinterpret_cast<unsigned*>(&node.radius), __float_as_uint(reach)); }
    }
}
HILBRIUM_EXPORT(gravity_radii)

} // namespace hilbrium
