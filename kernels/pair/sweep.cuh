// The sweep: a law over a neighbor list, one warp a super-cluster. Every law, half and full lists, either arithmetic.
//
// A warp decodes its list 32 clusters at a time and brings 32 of their particles j at a time, one a lane, into its
// super-cluster's frame; periodic images and the difference of the two frames are one shift a cluster, formed in double
// precision. A particle j then gets a bit for each of the eight i-clusters whose box it can reach; those with a bit
// wait in shared memory until there are enough of them. What is done then is a tile: eight particles i of a cluster
// against four j, one pair a lane.
//
// Half lists (Group): of 32 particles j, four at a time stay in registers and meet the i-clusters that any of the four
// has a bit of. The sums of all i stay in registers too; those of the 32 j are joined over the lanes by way of shared
// memory and added to memory.
// Full lists (Queue): an i-cluster stays in registers and meets the particles j with its bit, in fours. No atomic
// operation: results are the same bits in every run.
//
// Floor: instructions in single precision. In double precision and on half lists shared memory, which gives a tile its
// particles i in eight cycles, then arithmetic: 1.8 and 1.4 ms of forces between four million Lennard-Jones particles
// of 194 neighbors on an H100. What takes longer waits for a tile's instructions, which wait for each other.
//
// Pairs of the super-cluster with itself, and those whose periodic image is not certain from the frames, take another
// way (EXACT), where each lane leaves out its self pair and, where need be, looks for the nearest image.
#pragma once

#include "../neighbors/decode.cuh"
#include "../pair/law.cuh"
#include "../pair/scattered.cuh"

namespace hilbrium {
namespace pair {

// Particles j that wait.
#ifndef HILBRIUM_WAITING
#define HILBRIUM_WAITING (HILBRIUM_SYMMETRIC ? 64 : 128)
#endif
constexpr unsigned WAITING = HILBRIUM_WAITING;

// Of a particle i that a pair needs, in shared memory.
constexpr int I_GROUPS = GROUPS > 0 ? GROUPS : 1;

// Sums of four particles j by lane; padded, so that whoever joins them finds each in a bank of its own.
struct alignas(16) FourSums {
    Real values[SUM_COUNT * WARP + 16 / sizeof(Real)];
};

// Whether halves of positions are apart: a tile of a half list reads eight particles i, one of a full list reads only
// four j, eight lanes each the same, which are in no other's way.
constexpr bool APART = SYMMETRIC && PIECES > 1;

// What a warp keeps in shared memory. Behind the last particle j that waits on full lists there is one out of reach.
struct Stage {
    Scattered<SUPER_CLUSTER, APART> i_position;
    Real4 i_further[I_GROUPS][GROUPS > 0 ? SUPER_CLUSTER : 1];
    Scattered<WAITING + (SYMMETRIC ? 0 : 1), APART> j_position;
    FourSums j_sums[SYMMETRIC ? WARP / 4 : 1];
    // Entries of a block of the list, a lane's each: the shift into the frame, and the cluster.
    Real4 entry_shift[WARP];
    unsigned entry_cluster[WARP];
    float4 box_centre[CLUSTERS];
    float4 box_half[CLUSTERS];
    uint2 j_row_and_mask[WAITING + (SYMMETRIC ? 0 : 1)];
    Real i_squared_radius[CUTOFF == Cutoff::OWN ? SUPER_CLUSTER : 1];
    Real sums[SYMMETRIC ? 1 : SUPER_CLUSTER * SUM_COUNT];
    unsigned char queue[SYMMETRIC ? 4 : WAITING + 4];
};

// Warps of a block. One, since lists differ in length and a block keeps its place until its last warp is done; several
// where warps share a super-cluster of a full list, whose sums they join.
#ifndef HILBRIUM_WARPS
#define HILBRIUM_WARPS 1
#endif
constexpr unsigned WARPS = HILBRIUM_WARPS;
static_assert(sizeof(Stage) * WARPS <= 48 * 1024, "shared memory of a block");

// What all warps are given.
struct Arguments {
    const Real4* position;
    const Real4* further;
    const Real* squared_radius;
    const double* frame;
    const float4* box;
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

// The nearest whole number.
__device__ __forceinline__ Real rounded(Real x) { return ::rint(x); }

// A particle from its Real4.
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

// At the nearest image, but for ghosts, which stay far away; frequency is one over the period, both are 0 where the box
// is open.
__device__ __forceinline__ Real nearest(Real r, Real period, Real frequency) {
    return abs(r) < Real(1e17) ? mul_add(-period, rounded(r * frequency), r) : r;
}

// Whether a pair that is out of range is skipped. Otherwise it is evaluated and not added, which for short laws in
// single precision takes fewer instructions than a branch.
constexpr bool BRANCHES = sizeof(Real) == 8 || SUM_COUNT > 4 || PREPARED > 4;

// A lane's pair: joins what it gives to the sums of i, and, with the sign of the reaction, to those of j. `self` is
// whether the pair is to be left out.
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
    const Sums pair = given(constants(), i.values, j.values, r, r2);
    const Real* values = reinterpret_cast<const Real*>(&pair) + FIRST_SUM;
    // chosen, not branched: multiplications of the law then become one with these additions
#pragma unroll
    for (int s = 0; s < SUM_COUNT; ++s) {
        i_sums[s] = within ? joined(s, i_sums[s], values[s]) : i_sums[s];
        if (SYMMETRIC) {
            const Real joint = parity(s) < 0 ? j_sums[s] - values[s] : j_sums[s] + values[s];
            j_sums[s] = within ? joint : j_sums[s];
        }
    }
}

// Adds values over lanes that differ in `COUNT` bits of their number from `BIT` on, and leaves each lane its part: the
// lane with bits b keeps the values b, b + 2^COUNT, ..., at the places 0, 1, ...; where there are fewer values than
// lanes, those of the first lanes count. Half of the values go to the other lane in each exchange.
template <int N, int BIT, int COUNT> struct Spread {
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
        Spread<HALF, BIT * 2, COUNT - 1>::add(values);
    }
};
template <int N, int BIT> struct Spread<N, BIT, 0> {
    __device__ __forceinline__ static void add(Real*) {}
};

}  // namespace pair
}  // namespace hilbrium
