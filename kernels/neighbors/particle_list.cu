// Particle lists, for sweeps where only few particles of the neighbor clusters are neighbors.
//
// Built from the records of a full cluster list. The entries of a super-cluster are its clusters, in order.
// Particle k of entry e has the number 8 (e + 1) + k, and number 0 is out of reach of every particle. A sweep
// stages the particles of the entries in shared memory under these numbers. Hence a neighbor takes 16 bits,
// and positions are read once per super-cluster.
//
// The 32 particles of each half of a super-cluster are the lanes of a warp. Neighbor numbers are stored two
// per word; word m of lane l is at 32 (begin + m) + l. All lanes are padded with 0 to the longest of the 32
// lists.
//
// The first kernel counts; after a prefix sum, the second one writes. A pair is listed if its distance in
// double precision is below the larger radius, as in ParticleList. Single precision decides pairs outside of
// its error margin.
#include "../device.cuh"
#include "../arguments/neighbors_particle_list.cuh"
#include "../neighbors/decode.cuh"
#include "../neighbors/walk.cuh"

namespace hilbrium {

#ifndef HILBRIUM_PERIODIC
#define HILBRIUM_PERIODIC 1
#endif

// Warps per block.
constexpr unsigned LIST_WARPS = 4;

// Largest number of entries that 16 bits can address.
constexpr unsigned MOST_ENTRIES = 8190;

// Reasons why a list cannot be swept: too many entries, or pairs with several images of a cluster.
constexpr unsigned TOO_MANY = 1, TOO_WIDE = 2;

// Capacity of the buffer of found neighbors, in groups of four clusters.
constexpr unsigned GROUPS_WAITING = 24;

struct ParticleListMemory {
    Frame frame;
    float4 staged[WARP];
    unsigned pending[WARP];
    unsigned found[GROUPS_WAITING][WARP];
    unsigned short entries[GROUPS_WAITING][WARP / CLUSTER];
};

// Output of a lane's neighbors; only counts them if there are no words.
//
// The order of neighbors within a lane's list is free. Lanes of a sweep that read 16 bytes each have bank
// conflicts if their numbers are equal modulo 8. Lane l therefore starts with numbers equal to l modulo 8,
// continues with l + 1, and so on. For this, groups of clusters are buffered in shared memory; a full buffer
// is written out early.
struct Neighbors {
    ParticleListMemory& memory;
    unsigned* words;  // of this lane
    unsigned count;
    unsigned groups;  // number in the buffer

    // Appends the particles of the set bits, eight for each of four entries.
    __device__ __forceinline__ void take(unsigned found, unsigned entry) {
        if (words == nullptr) {
            count += __popc(found);
            return;
        }
        const unsigned lane = lane_index();
        memory.found[groups][lane] = found;
        if (lane % CLUSTER == 0) { memory.entries[groups][lane / CLUSTER] = static_cast<unsigned short>(entry); }
        __syncwarp();
        if (++groups == GROUPS_WAITING) { write(); }
    }

    __device__ __forceinline__ void write() {
        const unsigned lane = lane_index();
        for (unsigned step = 0; step < CLUSTER; ++step) {
            const unsigned residue = (lane + step) % CLUSTER;
            for (unsigned group = 0; group < groups; ++group) {
                for (unsigned bits = memory.found[group][lane] & 0x01010101u << residue; bits != 0; bits &= bits - 1) {
                    const unsigned entry = memory.entries[group][(__ffs(int(bits)) - 1) / CLUSTER];
                    put(CLUSTER * (entry + 1) + residue);
                }
            }
        }
        groups = 0;
        __syncwarp();
    }

