// Full lists: an i-cluster against the particles j that it can reach, in fours.
#pragma once

#include "../pair/sweep.cuh"

namespace hilbrium {
namespace pair {

// The particles j that wait; sums are in shared memory.
struct Queue {
    unsigned tail;
    // Whether nearest images must be looked for, on the exact way.
    bool images;

    __device__ __forceinline__ void begin(Stage& stage) {
        tail = 0;
        images = false;
        for (unsigned half = 0; half < SUPER_CLUSTER; half += WARP) {
#pragma unroll
            for (int s = 0; s < SUM_COUNT; ++s) stage.sums[(half + lane_index()) * SUM_COUNT + s] = nothing(s);
        }
        if (lane_index() == 0) {
            stage.j_position.write(WAITING, {Real(-1e18), Real(0), Real(0), Real(0)});
            stage.j_row_and_mask[WAITING] = {0u, 0u};
        }
        __syncwarp();
    }

    __device__ __forceinline__ unsigned place(unsigned rank) const { return tail + rank; }

    // So many particles have come: where the next ones might find no room, or at the `last`, they meet the i-clusters.
    template <bool EXACT>
    __device__ __forceinline__ void come(const Arguments& all, Stage& stage, unsigned super_cluster, unsigned count,
                                         bool last) {
        tail += count;
        __syncwarp();
        if (tail > WAITING - WARP || (last && tail > 0)) meet<EXACT>(all, stage, super_cluster);
    }

    template <bool EXACT>
    __device__ __forceinline__ void meet(const Arguments& all, Stage& stage, unsigned super_cluster) {
        const unsigned lane = lane_index(), i_lane = lane % CLUSTER, j_lane = lane / CLUSTER;
        unsigned masks[WAITING / WARP];
#pragma unroll
        for (unsigned part = 0; part < WAITING / WARP; ++part) {
            const unsigned slot = part * WARP + lane;
            masks[part] = slot < tail ? stage.j_row_and_mask[slot].y : 0u;
        }
        for (unsigned k = 0; k < CLUSTERS; ++k) {
            unsigned count = 0;
#pragma unroll
            for (unsigned part = 0; part < WAITING / WARP; ++part) {
                const bool mine = (masks[part] >> k & 1u) != 0u;
                const unsigned theirs = __ballot_sync(FULL, mine);
                if (mine) {
                    stage.queue[count + __popc(theirs & lanes_below())] =
                        static_cast<unsigned char>(part * WARP + lane);
                }
                count += __popc(theirs);
            }
            if (count == 0) continue;
            // the last four are filled up with what is out of reach
            if (lane < 3) stage.queue[count + lane] = static_cast<unsigned char>(WAITING);
            __syncwarp();
            const unsigned at = k * CLUSTER + i_lane;
            const Particle4 i = particle(stage.i_position[at], stage.i_squared_radius[CUTOFF == Cutoff::OWN ? at : 0],
                                         [&](int group) { return stage.i_further[group][at]; });
            Real sums[SUM_COUNT];
#pragma unroll
            for (int s = 0; s < SUM_COUNT; ++s) sums[s] = nothing(s);
            for (unsigned next = 0; next < count; next += 4) {
                const unsigned slot = stage.queue[next + j_lane];
                unsigned row = 0;
                if (EXACT || GROUPS > 0) row = stage.j_row_and_mask[slot].x;
                const Particle4 j = particle(stage.j_position[slot], Real(0),
                                             [&](int group) { return all.further[group * all.rows + row]; });
                const bool self = EXACT && row - super_cluster * SUPER_CLUSTER == at;
                evaluate<EXACT>(all, i, j, self, images, sums, nullptr);
            }
            add(stage, k, sums);
            __syncwarp();
        }
        tail = 0;
    }

    // Joins the lanes' sums of an i-cluster and what the stage has of it.
    __device__ __forceinline__ void add(Stage& stage, unsigned k, Real (&sums)[SUM_COUNT]) {
        const unsigned lane = lane_index(), at = k * CLUSTER + lane % CLUSTER;
#pragma unroll
        for (int s = 0; s < SUM_COUNT; ++s) {
            sums[s] = joined(s, sums[s], __shfl_xor_sync(FULL, sums[s], 8));
            sums[s] = joined(s, sums[s], __shfl_xor_sync(FULL, sums[s], 16));
            if (lane < CLUSTER) {
                Real& total = stage.sums[at * SUM_COUNT + s];
                total = joined(s, total, sums[s]);
            }
        }
    }

    // Writes what so many stages, this and those behind it, have of the super-cluster.
    __device__ __forceinline__ void end(const Arguments& all, const Stage* stages, unsigned parts,
                                        unsigned super_cluster) {
        const unsigned long long first = static_cast<unsigned long long>(super_cluster) * SUPER_CLUSTER;
        for (unsigned half = 0; half < SUPER_CLUSTER; half += WARP) {
            const unsigned member = half + lane_index();
#pragma unroll
            for (int s = 0; s < SUM_COUNT; ++s) {
                Real total = stages[0].sums[member * SUM_COUNT + s];
                for (unsigned part = 1; part < parts; ++part) {
                    total = joined(s, total, stages[part].sums[member * SUM_COUNT + s]);
                }
                all.sums[(first + member) * SUM_STRIDE + s] = total;
            }
        }
    }
};

}  // namespace pair
}  // namespace hilbrium
