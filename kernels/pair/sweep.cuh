// Pair sweep: evaluates a law over a neighbor list, one warp per super-cluster. Common to all laws, half and
// full lists, and both precisions.
//
// A warp decodes its list 32 clusters at a time and moves 32 of their particles j at a time, one per lane, to
// the frame of its super-cluster. Periodic images and the offset of the two frames are one shift per cluster,
// computed in double precision. Each particle j gets a mask of the eight i-clusters whose box it can reach.
// Particles with a non-zero mask wait in shared memory until enough of them are available. They are processed
// in tiles: eight particles i of a cluster against four j, one pair per lane.
//
// Half lists (Group): of 32 particles j, four at a time are held in registers and processed with the
// i-clusters in any of their four masks. The sums of all i are held in registers too. The sums of the 32 j
// are reduced over lanes through shared memory and added to global memory.
// Full lists (Queue): an i-cluster is held in registers and processed with the particles j with its bit, in
// fours. No atomics: results are bitwise reproducible.
//
// Floor: instructions in single precision. In double precision and on half lists, shared memory (eight cycles
// per tile for the particles i), then arithmetic: 1.8 and 1.4 ms for forces between four million
// Lennard-Jones particles with 194 neighbors on an H100. The excess over the floor is the latency of a tile's
// dependent instructions.
//
// Pairs within the super-cluster, and pairs whose periodic image the frames do not determine, take the EXACT
// path, where each lane excludes its self pair and, if needed, searches the minimum image.
#pragma once

#include "../neighbors/decode.cuh"
#include "../pair/law.cuh"
#include "../pair/scattered.cuh"

