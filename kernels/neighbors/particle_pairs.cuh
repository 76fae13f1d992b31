// Tests of distances for particle lists (particle_list.cu): the particles of a super-cluster, two per lane,
// against those of a batch of entries in shared memory.
//
// A squared distance is computed as |j|^2 - 2 i j + |i|^2, with three multiply-adds. Its error is larger than
// that of a sum of squared differences. Pairs within the error bound are decided in double precision.
#pragma once

#include "../neighbors/walk.cuh"

namespace hilbrium {

#ifndef HILBRIUM_PERIODIC
#define HILBRIUM_PERIODIC 1
#endif

// Entries tested together, one per bit of a word.
constexpr unsigned BATCH = WARP;

// Positions are relative to the frame.
struct ParticleListMemory {
    Frame frame;
    // Particles of the staged entries of a batch: -2 x, -2 y, -2 z, squared distance from the frame's center.
    float4 staged[CLUSTER * BATCH];
    float squared_radius[CLUSTER * BATCH];
    // The staged entries: cluster, with WIDE_ENTRY if its particles have images of their own, place in the
    // batch, and the frame's center in the cluster's image.
    unsigned cluster[BATCH], place[BATCH];
    double origin[3][BATCH];
};

// Returns whether two rows have a pair, in double precision.
__device__ inline bool is_pair(const ListRequest& request, unsigned i, unsigned j) {
    if (i == j || !request.acts(i) || !request.exists(j)) { return false; }
    double square = 0.0;
    for (unsigned d = 0; d < 3; ++d) {
        const double separation = plus(request.position[d][i], -request.position[d][j]);
        const double apart = exact::shortest(separation, request.period[d]);
        square = plus(square, times(apart, apart));
    }
    const double reach = fmax(request.radius[i], request.radius[j]);
    return square < times(reach, reach);
}

// Squared radius of a row, in the list's unit.
__device__ __forceinline__ float squared_radius_of(const ListRequest& request, double radius) {
    return square(float(fmax(radius, 0.0) * request.scale));
}

// A lane's particle of one half, and its pairs with the particles of a batch.
struct Tested {
    float x, y, z, squared_norm, squared_radius;
    // Bound of the error of a squared distance minus the squared reach, and the part of that difference that
    // does not depend on the neighbor, plus the bound.
    float doubt, offset;
    // Bit c of word k: neighbor k of entry c. Appended from the last entry to the first.
    unsigned found[CLUSTER];
    // Bits of the smallest value of `excess` that is not negative.
    unsigned closest;
    // Number of neighbors in all batches.
    unsigned count;

    // Squared distance minus squared reach, plus the bound of its error: negative for pairs certainly in
    // reach, above twice the bound for pairs certainly out of reach. If not EITHER, the radius of this
    // particle is the larger one.
    template <bool EITHER>
    __device__ __forceinline__ float excess(float4 other, float other_squared_radius) const {
        const float beyond = fmaf(x, other.x, fmaf(y, other.y, fmaf(z, other.z, other.w + offset)));
        return EITHER ? beyond - fmaxf(other_squared_radius - squared_radius, 0.0f) : beyond;
    }

    // Sets the particle, from its position in the frame.
    __device__ __forceinline__ void place(const ListRequest& request, float4 particle, unsigned row) {
        x = particle.x;
        y = particle.y;
        z = particle.z;
        squared_norm = square(x) + square(y) + square(z);
        squared_radius = acts() ? squared_radius_of(request, request.radius[row]) : 0.0f;
        count = 0;
    }
    __device__ __forceinline__ bool acts() const { return x != -NOWHERE; }

    // Begins a batch whose particles have at most these squared distances from the frame's center and squared
    // radii. `slack` bounds the errors of double precision.
    //
    // With A = |i| + |j|, reach R and u = 2^-24, the errors of the products and sums in `excess` are below
    // u (8 A^2 + 6 R^2), those of rounded coordinates below u (A^2 + R^2), those of R^2 below 3 u R^2.
    __device__ __forceinline__ void begin(float squared_farthest, float largest_squared_radius, float slack) {
        const float squared_reach = fmaxf(squared_radius, largest_squared_radius);
        doubt = 7e-7f * (square(sqrtf(squared_norm) + sqrtf(squared_farthest)) + squared_reach) +
                4.0f * slack * sqrtf(squared_reach);
        offset = squared_norm + doubt - squared_radius;
        closest = 0xffffffffu;
#pragma unroll
        for (unsigned k = 0; k < CLUSTER; ++k) { found[k] = 0; }
    }

