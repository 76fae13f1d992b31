// The group mesh of Guo et al. 2015: the entries of 64 consecutive mesh points are kept together. A
// particle's p points along z are in one or two groups, so that they are counted and written together.
//
// The paper leaves the layout open. Here an entry has its column, the number of its point within the group,
// and, where they are stored, its weight; the product adds up a group in shared memory.
#ifndef HILBRIUM_SHUFFLES
#define HILBRIUM_SHUFFLES 0
#endif
#include "../mesh/entries.cuh"
#include "../arguments/mesh_group.cuh"

namespace hilbrium {
namespace mesh {

constexpr unsigned GROUP = 64;
constexpr unsigned LINES = ORDER * ORDER;
constexpr unsigned GROUP_WARPS = ENTRY_THREADS / WARP;

// Calls add(group, k, length) for each run of the points k to k + length of line `number` below p^2 that are
// in one group.
template <class Add>
__device__ __forceinline__ void for_runs(
    const MeshParameters& geometry, const Record& record, unsigned number, Add add) {
    const unsigned x = point_of(record.along(0), static_cast<int>(number / ORDER), geometry.points[0]);
    const unsigned y = point_of(record.along(1), static_cast<int>(number % ORDER), geometry.points[1]);
    const unsigned line = index_of(geometry, x, y, 0u);
    const auto group_of = [&](int k) {
        return (line + point_of(record.along(2), k, geometry.points[2])) / GROUP;
    };
    int first = 0;
    for (int k = 1; k <= ORDER; ++k) {
        if (k < ORDER && group_of(k) == group_of(first)) { continue; }
        add(line, group_of(first), first, k - first);
        first = k;
    }
}

// Adds a term per lane to its point `place` of a group, GROUP in lanes without an entry; all 32 lanes must
// call. With shuffles, a tree sums the lanes of the same point, and the first of them adds the sum.
__device__ __forceinline__ void add_to_group(Real* sums, unsigned place, Real term) {
    if (!SHUFFLES) {
        if (place < GROUP) { atomicAdd(sums + place, term); }
        return;
    }
    const unsigned peers = __match_any_sync(FULL, place);
    unsigned rank = __popc(peers & lanes_below());
    const bool adds = rank == 0 && place < GROUP;
    unsigned above = peers & ~lanes_below() & ~(1u << lane_index());
    while (__any_sync(FULL, above != 0)) {
        const Real other = __shfl_sync(FULL, term, above != 0 ? __ffs(static_cast<int>(above)) - 1 : 0);
        if (above != 0) { term += other; }
        // lanes of odd rank have been added to the peer before
        above &= __ballot_sync(FULL, (rank & 1u) == 0);
        rank /= 2u;
    }
    if (adds) { sums[place] += term; }
    __syncwarp(); // other lanes add to the same point next
}

} // namespace mesh

// Number of entries of each group; counts are initially 0.
// Launch: blocks of 256 threads, p^2 threads per particle. Floor: 1.1 p^2 atomic additions per particle, of
// which those of one particle address few groups: 0.25 ns per particle at p = 6 on an H100.
extern "C" __global__ void __launch_bounds__(mesh::ENTRY_THREADS)
    count_groups(const __grid_constant__ CountGroupsArguments args) {
    using namespace mesh;
    const unsigned long long thread = thread_of_grid();
    const unsigned long long place = thread / LINES;
    if (place >= args.count) { return; }
    for_runs(args.geometry, args.records[place], static_cast<unsigned>(thread % LINES),
             [&](unsigned, unsigned group, int, int length) {
                 atomicAdd(args.counts + group, static_cast<unsigned>(length));
             });
}
HILBRIUM_EXPORT(count_groups)

// Inserts the entries into their groups, in an order that differs between runs; counts become 0.
// Launch: blocks of 256 threads, p^2 threads per particle. Floor: 9 bytes per entry (13 in double precision),
// in runs of p: about 2 sectors per run for each of columns and weights, 5 KB per particle at p = 6, 1.5 ns
// on an H100.
extern "C" __global__ void __launch_bounds__(mesh::ENTRY_THREADS)
    insert_groups(const __grid_constant__ InsertGroupsArguments args) {
    using namespace mesh;
    __shared__ Coefficients coefficients;
    coefficients.load();
    __syncthreads();
    const unsigned long long thread = thread_of_grid();
    const unsigned long long place = thread / LINES;
    if (place >= args.count) { return; }
    const Record record = args.records[place];
    const unsigned number = static_cast<unsigned>(thread % LINES);
    const Real of_xy = coefficients.weight(static_cast<int>(number / ORDER), record.fraction[0]) *
                       coefficients.weight(static_cast<int>(number % ORDER), record.fraction[1]);
    for_runs(args.geometry, record, number, [&](unsigned line, unsigned group, int first, int length) {
        const unsigned all = static_cast<unsigned>(length);
        unsigned long long slot = args.starts[group] + (atomicSub(args.counts + group, all) - all);
        for (int k = first; k < first + length; ++k, ++slot) {
            const unsigned point = line + point_of(record.along(2), k, args.geometry.points[2]);
            args.columns[slot] = static_cast<unsigned>(place);
            args.places[slot] = static_cast<unsigned char>(point % GROUP);
            if (STORED) { args.weights[slot] = of_xy * coefficients.weight(k, record.fraction[2]); }
        }
    });
}
HILBRIUM_EXPORT(insert_groups)

// Product of the matrix and the particles' values: a warp per group, which adds in shared memory.
// Launch: blocks of 256 threads. Floor, with stored weights: 9 bytes per entry; an atomic addition of floats
// in shared memory takes a loop of 4 instructions, longer where lanes have the same point. Prediction for p =
// 6: 1 ns per particle.
extern "C" __global__ void __launch_bounds__(mesh::ENTRY_THREADS)
    multiply_groups(const __grid_constant__ MultiplyGroupsArguments args) {
    using namespace mesh;
    __shared__ Coefficients coefficients;
    __shared__ Real all[GROUP_WARPS][GROUP];
    if (!STORED) { coefficients.load(); }
    const unsigned group = warp_of_grid(), lane = lane_index();
    Real* const own = all[warp_of_block()];
    own[lane] = own[lane + WARP] = Real(0);
    __syncthreads();
    if (group >= args.groups) { return; }
    const unsigned long long end = args.starts[group + 1u];
    for (unsigned long long first = args.starts[group]; first < end; first += WARP) {
        const unsigned long long entry = first + lane;
        unsigned place = GROUP;
        Real term = 0;
        if (entry < end) {
            const unsigned column = args.columns[entry];
            place = args.places[entry];
            const unsigned point = group * GROUP + place;
            const Real weight = weight_for_product(
                coefficients, args.geometry, args.records, args.weights, entry, column, point);
            term = weight * static_cast<Real>(args.values[column]);
        }
        add_to_group(own, place, term);
    }
    __syncwarp();
    for (unsigned k = lane; k < GROUP; k += WARP) {
        const unsigned long long point = static_cast<unsigned long long>(group) * GROUP + k;
        if (point < args.points) { args.sums[point] = own[k]; }
    }
}
HILBRIUM_EXPORT(multiply_groups)

} // namespace hilbrium
