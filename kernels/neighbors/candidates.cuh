// Candidate clusters of a super-cluster, tested 32 at a time and passed on in order.
//
// 1. Boxes: four candidates against the boxes of the eight members at once. Boxes out of reach have no pair.
//    Each face of a tight box touches a particle. Hence two boxes certainly have a pair if the farthest
//    points of facing faces are in reach, which decides most candidates well inside.
// 2. Particles of the remaining candidates: 8 of a candidate against 8 of a near member, in two steps of 32
//    pairs, until one is in reach. One load serves four candidates.
// 3. Pairs within the rounding margins are decided exactly as on the CPU (near.cuh).
#pragma once

#include "../neighbors/encode.cuh"
#include "../neighbors/frame.cuh"

namespace hilbrium {

// This bit of a candidate's index is set if single precision cannot decide it.
constexpr unsigned UNFIT = 1u << 31;

// Ring buffer of two batches of candidates: center and squared largest radius with margin; half widths and
// index. `pending` holds the candidates of a batch whose particles are tested: near members << 8 | index in
// the batch.
struct CandidateMemory {
    float4 center[2 * WARP];
    float4 half[2 * WARP];
    unsigned pending[WARP];
};

// Minimum image of a separation in single precision.
__device__ __forceinline__ float folded(float separation, const Frame& frame, unsigned d) {
    return separation - frame.edge[d] * rintf(separation * frame.inverse_edge[d]);
}

// Position of a row relative to the frame (minimum image), and the squared radius with margin.
template <bool PERIODIC>
__device__ __forceinline__ float4 particle_in(const ListRequest& request, const Frame& frame, unsigned row) {
    if (!request.exists(row)) { return {NOWHERE, 0.0f, 0.0f, square(frame.margin)}; }
    float position[3];
    for (unsigned d = 0; d < 3; ++d) {
        double apart = request.position[d][row] - frame.center[d];
        if (PERIODIC) { apart -= request.period[d] * rint(apart * frame.frequency[d]); }
        position[d] = float(apart * request.scale);
    }
    return {position[0], position[1], position[2],
            square(float(fmax(request.radius[row], 0.0) * request.scale) + frame.margin)};
}

// Returns whether single precision can decide a cluster: it is not too far away, and all of its pairs in
// reach belong to the image nearest to the frame's center. `center` is relative to the frame's; `extent`
// holds half widths and largest radius.
template <bool PERIODIC>
__device__ __forceinline__ bool fits(const ListRequest& request, const Frame& frame, float3 center, float4 extent) {
    const float apart[3] = {fabsf(center.x), fabsf(center.y), fabsf(center.z)};
    bool fit = fmaxf(fmaxf(apart[0] + extent.x, apart[1] + extent.y), apart[2] + extent.z) <= frame.extent;
    if (PERIODIC) {
        const float half[3] = {extent.x + frame.box.x, extent.y + frame.box.y, extent.z + frame.box.z};
        const float reach = fmaxf(extent.w, frame.box.w) + frame.margin;
        for (unsigned d = 0; d < 3; ++d) {
            const float widest = 0.5f * frame.edge[d] * (1.0f - 1e-5f);
            fit = fit && (frame.edge[d] == 0.0f || half[d] + reach < widest);
        }
    }
    return fit;
}

// `Clusters` has take(lanes, cluster), which receives the clusters with pairs.
template <bool PERIODIC, class Clusters> struct Candidates {
    const ListRequest& request;
    const ListRequest& shared_request;  // copy in shared memory
    const Frame& frame;
    CandidateMemory& memory;
    Clusters& found;
    unsigned added = 0, decided = 0;

    // Appends the clusters of the lanes in `lanes`: index, center relative to the frame's, half widths and
    // largest radius. All lanes must call.
    __device__ __forceinline__ void add(unsigned lanes, unsigned cluster, float3 center, float4 extent) {
        if (lanes >> lane_index() & 1) {
            const bool fit = fits<PERIODIC>(request, frame, center, extent);
            const unsigned place = (added + __popc(lanes & lanes_below())) % (2 * WARP);
            memory.center[place] = {center.x, center.y, center.z, square(extent.w + frame.margin)};
            memory.half[place] = {extent.x, extent.y, extent.z, __uint_as_float(fit ? cluster : cluster | UNFIT)};
        }
        added += __popc(lanes);
        __syncwarp();
    }

    // Number of candidates in the buffer. Up to 32 more may be added while it is below 32.
    __device__ __forceinline__ unsigned waiting() const { return added - decided; }

    // Tests the first `count` (1 to 32) candidates in the buffer and passes those with pairs on.
    __device__ __forceinline__ void decide(unsigned count) {
        const unsigned lane = lane_index();
        unsigned near = 0, sure = 0;
        boxes(count, near, sure);
        const unsigned marked = __float_as_uint(memory.half[(decided + lane) % (2 * WARP)].w);
        const unsigned cluster = marked & ~UNFIT;
        const bool there = lane < count;
        const unsigned self = cluster - CLUSTERS * frame.super_cluster;
        const bool perhaps = self < CLUSTERS && (frame.perhaps_inside >> self & 1);
        unsigned accepted = __ballot_sync(FULL, there && sure != 0);
        const bool unfit = there && sure == 0 && (marked & UNFIT) != 0;
        unsigned undecided = __ballot_sync(FULL, unfit || (there && sure == 0 && perhaps));
        const bool open = there && sure == 0 && near != 0 && !unfit;
        const unsigned pending = __ballot_sync(FULL, open);
        if (pending != 0) {
            if (open) { memory.pending[__popc(pending & lanes_below())] = near << 8 | lane; }
            __syncwarp();
            pairs(__popc(pending), accepted, undecided);
        }
        undecided &= ~accepted;
        for (; undecided != 0; undecided &= undecided - 1) {
            const unsigned which = __ffs(int(undecided)) - 1;
            if (exact::meets(shared_request, frame.super_cluster, __shfl_sync(FULL, cluster, which))) {
                accepted |= 1u << which;
            }
        }
        decided += count;
        found.take(accepted, cluster);
    }

    // Box test: the members near this lane's candidate, and those that certainly have a pair with it.
    __device__ __forceinline__ void boxes(unsigned count, unsigned& near, unsigned& sure) {
        const unsigned lane = lane_index(), member = lane % CLUSTERS;
        const float4 member_center = frame.member_center[member], member_half = frame.member_half[member];
        for (unsigned group = 0; 4 * group < count; ++group) {
            const unsigned place = (decided + 4 * group + lane / CLUSTERS) % (2 * WARP);
            const float4 center = memory.center[place], half = memory.half[place];
            const unsigned self = (__float_as_uint(half.w) & ~UNFIT) - CLUSTERS * frame.super_cluster;
            const float apart[3] = {fabsf(center.x - member_center.x), fabsf(center.y - member_center.y),
                                    fabsf(center.z - member_center.z)};
            const float both[3] = {half.x + member_half.x, half.y + member_half.y,
                                   half.z + member_half.z};
            float gaps = 0.0f, ends = 0.0f, facing = 0.0f;
            for (unsigned d = 0; d < 3; ++d) {
                const float gap = fmaxf(apart[d] - both[d], 0.0f), end = apart[d] + both[d];
                gaps = fmaf(gap, gap, gaps);
                ends = fmaf(end, end, ends);
                // A quarter of: the squared end distance, minus the squared distance of facing faces.
                facing = fmaxf(facing, apart[d] * both[d]);
            }
            bool is_near = gaps <= fmaxf(center.w, member_center.w);
            bool is_sure = fmaf(-4.0f, facing, ends) < member_half.w;
            if (self < CLUSTERS) {
                // Pairs within a member were tested in `prepare`. A symmetric list stores a pair of clusters
                // of the same super-cluster with the later member.
                const bool own = self == member, later = request.symmetric && member > self;
                is_near = is_near && !own && !later;
                is_sure = own ? (frame.inside >> member & 1) : is_sure && !later;
            }
            const unsigned near_lanes = __ballot_sync(FULL, is_near), sure_lanes = __ballot_sync(FULL, is_sure);
            if (lane / 4 == group) {
                near = near_lanes >> (8 * (lane % 4)) & 0xff;
                sure = sure_lanes >> (8 * (lane % 4)) & 0xff;
            }
        }
    }

    // Particle test: the pending candidates against their near members. Sets the candidate's bit in
    // `accepted` if it has a pair, in `undecided` if that is uncertain.
    __device__ __forceinline__ void pairs(unsigned count, unsigned& accepted, unsigned& undecided) {
        const unsigned lane = lane_index(), row = lane % CLUSTER, part = lane / CLUSTER;
        for (unsigned begin = 0; begin < count; begin += WARP / CLUSTER) {
            const unsigned mine = memory.pending[smaller(begin + part, count - 1)];
            const unsigned cluster = __float_as_uint(memory.half[(decided + (mine & 0xff)) % (2 * WARP)].w);
            const float4 other = particle_in<PERIODIC>(request, frame, CLUSTER * cluster + row);
            const unsigned groups = smaller(count - begin, WARP / CLUSTER);
            for (unsigned group = 0; group < groups; ++group) {
                const unsigned which = __shfl_sync(FULL, mine, CLUSTER * group);
                const unsigned source = CLUSTER * group + row;
                const float x = __shfl_sync(FULL, other.x, source), y = __shfl_sync(FULL, other.y, source);
                const float z = __shfl_sync(FULL, other.z, source), w = __shfl_sync(FULL, other.w, source);
                bool perhaps = false, found = false;
                for (unsigned members = which >> 8; members != 0 && !found; members &= members - 1) {
                    const unsigned first = CLUSTER * (__ffs(int(members)) - 1) + part;
                    const float4 a = frame.particles[first], b = frame.particles[first + CLUSTER / 2];
                    const float square_a = square(a.x - x) + square(a.y - y) + square(a.z - z);
                    const float square_b = square(b.x - x) + square(b.y - y) + square(b.z - z);
                    const float beyond_a = fmaxf(a.w, w), beyond_b = fmaxf(b.w, w);
                    if (__any_sync(FULL, square_a <= beyond_a || square_b <= beyond_b)) {
                        found = __any_sync(FULL, square_a < certain_square(beyond_a, frame.margin, frame.certain) ||
                                                     square_b < certain_square(beyond_b, frame.margin, frame.certain));
                        perhaps = true;
                    }
                }
                if (found) { accepted |= 1u << (which & 0xff); }
                if (perhaps) { undecided |= 1u << (which & 0xff); }
            }
        }
    }
};

}  // namespace hilbrium