    __device__ __forceinline__ void put(unsigned number) {
        reinterpret_cast<unsigned short*>(words + count / 2 * WARP)[count % 2] = static_cast<unsigned short>(number);
        ++count;
    }
};

// Returns whether two rows have a pair, in double precision.
__device__ inline bool is_pair(const ListRequest& request, unsigned i, unsigned j) {
    if (i == j || !request.acts(i) || !request.exists(j)) { return false; }
    double square = 0.0;
    for (unsigned d = 0; d < 3; ++d) {
        const double apart = exact::shortest(plus(request.position[d][i], -request.position[d][j]), request.period[d]);
        square = plus(square, times(apart, apart));
    }
    const double reach = fmax(request.radius[i], request.radius[j]);
    return square < times(reach, reach);
}

// Returns whether any of the four members of a half is within reach of a cluster's box.
__device__ __forceinline__ bool near_half(const Frame& frame, unsigned half, float3 center, float4 extent) {
    bool near = false;
    for (unsigned k = 0; k < CLUSTERS / 2; ++k) {
        const float4 member = frame.member_center[CLUSTERS / 2 * half + k];
        const float4 edge = frame.member_half[CLUSTERS / 2 * half + k];
        const float gap_x = fmaxf(fabsf(center.x - member.x) - (extent.x + edge.x), 0.0f);
        const float gap_y = fmaxf(fabsf(center.y - member.y) - (extent.y + edge.y), 0.0f);
        const float gap_z = fmaxf(fabsf(center.z - member.z) - (extent.z + edge.z), 0.0f);
        near |= square(gap_x) + square(gap_y) + square(gap_z) <= fmaxf(square(extent.w + frame.margin), member.w);
    }
    return near;
}

// Squared radius without margin, from the one with margin.
__device__ __forceinline__ float without_margin(float squared, float margin) { return square(sqrtf(squared) - margin); }

// Squared distance minus squared reach.
__device__ __forceinline__ float beyond_reach(float4 i, float4 j) {
    return square(i.x - j.x) + square(i.y - j.y) + square(i.z - j.z) - fmaxf(i.w, j.w);
}

// Returns a mask of the particles of up to four clusters that are neighbors of this lane's particle.
// `cluster` and `fit` refer to the cluster whose particle this lane stages. All lanes must call.
__device__ __forceinline__ unsigned neighbors_among(const ListRequest& request, ParticleListMemory& memory,
                                                    unsigned groups, unsigned row, float4 own, unsigned cluster,
                                                    bool fit) {
    const unsigned lane = lane_index(), part = lane / CLUSTER;
    float4 other = {NOWHERE, 0.0f, 0.0f, square(memory.frame.margin)};
    if (part < groups) {
        other = particle_in<HILBRIUM_PERIODIC>(request, memory.frame, CLUSTER * cluster + lane % CLUSTER);
    }
    other.w = without_margin(other.w, memory.frame.margin);
    __syncwarp();
    memory.staged[lane] = other;
    __syncwarp();
    unsigned found = 0;
    float closest = NOWHERE;
#pragma unroll
    for (unsigned k = WARP; k-- > 0;) {
        const float beyond = beyond_reach(own, memory.staged[k]);
        // The sign bit marks a neighbor.
        found = __funnelshift_l(__float_as_uint(beyond), found, 1);
        closest = fminf(closest, fabsf(beyond));
    }
    // Above the error of the difference of squares: coordinates have errors of 2^-24 of the extent.
    const float reach = sqrtf(__uint_as_float(__reduce_max_sync(FULL, __float_as_uint(fmaxf(own.w, other.w)))));
    const float doubt = 2.0f * reach * (5e-7f * memory.frame.extent + 1e-6f * reach);
    const bool unfit = __any_sync(FULL, part < groups && !fit);
    if (unfit || __any_sync(FULL, closest <= doubt)) {
        unsigned doubtful = 0;
#pragma unroll 1
        for (unsigned k = 0; k < CLUSTER * groups; ++k) {
            if (unfit || fabsf(beyond_reach(own, memory.staged[k])) <= doubt) { doubtful |= 1u << k; }
        }
        found &= ~doubtful;
#pragma unroll 1
        for (unsigned every = __reduce_or_sync(FULL, doubtful); every != 0; every &= every - 1) {
            const unsigned k = __ffs(int(every)) - 1, j = CLUSTER * __shfl_sync(FULL, cluster, k) + k % CLUSTER;
            if ((doubtful >> k & 1) && is_pair(request, row, j)) { found |= 1u << k; }
        }
    }
    // Exclude the particle itself.
    for (unsigned k = 0; k < groups; ++k) {
        const unsigned self = row - CLUSTER * __shfl_sync(FULL, cluster, CLUSTER * k);
        if (self < CLUSTER) { found &= ~(1u << (CLUSTER * k + self)); }
    }
    return found;
}

// Counts or writes the neighbors of one half of a super-cluster. Returns the number of words of the longest
// list.
__device__ __forceinline__ unsigned list_half(const ListRequest& request, NibbleDecoder decoder, unsigned super_cluster,
                                              unsigned half, ParticleListMemory& memory, unsigned* clusters,
                                              unsigned* words, unsigned width, unsigned* unfit) {
    const unsigned lane = lane_index(), row = SUPER_CLUSTER * super_cluster + WARP * half + lane;
    const unsigned count = decoder.remaining();
    if (count == 0) { return 0; }
    if (count > MOST_ENTRIES) {
        if (lane == 0) { atomicOr(unfit, TOO_MANY); }
        return 0;
    }
    prepare(request, super_cluster, memory.frame);
    float4 own = memory.frame.particles[WARP * half + lane];
    own.w = without_margin(own.w, memory.frame.margin);
    Neighbors neighbors{memory, words == nullptr ? nullptr : words + lane, 0, 0};
    bool wide = false;
    for (unsigned first = 0; first < count; first += WARP) {
        const bool there = first + lane < count;
        const unsigned cluster = decoder.next();
        if (there && clusters != nullptr) { clusters[first + lane] = cluster; }
        bool near = false, fit = true;
        if (there) {
            const float4 extent = request.extent[cluster];
            float3 center;
            approaches<HILBRIUM_PERIODIC>(request, memory.frame, cluster, extent, center);
            fit = fits<HILBRIUM_PERIODIC>(request, memory.frame, center, extent);
            near = !fit || near_half(memory.frame, half, center, extent);
        }
        wide |= !fit;
        const unsigned hits = __ballot_sync(FULL, near);
        if (near) { memory.pending[__popc(hits & lanes_below())] = lane; }
        __syncwarp();
        for (unsigned begin = 0; begin < unsigned(__popc(hits)); begin += WARP / CLUSTER) {
            const unsigned groups = smaller(unsigned(__popc(hits)) - begin, WARP / CLUSTER);
            const unsigned which = memory.pending[begin + smaller(lane / CLUSTER, groups - 1)];
            const unsigned found = neighbors_among(request, memory, groups, row, own, __shfl_sync(FULL, cluster, which),
                                                   __shfl_sync(FULL, int(fit), which) != 0);
            neighbors.take(found, first + which);
        }
        __syncwarp();
    }
    if (HILBRIUM_PERIODIC && __any_sync(FULL, wide) && lane == 0) { atomicOr(unfit, TOO_WIDE); }
    if (words != nullptr) {
        neighbors.write();
        while (neighbors.count < 2 * width) { neighbors.put(0); }
    }
    return (__reduce_max_sync(FULL, neighbors.count) + 1) / 2;
}

// Writes, for each half of a super-cluster, the number of words of its longest list, and for each record,
// from `begins` on, its clusters. Sets bits in `unfit` if the list cannot be swept. Launch: one warp per
// half, blocks of LIST_WARPS.
// Floor: about 5000 instructions per half at 24 neighbors, 15,000 at 194.
extern "C" __global__ void __launch_bounds__(LIST_WARPS * 32)
    particle_list_count(const __grid_constant__ ParticleListCountArguments args) {
    __shared__ ParticleListMemory memory[LIST_WARPS];
    const unsigned record = warp_of_grid() / 2, half = warp_of_grid() % 2;
    if (record >= args.super_clusters) { return; }
    const ListRequest request = list_request(args.search);
    const ListRecords& list = args.list;
    const unsigned width =
        list_half(request, {list.data, list.offsets[record], list.counts[record]}, args.first + record, half,
                  memory[warp_of_block()], half == 0 ? args.clusters + args.begins[record] : nullptr, nullptr,
                  0, args.unfit);
    if (lane_index() == 0) { args.widths[2 * record + half] = width; }
}
HILBRIUM_EXPORT(particle_list_count)

// Writes the neighbor numbers of each half from `word_begins` on, in units of 32 words. Launch: as
// particle_list_count.
extern "C" __global__ void __launch_bounds__(LIST_WARPS * 32)
    particle_list_write(const __grid_constant__ ParticleListWriteArguments args) {
    __shared__ ParticleListMemory memory[LIST_WARPS];
    const unsigned record = warp_of_grid() / 2, half = warp_of_grid() % 2;
    if (record >= args.super_clusters) { return; }
    const ListRequest request = list_request(args.search);
    const ListRecords& list = args.list;
    const unsigned long long begin = args.word_begins[warp_of_grid()];
    const unsigned width = static_cast<unsigned>(args.word_begins[warp_of_grid() + 1] - begin);
    if (width == 0) { return; }
    list_half(request, {list.data, list.offsets[record], list.counts[record]}, args.first + record, half,
              memory[warp_of_block()], nullptr, args.words + WARP * begin, width, args.unfit);
}
HILBRIUM_EXPORT(particle_list_write)

}  // namespace hilbrium