    // Tests two particles of an entry.
    template <bool EITHER>
    __device__ __forceinline__ void take(unsigned k, float4 one, float4 two, float one_squared_radius,
                                         float two_squared_radius) {
        const unsigned first = __float_as_uint(excess<EITHER>(one, one_squared_radius));
        const unsigned second = __float_as_uint(excess<EITHER>(two, two_squared_radius));
        // The sign bit marks a neighbor.
        found[k] = __funnelshift_l(first, found[k], 1);
        found[k + 1] = __funnelshift_l(second, found[k + 1], 1);
        // Negative numbers are the largest ones as integers.
        closest = smaller(closest, smaller(first, second));
    }

    // An entry without neighbors.
    __device__ __forceinline__ void skip() {
#pragma unroll
        for (unsigned k = 0; k < CLUSTER; ++k) { found[k] <<= 1; }
    }

    // Whether single precision does not decide all pairs.
    __device__ __forceinline__ bool doubtful() const { return closest <= __float_as_uint(2.0f * doubt); }

    // Stores the bits of a batch: particle (s + lane) % 8 in row s. Clears the bits `self` of row 0.
    __device__ __forceinline__ void store(unsigned* words, unsigned stride, unsigned self) {
        const unsigned lane = lane_index();
#pragma unroll
        for (unsigned by = 1; by < CLUSTER; by *= 2) {
            unsigned before[CLUSTER];
#pragma unroll
            for (unsigned k = 0; k < CLUSTER; ++k) { before[k] = found[k]; }
#pragma unroll
            for (unsigned k = 0; k < CLUSTER; ++k) {
                found[k] = lane & by ? before[(k + by) % CLUSTER] : before[k];
            }
        }
        found[0] &= ~self;
#pragma unroll
        for (unsigned s = 0; s < CLUSTER; ++s) {
            words[s * stride] = found[s];
            count += __popc(found[s]);
        }
    }
};

// Tests the staged particles: entry c is near a half if bit c of its mask is set.
template <bool EITHER>
__device__ __forceinline__ void test_batch(const ParticleListMemory& memory, unsigned entries,
                                           unsigned near_a, unsigned near_b, Tested& a, Tested& b) {
    unsigned staged = CLUSTER * __popc(near_a | near_b);
#pragma unroll 1
    for (unsigned c = entries; c-- > 0;) {
        const bool of_a = near_a >> c & 1, of_b = near_b >> c & 1;
        if (of_a || of_b) { staged -= CLUSTER; }
        const float4* const others = memory.staged + staged;
        const float* const radii = memory.squared_radius + staged;
        const auto radius = [&](unsigned k) { return EITHER ? radii[k] : 0.0f; };
        if (of_a && of_b) {
#pragma unroll
            for (unsigned k = 0; k < CLUSTER; k += 2) {
                const float4 one = others[k], two = others[k + 1];
                a.take<EITHER>(k, one, two, radius(k), radius(k + 1));
                b.take<EITHER>(k, one, two, radius(k), radius(k + 1));
            }
            continue;
        }
        if (of_a) {
#pragma unroll
            for (unsigned k = 0; k < CLUSTER; k += 2) {
                a.take<EITHER>(k, others[k], others[k + 1], radius(k), radius(k + 1));
            }
        } else {
            a.skip();
        }
        if (of_b) {
#pragma unroll
            for (unsigned k = 0; k < CLUSTER; k += 2) {
                b.take<EITHER>(k, others[k], others[k + 1], radius(k), radius(k + 1));
            }
        } else {
            b.skip();
        }
    }
}

// A row's columns.
struct Row {
    double position[3], radius;
    bool exists;

