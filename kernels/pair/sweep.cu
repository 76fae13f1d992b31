// Kernel of the pair sweep; see sweep.cuh for the algorithm.
#include "../device.cuh"
#include "../arguments/pair_sweep.cuh"
#include "../pair/sweep.cuh"
#if HILBRIUM_SYMMETRIC
#include "../pair/group.cuh"
#else
#include "../pair/queue.cuh"
#endif

namespace hilbrium {
namespace pair {

#if HILBRIUM_SYMMETRIC
using PairBuffer = Group;
static_assert(mirrored(), "on half lists, each sum of j equals that of i up to the sign");
static_assert(CUTOFF != Cutoff::OWN, "on half lists, a pair acts on both of its particles");
#else
using PairBuffer = Queue;
#endif

// Distance of a coordinate beyond a half width, clamped to [0, 1].
__device__ __forceinline__ float beyond(float coordinate, float half) {
#if defined(__CUDA_ARCH__)
    // A single instruction; __saturatef would add a second one.
    float gap;
    asm("add.ftz.sat.f32 %0, %1, %2;" : "=f"(gap) : "f"(fabsf(coordinate)), "f"(-half));
    return gap;
#else
    return __saturatef(fabsf(coordinate) - half);
#endif
}

// Target of resident warps per multiprocessor, or 1 to leave it to the compiler. Short laws are bound by
// latency and need high occupancy, which is worth some register spills. Measured, see docs/src/gpu.md.
constexpr bool SHORT_LAW = SUM_COUNT <= 3 && PREPARED <= 4;
#ifndef HILBRIUM_RESIDENT
#define HILBRIUM_RESIDENT \
    (sizeof(Real) == 4 ? (SHORT_LAW ? (SYMMETRIC ? 32u : 28u) : (SYMMETRIC ? 1u : 20u)) \
                       : (SHORT_LAW && SYMMETRIC ? 16u : 1u))
#endif
constexpr unsigned BLOCKS = HILBRIUM_RESIDENT > WARPS ? HILBRIUM_RESIDENT / WARPS : 1u;

// Groups of four entries in a block of 32.
constexpr unsigned GROUPS_OF_BLOCK = WARP / 4u;

// The super-cluster of a warp and its neighbor list.
struct Sweep {
    const Arguments& all;
    Stage& stage;
    unsigned super_cluster;
    // Index of this warp among the warps that share the list, and their number.
    unsigned part, parts;
    // Inverse length unit of the boxes, in which everything in reach is closer than 1, and the largest reach.
    float scale, reach;

    // How the entry of a lane is processed.
    struct Entry {
        bool exact, uncertain;
    };

    // Loads the super-cluster's particles and boxes; boxes without wanted sums are moved out of reach.
    __device__ __forceinline__ void begin(const unsigned char* active, double cutoff) {
        const unsigned lane = lane_index();
        const unsigned long long first = static_cast<unsigned long long>(super_cluster) * SUPER_CLUSTER;
        for (unsigned half = 0; half < SUPER_CLUSTER; half += WARP) {
            const unsigned at = half + lane;
            stage.i_position.write(at, all.position[first + at]);
            if (CUTOFF == Cutoff::OWN) stage.i_squared_radius[at] = all.squared_radius[first + at];
#pragma unroll
            for (int group = 0; group < GROUPS; ++group) {
                stage.i_further[group][at] = all.further[group * all.rows + first + at];
            }
        }
        unsigned wanted = 0xffu;
        if (active != nullptr) {
            const unsigned low = __ballot_sync(FULL, active[first + lane] != 0);
            const unsigned high = __ballot_sync(FULL, active[first + WARP + lane] != 0);
            wanted = 0;
            for (unsigned k = 0; k < 4; ++k) {
                wanted |= (low >> 8 * k & 0xffu) != 0 ? 1u << k : 0u;
                wanted |= (high >> 8 * k & 0xffu) != 0 ? 16u << k : 0u;
            }
        }
        const unsigned long long own_cluster =
            static_cast<unsigned long long>(super_cluster) * CLUSTERS + lane % CLUSTERS;
        float4 box_center = all.boxes[2 * own_cluster], box_half = all.boxes[2 * own_cluster + 1];
        const float own = CUTOFF == Cutoff::COMMON ? static_cast<float>(cutoff) * (1.0f + 2.5e-7f) : box_center.w;
        const float most = warp_largest(own);
        reach = most;
        // If the radius of j counts too, distances up to twice the largest radius of i must stay below 1.
        scale = most > 0.0f ? (CUTOFF == Cutoff::EITHER ? 0.45f : 0.9f) / most : 1.0f;
        // above the rounding errors near the box
        const float distance = (fabsf(box_center.x) < 1e17f ? fabsf(box_center.x) : 0.0f) +
                               fabsf(box_center.y) + fabsf(box_center.z);
        const float margin = 4e-7f * (2.0f + warp_largest(distance) * scale);
        box_center.w = own * own * (scale * scale) * (1.0f + 1e-6f);
        if ((wanted >> lane % CLUSTERS & 1u) == 0u) { box_center.x = -1e18f; }
        box_center.x *= scale, box_center.y *= scale, box_center.z *= scale;
        box_half.x = box_half.x * scale + margin;
        box_half.y = box_half.y * scale + margin;
        box_half.z = box_half.z * scale + margin;
        if (lane < CLUSTERS) {
            stage.box_center[lane] = box_center;
            stage.box_half[lane] = box_half;
        }
        __syncwarp();
    }

