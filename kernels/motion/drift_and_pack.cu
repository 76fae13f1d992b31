// First half of a velocity Verlet step together with the packing of the rows for the sweep that follows.
#include "../arguments/motion_drift_and_pack.cuh"
#include "../motion/verlet.cuh"
#include "../pair/pack.cuh"

// Half kick and drift of all rows as verlet_kick_and_drift, then pack, with their bits. Rows are whole
// super-clusters but for the last; there are no ghosts. Launch: blocks of 256 threads, one warp per
// super-cluster. Floor: 72 bytes read, 48 written per row, and what `pack` writes.
extern "C" __global__ void __launch_bounds__(hilbrium::THREADS)
    drift_and_pack(const __grid_constant__ hilbrium::DriftAndPackArguments args) {
    using namespace hilbrium;
    const VerletKickAndDriftArguments& drift = args.drift;
    if (!begins(drift.report)) { return; }
    const unsigned super_cluster = warp_of_grid(), rows = drift.rows.end;
    double square = 0.0;
    if (super_cluster < args.pack.end_super_cluster) {
        Rounded x[2][3];
#pragma unroll
        for (unsigned half = 0; half < 2; ++half) {
            const unsigned row = super_cluster * SUPER_CLUSTER + half * WARP + lane_index();
            double own = 0.0;
            const bool far =
                row < rows && kick_and_drift_row(drift.moving, row, drift.step, drift.farthest, x[half], own);
            square = larger(square, own);
            record_refused(far, row, rows, drift.report.left, drift.report.refused);
        }
        pair::pack_super_cluster(args.pack, super_cluster,
                                 [&](int half, unsigned long long, int d) { return x[half][d].value; });
    }
    reduce_max(square, drift.report.largest_square);
}
HILBRIUM_EXPORT(drift_and_pack)
