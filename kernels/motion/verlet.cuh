// Per-particle operations shared by velocity Verlet and the Langevin thermostat.
#pragma once

#include "../arguments/motion_verlet.cuh"
#include "../motion/block.cuh"
#include "../motion/rounded.cuh"

namespace hilbrium {

// Returns whether a half kick and drift would move a particle farther than `farthest` along an axis, or to
// NaN.
__device__ __forceinline__ bool leaves(const Rounded (&velocity)[3], const Rounded (&acceleration)[3], double step,
                                       double farthest) {
    bool far = false;
#pragma unroll
    for (int d = 0; d < 3; ++d) {
        const Rounded moved = (velocity[d] + Rounded(0.5) * step * acceleration[d]) * step;
        far |= !(magnitude(moved) <= farthest);
    }
    return far;
}

// Half kick and drift of a row, x' = x + (v + a dt/2) dt, unless it would move farther than `farthest`.
// Returns whether it would; `x` is its position afterwards, and `square` the square of its velocity if it has
// moved.
__device__ __forceinline__ bool kick_and_drift_row(const MovingColumns& moving, unsigned long long row,
                                                   double step, double farthest, Rounded (&x)[3],
                                                   double& square) {
    Rounded v[3], a[3];
#pragma unroll
    for (int d = 0; d < 3; ++d) {
        x[d] = moving.position[d][row];
        v[d] = moving.velocity[d][row];
        a[d] = moving.acceleration[d][row];
    }
    if (leaves(v, a, step, farthest)) { return true; }
#pragma unroll
    for (int d = 0; d < 3; ++d) {
        v[d] = v[d] + Rounded(0.5) * step * a[d];
        x[d] = x[d] + Rounded(step) * v[d];
        moving.velocity[d][row] = v[d].value;
        moving.position[d][row] = x[d].value;
    }
    square = squared_length(v[0], v[1], v[2]).value;
    return false;
}

// Records the rows of a warp that are left unchanged, one bit each, and counts them. All threads of the warp
// must call.
__device__ __forceinline__ void record_refused(bool is_refused, unsigned long long place, unsigned count,
                                               unsigned* left, unsigned* refused) {
    const unsigned word = __ballot_sync(FULL, is_refused);
    if (lane_index() == 0 && place < count) {
        left[place / WARP] = word;
        if (word != 0) { atomicAdd(refused, static_cast<unsigned>(__popc(word))); }
    }
}

// The largest displacement of a drift, rounded up; src/device/motion.rs computes the same.
__device__ __forceinline__ double displacement_of(unsigned long long largest_square, double scale) {
    return root(Rounded(decoded(largest_square)) * scale * scale).value * (1.0 + 1e-9);
}

// Returns the displacement that a step may have, negative if an earlier step of the batch was not completed:
// it refused rows, had an acceleration that is not finite, or exceeded its allowance.
__device__ __forceinline__ double allowance(const DriftReport& report) {
    if (report.previous == nullptr) { return report.most; }
    const unsigned long long* const previous = report.previous;
    const bool failed = static_cast<unsigned>(previous[0]) != 0 || static_cast<unsigned>(previous[2]) != 0;
    const double left = __longlong_as_double(static_cast<long long>(previous[3])) -
                        displacement_of(previous[1], report.scale);
    return failed ? -1.0 : left;
}

// Returns whether a step of a batch is to be performed, and records what it is allowed.
__device__ __forceinline__ bool begins(const DriftReport& report) {
    const double allowed = allowance(report);
    if (report.allowed != nullptr && thread_of_grid() == 0) { *report.allowed = allowed; }
    return allowed >= 0.0;
}

// Returns whether the forces after a drift are complete: it refused no rows and stayed within its allowance.
__device__ __forceinline__ bool is_complete(const DriftReport& report) {
    const double allowed = report.allowed != nullptr ? *report.allowed : report.most;
    return *report.refused == 0 && displacement_of(*report.largest_square, report.scale) <= allowed;
}

// The acceleration of a row from its force and mass and, if `step` is not 0, a half kick. Without a finite
// acceleration there is no kick, and `first_not_finite` records the row.
__device__ __forceinline__ void accelerate_row(const AccelerateArguments& args, unsigned long long row,
                                               const double (&force)[3]) {
    const bool kicks = args.step != 0.0;
    // One division per row, as on the CPU.
    const Rounded inverse = Rounded(1.0) / Rounded(args.mass[row]);
    Rounded a[3], v[3];
    bool finite = true;
#pragma unroll
    for (int d = 0; d < 3; ++d) {
        v[d] = kicks ? args.velocity[d][row] : 0.0;
        a[d] = Rounded(force[d]) * inverse;
        finite &= is_finite(a[d].value);
    }
#pragma unroll
    for (int d = 0; d < 3; ++d) { args.acceleration[d][row] = a[d].value; }
    if (!finite) {
        record_first(args.first_not_finite, row);
    } else if (kicks) {
#pragma unroll
        for (int d = 0; d < 3; ++d) {
            args.velocity[d][row] = (v[d] + Rounded(0.5) * args.step * a[d]).value;
        }
    }
}

// Returns whether a row was left unchanged; false without records (null).
__device__ __forceinline__ bool was_refused(const unsigned* left, unsigned long long place) {
    return left != nullptr && (left[place / WARP] >> (place % WARP) & 1u) != 0;
}

}  // namespace hilbrium
