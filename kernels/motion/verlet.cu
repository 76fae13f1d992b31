// Velocity Verlet on double columns: mirrors src/motion/verlet.rs and the acceleration of
// src/molecules/mod.rs bit for bit.
//
//     v_half = v + a dt/2      x' = x + v_half dt      forces at x' -> a'      v' = v_half + a' dt/2
//
// Rows [begin, end) are the owned ones, without ghosts. All kernels: blocks of 256 threads, one thread per
// row; memory-bound.
#include "../device.cuh"
#include "../arguments/motion_verlet.cuh"
#include "../motion/verlet.cuh"

namespace hilbrium {

// Half kick and drift. A row that would move farther than `farthest` is left unchanged: its bit of
// `report.left` is set and `report.refused` counts it, so that the step can be undone. (The CPU code skips
// blocks of 64 rows; both then undo the whole step.) The largest squared velocity goes to
// `report.largest_square`; times dt^2 it is the largest squared displacement. Does nothing after a step of
// its batch that was not completed. Floor: 72 bytes read, 48 written per row.
extern "C" __global__ void __launch_bounds__(THREADS)
    verlet_kick_and_drift(const __grid_constant__ VerletKickAndDriftArguments args) {
    const double step = args.step;
    const auto [begin, end] = args.rows;
    if (!begins(args.report)) { return; }
    unsigned* __restrict__ const left = args.report.left;
    unsigned* __restrict__ const refused = args.report.refused;
    unsigned long long* __restrict__ const largest_square = args.report.largest_square;
    const unsigned long long place = thread_of_grid();
    const bool there = place < end - begin;
    const unsigned long long row = begin + place;
    double square = 0.0;
    bool far = false;
    if (there) {
        Rounded x[3];
        far = kick_and_drift_row(args.moving, row, step, args.farthest, x, square);
    }
    record_refused(far, place, end - begin, left, refused);
    reduce_max(square, largest_square);
}
HILBRIUM_EXPORT(verlet_kick_and_drift)

// Half kick with the step dt, except for rows that were left unchanged, and rows whose acceleration is not
// finite, of which `first_not_finite` records the first; -dt undoes such a kick. Floor: 48 bytes read, 24
// written per row.
extern "C" __global__ void __launch_bounds__(THREADS)
    verlet_kick(const __grid_constant__ VerletKickArguments args) {
    double* __restrict__ const velocity[3] = {args.velocity[0], args.velocity[1], args.velocity[2]};
    const double* __restrict__ const acceleration[3] = {args.acceleration[0], args.acceleration[1],
                                                        args.acceleration[2]};
    const auto [begin, end] = args.rows;
    const unsigned* __restrict__ const left = args.left;
    const unsigned long long place = thread_of_grid(), row = begin + place;
    if (place >= end - begin || was_refused(left, place)) { return; }
    const Rounded a[3] = {acceleration[0][row], acceleration[1][row], acceleration[2][row]};
    if (!is_finite(a[0].value) || !is_finite(a[1].value) || !is_finite(a[2].value)) {
        if (args.first_not_finite != nullptr) { record_first(args.first_not_finite, row); }
        return;
    }
#pragma unroll
    for (int d = 0; d < 3; ++d) {
        velocity[d][row] = (Rounded(velocity[d][row]) + Rounded(0.5) * args.step * a[d]).value;
    }
}
HILBRIUM_EXPORT(verlet_kick)

// Undoes the drift of verlet_kick_and_drift, up to rounding. Floor: 48 bytes read, 24 written per row.
extern "C" __global__ void __launch_bounds__(THREADS)
    verlet_drift_back(const __grid_constant__ VerletDriftBackArguments args) {
    double* __restrict__ const position[3] = {args.position[0], args.position[1], args.position[2]};
    const double* __restrict__ const velocity[3] = {args.velocity[0], args.velocity[1], args.velocity[2]};
    const auto [begin, end] = args.rows;
    const unsigned* __restrict__ const left = args.left;
    const unsigned long long place = thread_of_grid(), row = begin + place;
    if (place >= end - begin || was_refused(left, place)) { return; }
#pragma unroll
    for (int d = 0; d < 3; ++d) {
        const Rounded x = position[d][row], v = velocity[d][row];
        position[d][row] = (x - Rounded(args.step) * v).value;
    }
}
HILBRIUM_EXPORT(verlet_drift_back)

// Accelerations a = F / m and, if the step is not 0, a half kick. A row whose acceleration is not finite gets
// no kick, and the first such row goes to `first_not_finite` (record_first). Does nothing if the drift
// refused rows or exceeded its allowance: the forces may lack pairs then, and the host evaluates them again
// or reverts the step. Floor: 32 bytes read, 24 written per row; with the kick 56 and 48.
extern "C" __global__ void __launch_bounds__(THREADS)
    accelerate(const __grid_constant__ AccelerateArguments args) {
    const auto [begin, end] = args.rows;
    const unsigned long long place = thread_of_grid(), row = begin + place;
    if (place >= end - begin || !is_complete(args.report)) { return; }
    accelerate_row(args, row, {args.force[0][row], args.force[1][row], args.force[2][row]});
}
HILBRIUM_EXPORT(accelerate)

}  // namespace hilbrium
