// Velocity Verlet on double columns: mirrors src/motion/verlet.rs and the acceleration of
// src/molecules/mod.rs bit for bit.
//
//     v_half = v + a dt/2      x' = x + v_half dt      forces at x' -> a'      v' = v_half + a' dt/2
//
// Rows [begin, end) are the owned ones, without ghosts. All kernels: blocks of 256 threads, one thread per
// row; memory-bound.
#include "../device.cuh"

#include "../motion/verlet.cuh"

namespace hilbrium {

// Half kick and drift. A row that would move farther than `farthest` is left unchanged: its bit of `left` is
// set and `refused` counts it, so that the step can be undone. (The CPU code skips blocks of 64 rows; both
// then undo the whole step.) The largest squared velocity goes to `largest_square`; times dt^2 it is the
// largest squared displacement. Floor: 72 bytes read, 48 written per row.
extern "C" __global__ void __launch_bounds__(THREADS)
    verlet_kick_and_drift(double* __restrict__ position_x, double* __restrict__ position_y,
                          double* __restrict__ position_z, double* __restrict__ velocity_x,
                          double* __restrict__ velocity_y, double* __restrict__ velocity_z,
                          const double* __restrict__ acceleration_x, const double* __restrict__ acceleration_y,
                          const double* __restrict__ acceleration_z, double step, double farthest, unsigned begin,
                          unsigned end, unsigned* __restrict__ left, unsigned* __restrict__ refused,
                          unsigned long long* __restrict__ largest_square) {
    const unsigned long long place = thread_of_grid();
    const bool there = place < end - begin;
    const unsigned long long row = begin + place;
    double* const position[3] = {position_x, position_y, position_z};
    double* const velocity[3] = {velocity_x, velocity_y, velocity_z};
    const double* const acceleration[3] = {acceleration_x, acceleration_y, acceleration_z};
    double square = 0.0;
    bool far = false;
    if (there) {
        Rounded x[3], v[3], a[3];
#pragma unroll
        for (int d = 0; d < 3; ++d) {
            x[d] = position[d][row];
            v[d] = velocity[d][row];
            a[d] = acceleration[d][row];
        }
        far = leaves(v, a, step, farthest);
        if (!far) {
#pragma unroll
            for (int d = 0; d < 3; ++d) {
                v[d] = v[d] + Rounded(0.5) * step * a[d];
                velocity[d][row] = v[d].value;
                position[d][row] = (x[d] + Rounded(step) * v[d]).value;
            }
            square = squared_length(v[0], v[1], v[2]).value;
        }
    }
    record_refused(far, place, end - begin, left, refused);
    reduce_max(square, largest_square);
}
HILBRIUM_EXPORT(verlet_kick_and_drift)

// Half kick with the step dt, except for rows that were left unchanged, and rows whose acceleration is not
// finite; -dt undoes such a kick. Floor: 48 bytes read, 24 written per row.
extern "C" __global__ void __launch_bounds__(THREADS)
    verlet_kick(double* __restrict__ velocity_x, double* __restrict__ velocity_y, double* __restrict__ velocity_z,
                const double* __restrict__ acceleration_x, const double* __restrict__ acceleration_y,
                const double* __restrict__ acceleration_z, double step, unsigned begin, unsigned end,
                const unsigned* __restrict__ left) {
    const unsigned long long place = thread_of_grid(), row = begin + place;
    if (place >= end - begin || was_refused(left, place)) { return; }
    double* const velocity[3] = {velocity_x, velocity_y, velocity_z};
    const Rounded a[3] = {acceleration_x[row], acceleration_y[row], acceleration_z[row]};
    if (!is_finite(a[0].value) || !is_finite(a[1].value) || !is_finite(a[2].value)) { return; }
#pragma unroll
    for (int d = 0; d < 3; ++d) {
        velocity[d][row] = (Rounded(velocity[d][row]) + Rounded(0.5) * step * a[d]).value;
    }
}
HILBRIUM_EXPORT(verlet_kick)

// Undoes the drift of verlet_kick_and_drift, up to rounding. Floor: 48 bytes read, 24 written per row.
extern "C" __global__ void __launch_bounds__(THREADS)
    verlet_drift_back(double* __restrict__ position_x, double* __restrict__ position_y,
                      double* __restrict__ position_z, const double* __restrict__ velocity_x,
                      const double* __restrict__ velocity_y, const double* __restrict__ velocity_z, double step,
                      unsigned begin, unsigned end, const unsigned* __restrict__ left) {
    const unsigned long long place = thread_of_grid(), row = begin + place;
    if (place >= end - begin || was_refused(left, place)) { return; }
    double* const position[3] = {position_x, position_y, position_z};
    const double* const velocity[3] = {velocity_x, velocity_y, velocity_z};
#pragma unroll
    for (int d = 0; d < 3; ++d) {
        const Rounded x = position[d][row], v = velocity[d][row];
        position[d][row] = (x - Rounded(step) * v).value;
    }
}
HILBRIUM_EXPORT(verlet_drift_back)

// Accelerations a = F / m and, if the step is not 0, a half kick. A row whose acceleration is not finite gets
// no kick, and the first such row goes to `first_not_finite` (record_first). Floor: 32 bytes read, 24 written
// per row; with the kick 56 and 48.
extern "C" __global__ void __launch_bounds__(THREADS)
    accelerate(const double* __restrict__ force_x, const double* __restrict__ force_y,
               const double* __restrict__ force_z, const double* __restrict__ mass,
               double* __restrict__ acceleration_x, double* __restrict__ acceleration_y,
               double* __restrict__ acceleration_z, double* __restrict__ velocity_x, double* __restrict__ velocity_y,
               double* __restrict__ velocity_z, double step, unsigned begin, unsigned end,
               unsigned* __restrict__ first_not_finite) {
    const unsigned long long place = thread_of_grid(), row = begin + place;
    if (place >= end - begin) { return; }
    const double* const force[3] = {force_x, force_y, force_z};
    double* const acceleration[3] = {acceleration_x, acceleration_y, acceleration_z};
    double* const velocity[3] = {velocity_x, velocity_y, velocity_z};
    // One division per row, as on the CPU.
    const Rounded inverse = Rounded(1.0) / Rounded(mass[row]);
    Rounded a[3];
    bool finite = true;
#pragma unroll
    for (int d = 0; d < 3; ++d) {
        a[d] = Rounded(force[d][row]) * inverse;
        acceleration[d][row] = a[d].value;
        finite &= is_finite(a[d].value);
    }
    if (!finite) {
        record_first(first_not_finite, row);
    } else if (step != 0.0) {
#pragma unroll
        for (int d = 0; d < 3; ++d) {
            velocity[d][row] = (Rounded(velocity[d][row]) + Rounded(0.5) * step * a[d]).value;
        }
    }
}
HILBRIUM_EXPORT(accelerate)

}  // namespace hilbrium
