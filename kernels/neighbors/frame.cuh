// The searching super-cluster: its particles and the boxes of its members.
//
// Lengths are in single precision, in the list's unit, relative to the center of the super-cluster's box. If
// the coordinates of a candidate are below `extent`, errors of distances are below `margin`. A pair decision
// further than `margin` from the cutoff agrees with the CPU's, whose own margin is smaller.
#pragma once

#include "../neighbors/near.cuh"

namespace hilbrium {

// Position of rows without neighbors; missing neighbor rows are placed at the opposite side.
constexpr float NOWHERE = 1e18f;

// In shared memory, because it is read throughout and registers are scarce.
struct Frame {
    // x, y, z, and squared radius with margin
    float4 particles[SUPER_CLUSTER];
    // boxes of members: center, and squared largest radius with margin
    float4 member_center[CLUSTERS];
    // half widths, and the squared distance below which a pair is certain, 0 if none is
    float4 member_half[CLUSTERS];
    // half widths of the box, and the largest radius
    float4 box;
    double center[3];
    // One over the edges along periodic dimensions; these edges and one over them in the list's unit. 0 along
    // open dimensions.
    double frequency[3];
    float edge[3], inverse_edge[3];
    float extent;   // single precision suffices for coordinates up to this
    float margin;   // pairs beyond reach + margin are certainly out of range
    float certain;  // pairs within reach - certain are certainly in range
    unsigned super_cluster;
    // bit k: member k certainly (inside) or possibly (perhaps_inside) has a pair among its own rows
    unsigned inside, perhaps_inside;
};

__device__ __forceinline__ float square(float x) { return x * x; }

// Squared distance below which a pair certainly exists, from the squared distance above which it certainly
// does not.
__device__ __forceinline__ float certain_square(float beyond, float margin, float certain) {
    const float distance = sqrtf(beyond) * (1.0f - 3e-6f) - margin - certain;
    return distance > 0.0f ? square(distance) : 0.0f;
}

// Places the particles of a super-cluster relative to the center of its box. All lanes must call.
__device__ __forceinline__ void place_particles(const ListRequest& request, unsigned super_cluster,
                                                const double (&center)[3], float margin, Frame& frame) {
    for (unsigned k = lane_index(); k < SUPER_CLUSTER; k += WARP) {
        const unsigned row = SUPER_CLUSTER * super_cluster + k;
        float4 particle = {-NOWHERE, 0.0f, 0.0f, square(margin)};
        if (request.acts(row)) {
            particle.x = float((request.position[0][row] - center[0]) * request.scale);
            particle.y = float((request.position[1][row] - center[1]) * request.scale);
            particle.z = float((request.position[2][row] - center[2]) * request.scale);
            particle.w = square(float(fmax(request.radius[row], 0.0) * request.scale) + margin);
        }
        frame.particles[k] = particle;
    }
    __syncwarp();
}

// Computes the boxes of the members: four lanes per member, two rows per lane. All lanes must call.
__device__ __forceinline__ void box_members(float margin, float certain, Frame& frame) {
    const unsigned lane = lane_index(), member = lane % CLUSTERS, part = lane / CLUSTERS;
    float3 lower = {NOWHERE, NOWHERE, NOWHERE}, upper = {-NOWHERE, -NOWHERE, -NOWHERE};
    float least = NOWHERE, largest = 0.0f;
    for (unsigned k = 0; k < 2; ++k) {
        const float4 particle = frame.particles[CLUSTER * member + 2 * part + k];
        if (particle.x == -NOWHERE) { continue; }
        lower = {fminf(lower.x, particle.x), fminf(lower.y, particle.y), fminf(lower.z, particle.z)};
        upper = {fmaxf(upper.x, particle.x), fmaxf(upper.y, particle.y), fmaxf(upper.z, particle.z)};
        least = fminf(least, particle.w);
        largest = fmaxf(largest, particle.w);
    }
    for (unsigned distance = CLUSTERS; distance < WARP; distance *= 2) {
        lower.x = fminf(lower.x, __shfl_xor_sync(FULL, lower.x, distance));
        lower.y = fminf(lower.y, __shfl_xor_sync(FULL, lower.y, distance));
        lower.z = fminf(lower.z, __shfl_xor_sync(FULL, lower.z, distance));
        upper.x = fmaxf(upper.x, __shfl_xor_sync(FULL, upper.x, distance));
        upper.y = fmaxf(upper.y, __shfl_xor_sync(FULL, upper.y, distance));
        upper.z = fmaxf(upper.z, __shfl_xor_sync(FULL, upper.z, distance));
        least = fminf(least, __shfl_xor_sync(FULL, least, distance));
        largest = fmaxf(largest, __shfl_xor_sync(FULL, largest, distance));
    }
    if (lane < CLUSTERS) {
        if (lower.x <= upper.x) {
            frame.member_center[member] = {0.5f * lower.x + 0.5f * upper.x, 0.5f * lower.y + 0.5f * upper.y,
                                           0.5f * lower.z + 0.5f * upper.z, largest};
            frame.member_half[member] = {0.5f * upper.x - 0.5f * lower.x, 0.5f * upper.y - 0.5f * lower.y,
                                         0.5f * upper.z - 0.5f * lower.z, certain_square(least, margin, certain)};
        } else {
            frame.member_center[member] = {-NOWHERE, 0.0f, 0.0f, 0.0f};
            frame.member_half[member] = {0.0f, 0.0f, 0.0f, 0.0f};
        }
    }
}

// Tests pairs within members: rows k and k + step, until each member has one. Sets bit k if member k
// certainly (`inside`) or possibly (`perhaps_inside`) has one. All lanes must call.
__device__ __forceinline__ void find_pairs_within(const Frame& frame, float margin, float certain,
                                                  unsigned& inside, unsigned& perhaps_inside) {
    const unsigned member = lane_index() % CLUSTERS, part = lane_index() / CLUSTERS;
    inside = perhaps_inside = 0;
#pragma unroll 1
    for (unsigned step = 1; step <= CLUSTER / 2 && inside != 0xff; ++step) {
        bool has = false, may_have = false;
        for (unsigned k = 0; k < 2; ++k) {
            const unsigned row = 2 * part + k;
            const float4 a = frame.particles[CLUSTER * member + row];
            const float4 b = frame.particles[CLUSTER * member + (row + step) % CLUSTER];
            const float apart = square(a.x - b.x) + square(a.y - b.y) + square(a.z - b.z), beyond = fmaxf(a.w, b.w);
            const bool there = a.x != -NOWHERE && b.x != -NOWHERE;
            may_have |= there && apart <= beyond;
            has |= there && apart < certain_square(beyond, margin, certain);
        }
        unsigned found = __ballot_sync(FULL, has), possible = __ballot_sync(FULL, may_have);
        found |= found >> 16;
        possible |= possible >> 16;
        inside |= (found | found >> 8) & 0xff;
        perhaps_inside |= (possible | possible >> 8) & 0xff;
    }
}

// Fills the frame of a super-cluster with a non-empty box. All lanes must call. Floor: about 250
// instructions.
__device__ __forceinline__ void prepare(const ListRequest& request, unsigned super_cluster, Frame& frame) {
    const unsigned lane = lane_index(), node = hierarchy_padded_count(request.rows, 0) + super_cluster;
    const float4 box = request.extent[node];
    const double center[3] = {request.center[node], request.center[request.nodes + node],
                              request.center[2ull * request.nodes + node]};
    const float slack = round_up(request.slack * request.scale);
    const float period = float(request.widest_period() * request.scale);
    const float extent = 4.0f * (fmaxf(fmaxf(box.x, box.y), box.z) + box.w);
    const float certain = 2e-6f * extent + 4e-7f * period + 2.0f * slack, margin = certain + 2e-6f * extent;

    place_particles(request, super_cluster, center, margin, frame);
    box_members(margin, certain, frame);
    unsigned inside, perhaps_inside;
    find_pairs_within(frame, margin, certain, inside, perhaps_inside);
    if (lane == 0) {
        frame.box = box;
        for (unsigned d = 0; d < 3; ++d) {
            const double period = request.period[d];
            frame.center[d] = center[d];
            frame.frequency[d] = period == 0.0 ? 0.0 : 1.0 / period;
            frame.edge[d] = float(period * request.scale);
            frame.inverse_edge[d] = period == 0.0 ? 0.0f : 1.0f / frame.edge[d];
        }
        frame.extent = extent;
        frame.margin = margin;
        frame.certain = certain;
        frame.super_cluster = super_cluster;
        frame.inside = inside;
        frame.perhaps_inside = perhaps_inside & ~inside;
    }
    __syncwarp();
}

}  // namespace hilbrium