    // Computes the shift of a lane's cluster into the frame and stores it in the stage.
    __device__ __forceinline__ Entry entry(unsigned cluster) const {
        const unsigned other = cluster / CLUSTERS;
        Entry own{other == super_cluster, false};
        const double* frame = all.frame + 6ull * super_cluster;
        double by[3];
        for (int d = 0; d < 3; ++d) by[d] = all.frame[6ull * other + d] - frame[d];
        if (all.period[0] + all.period[1] + all.period[2] > 0.0) {
            const float4 box_center = all.boxes[2ull * cluster], box_half = all.boxes[2ull * cluster + 1];
            const double middle[3] = {box_center.x, box_center.y, box_center.z};
            const double edge[3] = {box_half.x, box_half.y, box_half.z};
            const double longest = CUTOFF == Cutoff::EITHER && box_center.w > reach ? box_center.w : reach;
            for (int d = 0; d < 3; ++d) {
                const double period = all.period[d];
                if (period > 0.0) {
                    by[d] -= period * ::rint((by[d] + middle[d]) * all.frequency[d]);
                    own.uncertain = own.uncertain || frame[3 + d] + longest + edge[d] >= 0.49999 * period;
                }
            }
        }
        own.exact = own.exact || own.uncertain;
        stage.entry_shift[lane_index()] = {static_cast<Real>(by[0]), static_cast<Real>(by[1]),
                                           static_cast<Real>(by[2]), Real(0)};
        stage.entry_cluster[lane_index()] = cluster;
        return own;
    }

    // Mask of the i-clusters whose box is in reach of a particle. Ten instructions and two loads per box.
    __device__ __forceinline__ unsigned reached(Real4 j) const {
        const float x = static_cast<float>(j.x) * scale, y = static_cast<float>(j.y) * scale;
        const float z = static_cast<float>(j.z) * scale;
        const float own = CUTOFF == Cutoff::EITHER ? static_cast<float>(j.w) * (scale * scale) * (1.0f + 1e-6f) : 0.0f;
        unsigned mask = 0;
#pragma unroll
        for (unsigned k = 0; k < CLUSTERS; ++k) {
            const float4 box_center = stage.box_center[CLUSTERS - 1 - k];
            const float4 box_half = stage.box_half[CLUSTERS - 1 - k];
            const float dx = beyond(x - box_center.x, box_half.x);
            const float dy = beyond(y - box_center.y, box_half.y);
            const float dz = beyond(z - box_center.z, box_half.z);
            const float limit = CUTOFF == Cutoff::EITHER ? fmaxf(own, box_center.w) : box_center.w;
            // the sign is the bit, starting with the last cluster
            mask = __funnelshift_l(__float_as_uint(dx * dx + (dy * dy + (dz * dz - limit))), mask, 1);
        }
        return mask;
    }

    // Processes the particles of the chosen entries of a block, EXACT or not. `first` is the number of the
    // block's first group of four entries: warps take the groups in turn. At the `last` call, waiting
    // particles are processed too.
    template <bool EXACT>
    __device__ __forceinline__ void entries(PairBuffer& buffer, unsigned first, unsigned chosen,
                                            unsigned uncertain, bool last) const {
        const unsigned lane = lane_index();
        for (unsigned begin = 0; begin < WARP; begin += 4) {
            unsigned kept = 0;
            if ((chosen >> begin & 15u) != 0u && ((first + begin / 4u) & (parts - 1u)) == part) {
                const unsigned from = begin + lane / CLUSTER;
                const unsigned cluster = stage.entry_cluster[from];
                const Real4 shift = stage.entry_shift[from];
                const unsigned row = cluster * CLUSTER + lane % CLUSTER;
                const bool there = (chosen >> from & 1u) != 0u;
                Real4 j = all.position[row];
                j.x += shift.x, j.y += shift.y, j.z += shift.z;
                unsigned mask = reached(j);
                if (EXACT) {
                    if ((uncertain >> from & 1u) != 0u) mask = (1u << CLUSTERS) - 1u;
                    if (SYMMETRIC && cluster / CLUSTERS == super_cluster) {
                        mask &= (2u << cluster % CLUSTERS) - 1u;
                    }
                }
                if (!there) mask = 0;
                kept = __ballot_sync(FULL, mask != 0u);
                if (mask != 0u) {
                    const unsigned place = buffer.place(__popc(kept & lanes_below()));
                    stage.j_position.write(place, j);
                    stage.j_row_and_mask[place] = {row, mask};
                }
            }
            buffer.push<EXACT>(all, stage, super_cluster, __popc(kept), last && begin == WARP - 4);
        }
    }