namespace hilbrium {
namespace pair {

// Capacity of the buffer of particles j.
#ifndef HILBRIUM_WAITING
#define HILBRIUM_WAITING (HILBRIUM_SYMMETRIC ? 64 : 128)
#endif
constexpr unsigned WAITING = HILBRIUM_WAITING;

// Number of Real4 of further prepared values of a particle i in shared memory.
constexpr int I_GROUPS = GROUPS > 0 ? GROUPS : 1;

// Sums of four particles j by lane, padded so that the reduction has no bank conflicts.
struct alignas(16) FourSums {
    Real values[SUM_COUNT * WARP + 16 / sizeof(Real)];
};

// Whether halves of positions are stored apart. A tile of a half list reads eight particles i. A tile of a
// full list reads only four j, each broadcast to eight lanes, without conflicts.
constexpr bool APART = SYMMETRIC && PIECES > 1;

// Shared memory of a warp. On full lists, a particle out of reach follows the buffer of particles j.
struct Stage {
    Scattered<SUPER_CLUSTER, APART> i_position;
    Real4 i_further[I_GROUPS][GROUPS > 0 ? SUPER_CLUSTER : 1];
    Scattered<WAITING + (SYMMETRIC ? 0 : 1), APART> j_position;
    FourSums j_sums[SYMMETRIC ? WARP / 4 : 1];
    // Entries of a list block, one per lane: shift into the frame, and cluster.
    Real4 entry_shift[WARP];
    unsigned entry_cluster[WARP];
    float4 box_center[CLUSTERS];
    float4 box_half[CLUSTERS];
    uint2 j_row_and_mask[WAITING + (SYMMETRIC ? 0 : 1)];
    Real i_squared_radius[CUTOFF == Cutoff::OWN ? SUPER_CLUSTER : 1];
    Real sums[SYMMETRIC ? 1 : SUPER_CLUSTER * SUM_COUNT];
    unsigned char queue[SYMMETRIC ? 4 : WAITING + 4];
};

// Warps per block. One by default: lists differ in length, and a block holds its resources until its last
// warp ends. Several if warps share a super-cluster of a full list and combine their sums.
#ifndef HILBRIUM_WARPS
#define HILBRIUM_WARPS 1
#endif
constexpr unsigned WARPS = HILBRIUM_WARPS;
static_assert(sizeof(Stage) * WARPS <= 48 * 1024, "shared memory of a block");

// Arguments common to all warps.
struct Arguments {
    const Real4* position;
    const Real4* further;
    const Real* squared_radius;
    const double* frame;
    const float4* boxes;
    unsigned long long rows;
    double period[3], frequency[3];
    Vec3 short_period, short_frequency;
    Real squared_cutoff;
    Real* sums;
};

// One side of a lane's pair.
struct Particle4 {
    Vec3 position;
    Real squared_radius;
    Pair values;
};

// Rounds to the nearest integer.
__device__ __forceinline__ Real rounded(Real x) { return ::rint(x); }

// Builds a particle from its Real4.
template <class Further>
__device__ __forceinline__ Particle4 particle(Real4 first, Real squared_radius, Further further) {
    Particle4 own;
    own.position = {first.x, first.y, first.z};
    own.squared_radius = CUTOFF == Cutoff::EITHER ? first.w : squared_radius;
    if constexpr (PREPARED > 0) {
        Real* values = reinterpret_cast<Real*>(&own.values);
        if (FIRST_WITH_POSITION) values[0] = first.w;
        constexpr int SKIP = FIRST_WITH_POSITION ? 1 : 0;
#pragma unroll
        for (int group = 0; group < GROUPS; ++group) {
            const Real4 four = further(group);
            const Real members[4] = {four.x, four.y, four.z, four.w};
#pragma unroll
            for (int c = 0; c < 4; ++c) {
                if (SKIP + 4 * group + c < PREPARED) values[SKIP + 4 * group + c] = members[c];
            }
        }
    }
    return own;
}

// Minimum image, except for ghosts, which stay far away. `frequency` is the inverse period; both are 0 in
// open dimensions.
__device__ __forceinline__ Real nearest(Real r, Real period, Real frequency) {
    return abs(r) < Real(1e17) ? mul_add(-period, rounded(r * frequency), r) : r;
}

// Whether pairs out of range are skipped by a branch. For short laws in single precision, evaluating and
// discarding them takes fewer instructions.
constexpr bool BRANCHES = sizeof(Real) == 8 || SUM_COUNT > 4 || PREPARED > 4;

// Evaluates a lane's pair: adds its contribution to the sums of i and, with the parity's sign, to those of j.
// `self` excludes the pair.
template <bool EXACT>
__device__ __forceinline__ void evaluate(const Arguments& all, const Particle4& i, const Particle4& j, bool self,
                                         bool images, Real (&i_sums)[SUM_COUNT], Real* j_sums) {
    Vec3 r = i.position - j.position;
    if (EXACT && images) {
        r = {nearest(r.x, all.short_period.x, all.short_frequency.x),
             nearest(r.y, all.short_period.y, all.short_frequency.y),
             nearest(r.z, all.short_period.z, all.short_frequency.z)};
    }
    const Real r2 = dot(r, r);
    const Real limit = CUTOFF == Cutoff::COMMON ? all.squared_cutoff
                       : CUTOFF == Cutoff::OWN  ? i.squared_radius
                                                : max(i.squared_radius, j.squared_radius);
    const bool within = r2 < limit && !(EXACT && self);
    if (BRANCHES) {
        if (!within) return;
    }
    const Sums pair = pair_contribution(constants(), i.values, j.values, r, r2);
    const Real* values = reinterpret_cast<const Real*>(&pair) + FIRST_SUM;
    // Select instead of a branch, so that the law's multiplications and these additions contract to fused
    // multiply-adds.
#pragma unroll
    for (int s = 0; s < SUM_COUNT; ++s) {
        i_sums[s] = within ? combine(s, i_sums[s], values[s]) : i_sums[s];
        if (SYMMETRIC) {
            const Real joint = parity(s) < 0 ? j_sums[s] - values[s] : j_sums[s] + values[s];
            j_sums[s] = within ? joint : j_sums[s];
        }
    }
}

// Reduce-scatter over lanes that differ in `COUNT` bits of their index from `BIT` on. The lane with bits b
// keeps the sums of the values b, b + 2^COUNT, ..., stored at 0, 1, .... If there are fewer values than
// lanes, only those of the first lanes are valid. Each exchange sends half of the values to the other lane.
template <int N, int BIT, int COUNT> struct ReduceScatter {
    static constexpr int HALF = (N + 1) / 2;
    __device__ __forceinline__ static void add(Real* values) {
        const bool upper = (lane_index() & BIT) != 0;
        Real kept[HALF];
#pragma unroll
        for (int m = 0; m < N / 2; ++m) {
            const Real mine = upper ? values[2 * m + 1] : values[2 * m];
            const Real other = upper ? values[2 * m] : values[2 * m + 1];
            kept[m] = mine + __shfl_xor_sync(FULL, other, BIT);
        }
        if (N % 2 == 1) kept[HALF - 1] = values[N - 1] + __shfl_xor_sync(FULL, values[N - 1], BIT);
#pragma unroll
        for (int m = 0; m < HALF; ++m) values[m] = kept[m];
        ReduceScatter<HALF, BIT * 2, COUNT - 1>::add(values);
    }
};
template <int N, int BIT> struct ReduceScatter<N, BIT, 0> {
    __device__ __forceinline__ static void add(Real*) {}
};

}  // namespace pair
}  // namespace hilbrium
