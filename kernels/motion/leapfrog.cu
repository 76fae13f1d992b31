// Leapfrog of the gas, with velocities and internal energies predicted for the forces: mirrors
// src/motion/leapfrog.rs bit for bit, except the exponential growth of smoothing lengths, which is accurate
// to one ulp on either side.
//
//     v_half = v + a dt/2      x' = x + v_half dt      v_predicted = v + a dt      u_predicted = u + q dt
//     v' = v_predicted + (a' - a) dt/2                 u' = u_predicted + (q' - q) dt/2
//
// Acceleration and rate at the start of the step stay in place and become KickAcceleration and
// KickEnergyRate; the forces write to other columns. Rows [begin, end) are the owned ones, without ghosts.
// All kernels: blocks of 256 threads, one thread per row; memory-bound.
#include "../device.cuh"
#include "../arguments/motion_leapfrog.cuh"
#include "../motion/block.cuh"
#include "../motion/rounded.cuh"

namespace hilbrium {

// Lower bound of a predicted internal energy as a fraction of the current one.
constexpr double LOWEST_PREDICTION = 0.1;

// First half of a step. Floor: 104 bytes read, 72 written per row.
extern "C" __global__ void __launch_bounds__(THREADS)
    leapfrog_kick_and_drift(const __grid_constant__ LeapfrogKickAndDriftArguments args) {
    double* __restrict__ const position[3] = {args.moving.position[0], args.moving.position[1],
                                              args.moving.position[2]};
    double* __restrict__ const velocity[3] = {args.moving.velocity[0], args.moving.velocity[1],
                                              args.moving.velocity[2]};
    const double* __restrict__ const acceleration[3] = {
        args.moving.acceleration[0], args.moving.acceleration[1], args.moving.acceleration[2]};
    double* __restrict__ const energy = args.energy;
    double* __restrict__ const rate = args.rate;
    double* __restrict__ const length = args.length;
    const double* __restrict__ const divergence = args.divergence;
    const double step = args.step;
    const auto [begin, end] = args.rows;
    const unsigned long long place = thread_of_grid(), row = begin + place;
    if (place >= end - begin) { return; }
#pragma unroll
    for (int d = 0; d < 3; ++d) {
        const Rounded x = position[d][row], v = velocity[d][row], a = acceleration[d][row];
        position[d][row] = (x + (v + Rounded(0.5) * step * a) * step).value;
        velocity[d][row] = (v + a * step).value;
    }
    const Rounded u = energy[row];
    // Store the rate that was applied, so that the part cut off by the lower bound is not applied later.
    const Rounded q = greatest(rate[row], Rounded(LOWEST_PREDICTION - 1.0) * u / Rounded(step));
    rate[row] = q.value;
    energy[row] = (u + q * step).value;
    const Rounded growth = Rounded(divergence[row]) * step / Rounded(3.0);
    length[row] = (Rounded(length[row]) * ::exp(clamped(growth, -0.2, 0.2).value)).value;
}
HILBRIUM_EXPORT(leapfrog_kick_and_drift)

// Second half, after the forces: corrects the predictions by half the change of the rates. Floor: 88 bytes
// read, 32 written per row.
extern "C" __global__ void __launch_bounds__(THREADS)
    leapfrog_kick(const __grid_constant__ LeapfrogKickArguments args) {
    double* __restrict__ const velocity[3] = {args.velocity[0], args.velocity[1], args.velocity[2]};
    const double* __restrict__ const acceleration[3] = {args.acceleration[0], args.acceleration[1],
                                                        args.acceleration[2]};
    const double* __restrict__ const old_acceleration[3] = {
        args.old_acceleration[0], args.old_acceleration[1], args.old_acceleration[2]};
    double* __restrict__ const energy = args.energy;
    const double* __restrict__ const rate = args.rate;
    const double* __restrict__ const old_rate = args.old_rate;
    const auto [begin, end] = args.rows;
    const unsigned long long place = thread_of_grid(), row = begin + place;
    if (place >= end - begin) { return; }
#pragma unroll
    for (int d = 0; d < 3; ++d) {
        const Rounded change = Rounded(acceleration[d][row]) - Rounded(old_acceleration[d][row]);
        velocity[d][row] = (Rounded(velocity[d][row]) + Rounded(0.5) * args.step * change).value;
    }
    const Rounded u = energy[row], change = Rounded(rate[row]) - Rounded(old_rate[row]);
    energy[row] = greatest(u + Rounded(0.5) * args.step * change, Rounded(LOWEST_PREDICTION) * u).value;
}
HILBRIUM_EXPORT(leapfrog_kick)

// Counts in `lost` the rows that a step would move farther than 1e6 `reach`, or heat by more than 1e6 times
// their energy. If there are none, the step can be undone to about eight digits. Floor: 64 bytes read per
// row.
extern "C" __global__ void __launch_bounds__(THREADS)
    leapfrog_lost(const __grid_constant__ LeapfrogLostArguments args) {
    const double* __restrict__ const velocity[3] = {args.velocity[0], args.velocity[1], args.velocity[2]};
    const double* __restrict__ const acceleration[3] = {args.acceleration[0], args.acceleration[1],
                                                        args.acceleration[2]};
    const double* __restrict__ const energy = args.energy;
    const double* __restrict__ const rate = args.rate;
    const double step = args.step;
    const auto [begin, end] = args.rows;
    unsigned* __restrict__ const lost = args.lost;
    constexpr double LARGEST = 1e6;
    const unsigned long long place = thread_of_grid(), row = begin + place;
    bool mild = true;
    if (place < end - begin) {
#pragma unroll
        for (int d = 0; d < 3; ++d) {
            const Rounded moved = (Rounded(velocity[d][row]) + Rounded(0.5) * step * acceleration[d][row]) * step;
            mild &= magnitude(moved) <= Rounded(LARGEST) * args.reach;
        }
        mild &= magnitude(Rounded(rate[row]) * step) <= Rounded(LARGEST) * magnitude(energy[row]);
    }
    count({!mild}, lost);
}
HILBRIUM_EXPORT(leapfrog_lost)

// Undoes the first half of a step, up to rounding. Smoothing lengths are kept, because they are computed
// again. Floor: 88 bytes read, 56 written per row.
extern "C" __global__ void __launch_bounds__(THREADS)
    leapfrog_undo(const __grid_constant__ LeapfrogUndoArguments args) {
    double* __restrict__ const position[3] = {args.position[0], args.position[1], args.position[2]};
    double* __restrict__ const velocity[3] = {args.velocity[0], args.velocity[1], args.velocity[2]};
    const double* __restrict__ const old_acceleration[3] = {
        args.old_acceleration[0], args.old_acceleration[1], args.old_acceleration[2]};
    double* __restrict__ const energy = args.energy;
    const double* __restrict__ const old_rate = args.old_rate;
    const double step = args.step;
    const auto [begin, end] = args.rows;
    const unsigned long long place = thread_of_grid(), row = begin + place;
    if (place >= end - begin) { return; }
#pragma unroll
    for (int d = 0; d < 3; ++d) {
        const Rounded a = old_acceleration[d][row];
        const Rounded v = Rounded(velocity[d][row]) - a * step;
        velocity[d][row] = v.value;
        position[d][row] = (Rounded(position[d][row]) - (v + Rounded(0.5) * step * a) * step).value;
    }
    energy[row] = (Rounded(energy[row]) - Rounded(old_rate[row]) * step).value;
}
HILBRIUM_EXPORT(leapfrog_undo)

}  // namespace hilbrium