    __device__ __forceinline__ Row(const ListRequest& request, unsigned row) {
        const unsigned last = smaller(row, request.rows - 1);
        for (unsigned d = 0; d < 3; ++d) { position[d] = request.position[d][last]; }
        radius = request.radius[last];
        exists = request.id[last] != GHOST && row < request.rows;
    }
};

// Stages the particles of the first `count` staged entries. Returns the largest squared distance from the
// frame's center and the largest squared radius. All lanes must call.
__device__ __forceinline__ float2 stage(const ListRequest& request, ParticleListMemory& memory,
                                        unsigned count) {
    const unsigned lane = lane_index(), part = lane / CLUSTER;
    float farthest = 0.0f, largest = 0.0f;
    __syncwarp();
    const auto put = [&](unsigned entry, unsigned index, const Row& row) {
        float position[3];
        for (unsigned d = 0; d < 3; ++d) {
            double origin = HILBRIUM_PERIODIC ? memory.origin[d][entry] : memory.frame.center[d];
            if (HILBRIUM_PERIODIC && (memory.cluster[entry] & WIDE_ENTRY) != 0) {
                const double center = memory.frame.center[d];
                const double turns = rint((row.position[d] - center) * memory.frame.frequency[d]);
                origin = center + turns * request.period[d];
            }
            position[d] = float((row.position[d] - origin) * request.scale);
        }
        float4 other = {-2.0f * NOWHERE, 0.0f, 0.0f, square(NOWHERE)};
        float squared_radius = 0.0f;
        if (row.exists) {
            other = {-2.0f * position[0], -2.0f * position[1], -2.0f * position[2],
                     square(position[0]) + square(position[1]) + square(position[2])};
            squared_radius = squared_radius_of(request, row.radius);
            farthest = fmaxf(farthest, other.w);
            largest = fmaxf(largest, squared_radius);
        }
        memory.staged[index] = other;
        memory.squared_radius[index] = squared_radius;
    };
    // Two particles per lane at once, so that their loads overlap. Behind the last entry it is repeated.
    constexpr unsigned STEP = WARP / CLUSTER;
#pragma unroll 1
    for (unsigned first = 0; first < count; first += 2 * STEP) {
        const unsigned one = smaller(first + part, count - 1), two = smaller(first + STEP + part, count - 1);
        const Row row_one(request, CLUSTER * (memory.cluster[one] & ~WIDE_ENTRY) + lane % CLUSTER);
        const Row row_two(request, CLUSTER * (memory.cluster[two] & ~WIDE_ENTRY) + lane % CLUSTER);
        put(one, CLUSTER * first + lane, row_one);
        put(two, CLUSTER * (first + STEP) + lane, row_two);
    }
    __syncwarp();
    // The bit patterns of non-negative floats are ordered like their values.
    return {__uint_as_float(__reduce_max_sync(FULL, __float_as_uint(farthest))),
            __uint_as_float(__reduce_max_sync(FULL, __float_as_uint(largest)))};
}

// Decides the doubtful pairs of a half with the staged particles in double precision: for one lane's particle
// after the other, 32 pairs at a time. Sets bits in the words that the lanes have stored, and counts them.
// `row` is that of this lane's particle. All lanes must call.
__device__ __forceinline__ void decide(const ListRequest& request, const ParticleListMemory& memory,
                                       unsigned count, Tested& own, unsigned row, unsigned* words,
                                       unsigned stride) {
    const unsigned lane = lane_index();
#pragma unroll 1
    for (unsigned every = __ballot_sync(FULL, own.doubtful()); every != 0; every &= every - 1) {
        const unsigned source = __ffs(int(every)) - 1, its_row = __shfl_sync(FULL, row, source);
        Tested its;
        its.x = __shfl_sync(FULL, own.x, source);
        its.y = __shfl_sync(FULL, own.y, source);
        its.z = __shfl_sync(FULL, own.z, source);
        its.offset = __shfl_sync(FULL, own.offset, source);
        its.squared_radius = __shfl_sync(FULL, own.squared_radius, source);
        its.doubt = __shfl_sync(FULL, own.doubt, source);
#pragma unroll 1
        for (unsigned first = 0; first < CLUSTER * count; first += WARP) {
            const unsigned index = first + lane;
            bool pair = false;
            if (index < CLUSTER * count) {
                const float excess = its.excess<true>(memory.staged[index], memory.squared_radius[index]);
                // Wider than in the tests, whose sums may be rounded otherwise.
                pair = fabsf(excess - its.doubt) <= 1.5f * its.doubt &&
                       is_pair(request, its_row,
                               CLUSTER * (memory.cluster[index / CLUSTER] & ~WIDE_ENTRY) + index % CLUSTER);
            }
            for (unsigned pairs = __ballot_sync(FULL, pair); pairs != 0; pairs &= pairs - 1) {
                const unsigned which = first + __ffs(int(pairs)) - 1;
                if (lane == source) {
                    unsigned& word = words[(which - lane) % CLUSTER * stride];
                    const unsigned bit = 1u << memory.place[which / CLUSTER];
                    own.count += (word & bit) == 0;
                    word |= bit;
                }
            }
        }
    }
    __syncwarp();
}

}  // namespace hilbrium