    __device__ __forceinline__ void run(PairBuffer& buffer, NibbleDecoder list) const {
        buffer.begin(stage);
        unsigned first = 0;
        for (; list.remaining() > 0; first += GROUPS_OF_BLOCK) {
            const unsigned count = list.remaining() < WARP ? list.remaining() : WARP;
            const unsigned cluster = list.next();
            // Without a group of this warp the block need not be prepared.
            const bool mine = (part - first & parts - 1u) < GROUPS_OF_BLOCK;
            const bool there = mine && lane_index() < count;
            if (!mine && list.remaining() > 0) { continue; }
            // Lanes without an entry use a readable dummy. Entries of the previous block are no longer read.
            __syncwarp();
            const Entry own = entry(there ? cluster : super_cluster * CLUSTERS);
            __syncwarp();
            const unsigned usual = __ballot_sync(FULL, there && !own.exact);
            const unsigned exact = __ballot_sync(FULL, there && own.exact);
            if (exact != 0u) {
                const unsigned uncertain = __ballot_sync(FULL, there && own.uncertain);
                buffer.images = uncertain != 0u;
                entries<true>(buffer, first, exact, uncertain, true);
            }
            entries<false>(buffer, first, usual, 0u, list.remaining() == 0);
        }
    }
};

}  // namespace pair
}  // namespace hilbrium

// Sums over the pairs of a list's super-clusters, or of some of them. Launch: `parts` warps per
// super-cluster, blocks of 32 WARPS threads.
//   packed              output of `pack`; its number of rows is a multiple of 64
//   list                records of the list, for super-clusters from `first_super_cluster` on
//   chosen              numbers of the records to sweep, `super_clusters` of them, or null for the first ones
//   parts               a power of two up to 32; equal to WARPS on full lists
//   cutoff              the common cutoff, if the law uses one
//   bx                  the box
//   active              per row, whether its sums are wanted, or null for all; full lists only
//   sums                per row SUM_STRIDE Reals. Half lists add to the present values (atomically: the order
//                       of additions varies between runs). Full lists write those of super-clusters with
//                       active rows.
extern "C" __global__ void __launch_bounds__(32 * hilbrium::pair::WARPS, hilbrium::pair::BLOCKS)
    sweep(const __grid_constant__ hilbrium::SweepArguments args) {
    using namespace hilbrium;
    using namespace hilbrium::pair;
    const unsigned* const chosen = args.chosen;
    const unsigned parts = args.parts;
    const unsigned char* const active = args.active;
    __shared__ Stage stages[WARPS];
    unsigned record = warp_of_grid() / parts;
    const unsigned part = warp_of_grid() % parts;
    bool wanted = record < args.super_clusters;
    if (chosen != nullptr && wanted) record = chosen[record];
    const unsigned super_cluster = args.first_super_cluster + record;
    if (active != nullptr && wanted) {
        const unsigned long long first = static_cast<unsigned long long>(super_cluster) * SUPER_CLUSTER;
        wanted = __any_sync(FULL, (active[first + lane_index()] | active[first + WARP + lane_index()]) != 0) != 0;
    }
    const Real limit = static_cast<Real>(args.cutoff);
    const Arguments all{args.packed.position,
                        args.packed.further,
                        args.packed.squared_radius,
                        args.packed.frame,
                        args.packed.boxes,
                        args.packed.rows,
                        {args.bx.period[0], args.bx.period[1], args.bx.period[2]},
                        {args.bx.frequency[0], args.bx.frequency[1], args.bx.frequency[2]},
                        {static_cast<Real>(args.bx.period[0]), static_cast<Real>(args.bx.period[1]),
                         static_cast<Real>(args.bx.period[2])},
                        {static_cast<Real>(args.bx.frequency[0]), static_cast<Real>(args.bx.frequency[1]),
                         static_cast<Real>(args.bx.frequency[2])},
                        limit * limit,
                        args.sums};
    Stage* stage = stages + warp_of_block();
    PairBuffer buffer;
    if (wanted) {
        Sweep sweep{all, *stage, super_cluster, part, parts, 0.0f, 0.0f};
        sweep.begin(active, args.cutoff);
        sweep.run(buffer, NibbleDecoder(args.list.data, args.list.offsets[record], args.list.counts[record]));
    }
#if HILBRIUM_SYMMETRIC
    if (wanted) buffer.end(all, super_cluster);
#else
    if (parts > 1) {
        __syncthreads();
    } else {
        __syncwarp();
    }
    if (wanted && part == 0) buffer.end(all, stage, parts, super_cluster);
#endif
}
HILBRIUM_EXPORT(sweep)
