// Rows that another rank needs: those that may interact with the content of its boxes. Mirrors
// src/domain/halo_selection.rs.
#include "../device.cuh"
#include "../arguments/domain_needed.cuh"
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
    needed_rows(const __grid_constant__ NeededRowsArguments args) {
    const double* __restrict__ const position[3] = {args.position[0], args.position[1], args.position[2]};
    const double* __restrict__ const radius = args.radius;
    const unsigned rows = args.rows;
    const double* __restrict__ const center = args.center;
    const float4* __restrict__ const extent = args.extent;
    const Extent* __restrict__ const boxes = args.boxes;
    const unsigned count = args.count;
    unsigned char* __restrict__ const marks = args.marks;
    const unsigned super_cluster = warp_of_grid(), lane = lane_index();
    const unsigned first = super_cluster * SUPER_CLUSTER;
    if (first >= rows) { return; }
    const Periods periods = {{args.period[0], args.period[1], args.period[2]},
                             {args.rounding[0], args.rounding[1], args.rounding[2]}};
    const Extent own =
        extent_of_node(center, extent, args.nodes, args.unit, args.largest, args.offset + super_cluster);
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
                points[k] = {{position[0][row], position[1][row], position[2][row]},
                             {position[0][row], position[1][row], position[2][row]},
                             radius != nullptr ? radius[row] : args.radius_of_all};
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
