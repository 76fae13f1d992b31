// Sweep of full lists: an i-cluster against the particles j in its reach, four at a time.
#pragma once

#include "../pair/sweep.cuh"

namespace hilbrium {
namespace pair {

// Queue of waiting particles j; the sums are in shared memory.
struct Queue {
    unsigned tail;
    // Whether pairs on the EXACT path need a minimum image search.
    bool images;

    __device__ __forceinline__ void begin(Stage& stage) {
        tail = 0;
        images = false;
        for (unsigned half = 0; half < SUPER_CLUSTER; half += WARP) {
#pragma unroll
            for (int s = 0; s < SUM_COUNT; ++s) {
                stage.sums[(half + lane_index()) * SUM_COUNT + s] = neutral_element(s);
            }
        }
        if (lane_index() == 0) {
            stage.j_position.write(WAITING, {Real(-1e18), Real(0), Real(0), Real(0)});
            stage.j_row_and_mask[WAITING] = {0u, 0u};
        }
        __syncwarp();
    }

    __device__ __forceinline__ unsigned place(unsigned rank) const { return tail + rank; }

    // Appends `count` particles. Processes the queue if the next batch might not fit, or at the `last` call.
    template <bool EXACT>
    __device__ __forceinline__ void push(const Arguments& all, Stage& stage, unsigned super_cluster,
                                         unsigned count, bool last) {
        tail += count;
        __syncwarp();
        if (tail > WAITING - WARP || (last && tail > 0)) process<EXACT>(all, stage, super_cluster);
    }

    template <bool EXACT>
    __device__ __forceinline__ void process(const Arguments& all, Stage& stage, unsigned super_cluster) {
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
            // Pads the last four with a particle out of reach.
            if (lane < 3) stage.queue[count + lane] = static_cast<unsigned char>(WAITING);
            __syncwarp();
            const unsigned at = k * CLUSTER + i_lane;
            const Particle4 i = particle(stage.i_position[at], stage.i_squared_radius[CUTOFF == Cutoff::OWN ? at : 0],
                                         [&](int group) { return stage.i_further[group][at]; });
            Real sums[SUM_COUNT];
#pragma unroll
            for (int s = 0; s < SUM_COUNT; ++s) sums[s] = neutral_element(s);
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

    // Reduces the lanes' sums of an i-cluster and adds them to the stage's.
    __device__ __forceinline__ void add(Stage& stage, unsigned k, Real (&sums)[SUM_COUNT]) {
        const unsigned lane = lane_index(), at = k * CLUSTER + lane % CLUSTER;
#pragma unroll
        for (int s = 0; s < SUM_COUNT; ++s) {
            sums[s] = combine(s, sums[s], __shfl_xor_sync(FULL, sums[s], 8));
            sums[s] = combine(s, sums[s], __shfl_xor_sync(FULL, sums[s], 16));
            if (lane < CLUSTER) {
                Real& total = stage.sums[at * SUM_COUNT + s];
                total = combine(s, total, sums[s]);
            }
        }
    }

    // Writes the sums of the super-cluster, combined over `parts` consecutive stages.
    __device__ __forceinline__ void end(const Arguments& all, const Stage* stages, unsigned parts,
                                        unsigned super_cluster) {
        const unsigned long long first = static_cast<unsigned long long>(super_cluster) * SUPER_CLUSTER;
        for (unsigned half = 0; half < SUPER_CLUSTER; half += WARP) {
            const unsigned member = half + lane_index();
#pragma unroll
            for (int s = 0; s < SUM_COUNT; ++s) {
                Real total = stages[0].sums[member * SUM_COUNT + s];
                for (unsigned part = 1; part < parts; ++part) {
                    total = combine(s, total, stages[part].sums[member * SUM_COUNT + s]);
                }
                all.sums[(first + member) * SUM_STRIDE + s] = total;
            }
        }
    }
};

}  // namespace pair
}  // namespace hilbrium
