// Packs the rows of a super-cluster: offsets from its center, cluster boxes, and the prepared values of the
// law.
#pragma once

#include "../device.cuh"
#include "../arguments/pair_pack.cuh"
#include "../pair/law.cuh"

namespace hilbrium {
namespace pair {

// Position of ghosts: out of reach of everything, with a finite square. Empty boxes are on the opposite side.
constexpr double FAR = 1e18;

__device__ __forceinline__ bool is_finite(double x) { return x - x == 0.0; }

// Rounds up to single precision.
__device__ __forceinline__ float up(double x) { return static_cast<float>(x * (1.0 + 2.5e-7)) + 1e-37f; }

// Packs a super-cluster; each lane of the warp handles rows `lane` and `lane + 32` of it, in halves 0 and 1.
// position_of(half, row, d) is a coordinate of a row that is no ghost.
template <class Position>
__device__ __forceinline__ void pack_super_cluster(const PackArguments& args, unsigned super_cluster,
                                                   const Position& position_of) {
    const unsigned long long* const id = args.id;
    const unsigned long long rows = args.rows;
    double* const frame = args.frame;
    float* const boxes = args.boxes;
    const unsigned lane = lane_index();
    const unsigned long long padded = static_cast<unsigned long long>(args.super_clusters) * SUPER_CLUSTER;
    const unsigned long long first = static_cast<unsigned long long>(super_cluster) * SUPER_CLUSTER;
    const double infinity = __longlong_as_double(0x7ff0000000000000ll);
    double offset[2][3], reach[2];
    bool there[2];
    for (int half = 0; half < 2; ++half) {
        const unsigned long long row = first + half * WARP + lane;
        there[half] = row < rows && (id == nullptr || id[row < rows ? row : 0] != GHOST);
        reach[half] = 0.0;
        for (int d = 0; d < 3; ++d) {
            offset[half][d] = there[half] ? position_of(half, row, d) : 0.0;
        }
        for (int d = 0; d < 3; ++d) there[half] = there[half] && is_finite(offset[half][d]);
        if (there[half] && CUTOFF != Cutoff::COMMON) {
            const double own = args.radius[row];
            reach[half] = own > 0.0 ? own : 0.0;
        }
    }
    for (int d = 0; d < 3; ++d) {
        const double low0 = there[0] ? offset[0][d] : infinity, low1 = there[1] ? offset[1][d] : infinity;
        const double high0 = there[0] ? offset[0][d] : -infinity, high1 = there[1] ? offset[1][d] : -infinity;
        const double low = warp_smallest(smaller(low0, low1)), high = warp_largest(larger(high0, high1));
        const bool any = low <= high;
        const double center = any ? 0.5 * low + 0.5 * high : 0.0;
        if (lane == 0) {
            frame[6ull * super_cluster + d] = center;
            // contains the box of the rounded offsets
            frame[6ull * super_cluster + 3 + d] = any ? (0.5 * high - 0.5 * low) * (1.0 + 1e-6) : 0.0;
        }
        for (int half = 0; half < 2; ++half) {
            offset[half][d] = static_cast<double>(static_cast<Real>(offset[half][d] - center));
        }
    }
    for (int half = 0; half < 2; ++half) {
        const unsigned long long row = first + half * WARP + lane;
        const unsigned long long cluster = row / CLUSTER;
        // Box of the rounded offsets of eight lanes.
        double most = reach[half];
        double center[3], edge[3];
        for (int d = 0; d < 3; ++d) {
            double low = there[half] ? offset[half][d] : infinity;
            double high = there[half] ? offset[half][d] : -infinity;
            for (unsigned distance = 1; distance < CLUSTER; distance *= 2) {
                low = smaller(low, __shfl_xor_sync(FULL, low, distance));
                high = larger(high, __shfl_xor_sync(FULL, high, distance));
            }
            const bool any = low <= high;
            const double middle = static_cast<double>(static_cast<float>(0.5 * (low + high)));
            center[d] = any ? middle : d == 0 ? -FAR : 0.0;
            edge[d] = any ? larger(high - center[d], center[d] - low) : 0.0;
        }
        for (unsigned distance = 1; distance < CLUSTER; distance *= 2) {
            most = larger(most, __shfl_xor_sync(FULL, most, distance));
        }
        if (lane % CLUSTER < 3) {
            const int d = static_cast<int>(lane % CLUSTER);
            boxes[8ull * cluster + d] =
                static_cast<float>(d == 0 ? center[0] : d == 1 ? center[1] : center[2]);
            boxes[8ull * cluster + 4 + d] = up(d == 0 ? edge[0] : d == 1 ? edge[1] : edge[2]);
        }
        if (lane % CLUSTER == 3) boxes[8ull * cluster + 3] = most > 0.0 ? up(most) : 0.0f;
        if (lane % CLUSTER == 4) boxes[8ull * cluster + 7] = 0.0f;

        Real values[4 * GROUPS + 4] = {};
        if constexpr (PREPARED > 0) {
            Input input{};
            Real* members = reinterpret_cast<Real*>(&input);
            for (int c = 0; c < INPUTS; ++c) {
                members[c] = row < rows ? static_cast<Real>(args.inputs[c][row]) : Real(0);
            }
            const Pair own = prepared(constants(), input);
            const Real* found = reinterpret_cast<const Real*>(&own);
            for (int c = 0; c < PREPARED; ++c) values[c] = found[c];
        }
        const Real square = static_cast<Real>(reach[half]) * static_cast<Real>(reach[half]);
        Real4 own{static_cast<Real>(offset[half][0]), static_cast<Real>(offset[half][1]),
                  static_cast<Real>(offset[half][2]), FIRST_WITH_POSITION ? values[0] : square};
        if (!there[half]) {
            own = {static_cast<Real>(FAR), Real(0), Real(0), Real(0)};
        }
        args.packed_position[row] = own;
        if constexpr (CUTOFF == Cutoff::OWN) args.squared_radius[row] = square;
        constexpr int SKIP = FIRST_WITH_POSITION ? 1 : 0;
        for (int group = 0; group < GROUPS; ++group) {
            const Real* four = values + SKIP + 4 * group;
            args.further[group * padded + row] = {four[0], four[1], four[2], four[3]};
        }
    }
}

}  // namespace pair
}  // namespace hilbrium
