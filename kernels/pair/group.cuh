// Sweep of half lists: 32 particles j at a time, four of which form a tile with an i-cluster.
#pragma once

#include "../pair/sweep.cuh"

namespace hilbrium {
namespace pair {

// Sums of the super-cluster's particles (registers), and a ring buffer of waiting particles j (in the stage).
struct Group {
    Real i_sums[CLUSTERS][SUM_COUNT];
    unsigned head, tail;
    // Whether pairs on the EXACT path need a minimum image search.
    bool images;

    __device__ __forceinline__ void begin(Stage&) {
        head = tail = 0;
        images = false;
#pragma unroll
        for (unsigned k = 0; k < CLUSTERS; ++k) {
#pragma unroll
            for (int s = 0; s < SUM_COUNT; ++s) i_sums[k][s] = Real(0);
        }
    }

    // Position in the ring buffer of the next particle with this rank.
    __device__ __forceinline__ unsigned place(unsigned rank) const { return (tail + rank) % WAITING; }

    // Appends `count` particles. Processes full batches of 32 particles, and at the `last` call the rest.
    template <bool EXACT>
    __device__ __forceinline__ void push(const Arguments& all, Stage& stage, unsigned super_cluster,
                                         unsigned count, bool last) {
        tail += count;
        while (tail - head >= WARP || (last && tail != head)) {
            const unsigned waiting = tail - head < WARP ? tail - head : WARP;
            process<EXACT>(all, stage, super_cluster, waiting);
            head += WARP;
            if (waiting < WARP) tail = head;
            __syncwarp();
        }
    }

    template <bool EXACT>
    __device__ __forceinline__ void process(const Arguments& all, Stage& stage, unsigned super_cluster,
                                            unsigned waiting) {
        const unsigned lane = lane_index(), i_lane = lane % CLUSTER, j_lane = lane / CLUSTER;
        const unsigned base = head % WAITING;
        if (lane >= waiting) {
            stage.j_position.write(base + lane, {Real(-1e18), Real(0), Real(0), Real(0)});
            stage.j_row_and_mask[base + lane] = {super_cluster * SUPER_CLUSTER, 0u};
        }
        __syncwarp();
        const uint2 own = stage.j_row_and_mask[base + lane];
        for (unsigned four = 0; four < (waiting + 3) / 4; ++four) {
            const unsigned slot = base + four * 4 + j_lane;
            // Uniform over the warp; the compiler can only prove that for a reduction.
            const unsigned any = __reduce_or_sync(FULL, stage.j_row_and_mask[slot].y);
            unsigned j_row = 0;
            if (EXACT || GROUPS > 0) j_row = stage.j_row_and_mask[slot].x;
            const Particle4 j = particle(stage.j_position[slot], Real(0), [&](int group) {
                return all.further[group * all.rows + j_row];
            });
            // Row within the super-cluster; beyond its size if the particle belongs to another one.
            const unsigned member = j_row - super_cluster * SUPER_CLUSTER;
            Real j_sums[SUM_COUNT];
#pragma unroll
            for (int s = 0; s < SUM_COUNT; ++s) j_sums[s] = Real(0);
#pragma unroll
            for (unsigned k = 0; k < CLUSTERS; ++k) {
                if ((any >> k & 1u) != 0u) {
                    const unsigned at = k * CLUSTER + i_lane;
                    const Particle4 i = particle(stage.i_position[at], Real(0),
                                                 [&](int group) { return stage.i_further[group][at]; });
                    evaluate<EXACT>(all, i, j, EXACT && member <= at, images, i_sums[k], j_sums);
                }
            }
#pragma unroll
            for (int s = 0; s < SUM_COUNT; ++s) stage.j_sums[four].values[s * WARP + lane] = j_sums[s];
        }
        __syncwarp();
        Real total[SUM_STRIDE] = {};
#pragma unroll
        for (int s = 0; s < SUM_COUNT; ++s) {
            const Real4* eight =
                reinterpret_cast<const Real4*>(stage.j_sums[lane / 4].values + s * WARP + lane % 4 * CLUSTER);
            // In double precision, lanes 2 and 3 of four swap the order of their reads to avoid bank
            // conflicts with lanes 0 and 1.
            const unsigned later = PIECES == 2 ? lane / 2 % 2 : 0;
            const Real4 a = eight[later], b = eight[1 - later];
            total[s] = ((a.x + a.y) + (a.z + a.w)) + ((b.x + b.y) + (b.z + b.w));
        }
        if (lane < waiting) {
            add(all.sums + static_cast<unsigned long long>(own.x) * SUM_STRIDE, total);
        }
    }

    // Adds the sums of a row to global memory atomically.
    __device__ __forceinline__ static void add(Real* sums, const Real (&total)[SUM_STRIDE]) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
        if constexpr (sizeof(Real) == 4 && SUM_STRIDE % 4 == 0) {
#pragma unroll
            for (int s = 0; s < SUM_STRIDE; s += 4) {
                atomicAdd(reinterpret_cast<float4*>(sums + s),
                          make_float4(total[s], total[s + 1], total[s + 2], total[s + 3]));
            }
            return;
        }
#endif
#pragma unroll
        for (int s = 0; s < SUM_COUNT; ++s) atomicAdd(sums + s, total[s]);
    }

    __device__ __forceinline__ void end(const Arguments& all, unsigned super_cluster) {
        Real flat[SUM_COUNT * CLUSTERS];
#pragma unroll
        for (int s = 0; s < SUM_COUNT; ++s) {
#pragma unroll
            for (unsigned k = 0; k < CLUSTERS; ++k) flat[s * CLUSTERS + k] = i_sums[k][s];
        }
        ReduceScatter<SUM_COUNT * static_cast<int>(CLUSTERS), 8, 2>::add(flat);
        const unsigned lane = lane_index();
        const unsigned long long first = static_cast<unsigned long long>(super_cluster) * SUPER_CLUSTER;
#pragma unroll
        for (int m = 0; m < 2 * SUM_COUNT; ++m) {
            const unsigned k = m % 2 * 4 + lane / CLUSTER;
            atomicAdd(all.sums + (first + k * CLUSTER + lane % CLUSTER) * SUM_STRIDE + m / 2, flat[m]);
        }
    }
};

}  // namespace pair
}  // namespace hilbrium
