// Rows that another rank needs: those that may interact with the content of its boxes. Mirrors
// src/domain/needed.rs.
#include "../device.cuh"
#include "../domain/extent.cuh"

namespace hilbrium {

constexpr unsigned NEEDED_THREADS = 256;

// marks[row] becomes 1 for every row that may interact with a particle in one of the boxes, else 0. Each warp
// handles a super-cluster: one lane per box tests the super-cluster (`offset` is its level's first node in
// the hierarchy), then its rows, two per lane, are tested against the boxes found. If `radius` is null, all
// rows have radius_of_all.
// Launch: blocks of 256 threads, one warp per super-cluster. Floor: 25 bytes per row, 33 with radii, near the
// boxes; elsewhere 1.6 bytes per row, and 50 instructions per super-cluster and box (one lane per box), about
// 25 of them in double precision.
extern "C" __global__ void __launch_bounds__(NEEDED_THREADS)
    needed_rows(const double* __restrict__ x, const double* __restrict__ y, const double* __restrict__ z,
                const double* __restrict__ radius, double radius_of_all, unsigned rows,
                const double* __restrict__ center, const float4* __restrict__ extent, unsigned nodes, unsigned offset,
                double unit, double largest, const Extent* __restrict__ boxes, unsigned count, double period_x,
                double period_y, double period_z, double rounding_x, double rounding_y, double rounding_z,
                unsigned char* __restrict__ marks) {
    const unsigned super_cluster = warp_of_grid(), lane = lane_index();
    const unsigned first = super_cluster * SUPER_CLUSTER;
    if (first >= rows) { return; }
    const Periods periods = {{period_x, period_y, period_z}, {rounding_x, rounding_y, rounding_z}};
    const Extent own = extent_of_node(center, extent, nodes, unit, largest, offset + super_cluster);
    Extent points[2];
    bool needed[2] = {false, false};
    bool read = false;
    for (unsigned begin = 0; begin < count; begin += WARP) {
        const unsigned box = begin + lane;
        unsigned near = __ballot_sync(FULL, box < count && may_interact(boxes[box], own, periods));
        if (near != 0u && !read) {
            read = true;
#pragma unroll
            for (unsigned k = 0; k < 2; ++k) {
                const unsigned row = first + k * WARP + lane;
                if (row >= rows) { continue; }
                points[k] = {{x[row], y[row], z[row]},
                             {x[row], y[row], z[row]},
                             radius != nullptr ? radius[row] : radius_of_all};
            }
        }
        for (; near != 0u; near &= near - 1u) {
            const Extent theirs = boxes[begin + static_cast<unsigned>(__ffs(static_cast<int>(near))) - 1u];
            bool missing = false;
#pragma unroll
            for (unsigned k = 0; k < 2; ++k) {
                if (first + k * WARP + lane >= rows) { continue; }
                needed[k] = needed[k] || may_interact(theirs, points[k], periods);
                missing = missing || !needed[k];
            }
            if (!__any_sync(FULL, missing)) {
                begin = count;
                break;
            }
        }
    }
#pragma unroll
    for (unsigned k = 0; k < 2; ++k) {
        const unsigned row = first + k * WARP + lane;
        if (row < rows) { marks[row] = needed[k] ? 1 : 0; }
    }
}
HILBRIUM_EXPORT(needed_rows)

}  // namespace hilbrium
