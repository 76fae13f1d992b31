// Time step criteria, each reduced to its minimum over the rows: mirrors src/motion/time_step.rs bit for bit.
//
//     Courant       courant h / v_signal
//     acceleration  acceleration sqrt(h / |a|)      (the softening length where there is no h)
//     expansion     expansion / |div v|
//     energy        energy u / |du/dt|              (u at least (v_signal / 2)^2 for q > 0, else 1 % of it)
//
// Rows [begin, end) are the owned ones, without ghosts.
#include "../device.cuh"
#include "../arguments/motion_time_step.cuh"
#include "../motion/block.cuh"
#include "../motion/rounded.cuh"

namespace hilbrium {

// An internal energy below this fraction of (v_signal / 2)^2 does not affect the motion.
constexpr double SMALL_CHANGE = 0.01;

// `least` receives the minima of Courant, acceleration, expansion and energy criterion (reduce_min). Without
// internal energies (null), only the acceleration limits the step; `signal` and `sound` may be null. Launch:
// blocks of 256 threads, 2048 rows per block, so that few blocks use atomics. Floor: 72 bytes read per row of
// gas, 24 otherwise.
extern "C" __global__ void __launch_bounds__(THREADS)
    time_step_criteria(const __grid_constant__ TimeStepArguments args) {
    const double* __restrict__ const acceleration[3] = {args.acceleration[0], args.acceleration[1],
                                                        args.acceleration[2]};
    const double* __restrict__ const length = args.length;
    const double* __restrict__ const signal = args.signal;
    const double* __restrict__ const sound = args.sound;
    const double* __restrict__ const divergence = args.divergence;
    const double* __restrict__ const energy = args.energy;
    const double* __restrict__ const rate = args.rate;
    const auto [begin, end] = args.rows;
    const unsigned long long first = begin + static_cast<unsigned long long>(blockIdx.x) * ROWS_PER_BLOCK;
    const double infinity = __longlong_as_double(0x7ff0000000000000ll);
    Rounded least_here[4] = {infinity, infinity, infinity, infinity};
#pragma unroll 2
    for (unsigned k = threadIdx.x; k < ROWS_PER_BLOCK; k += THREADS) {
        const unsigned long long row = first + k;
        if (row >= end) { break; }
        const Rounded a =
            root(squared_length(acceleration[0][row], acceleration[1][row], acceleration[2][row]));
        const Rounded h = energy != nullptr ? length[row] : args.softening;
        if (h.value > 0.0) {
            // The minimum ignores NaN, as from 0 / 0 of a particle at rest.
            least_here[1] = least(least_here[1], Rounded(args.acceleration_factor) * root(h / a));
        }
        if (energy == nullptr) { continue; }
        const Rounded fastest =
            greatest(signal != nullptr ? signal[row] : 0.0, sound != nullptr ? sound[row] : 0.0);
        least_here[0] = least(least_here[0], Rounded(args.courant_factor) * h / fastest);
        least_here[2] = least(least_here[2], Rounded(args.expansion_factor) / magnitude(divergence[row]));
        // A cold gas may be heated in one step to the energy that its shocks will provide.
        const Rounded shocked = Rounded(0.25) * fastest * fastest, q = rate[row];
        const Rounded scale = greatest(energy[row], q.value > 0.0 ? shocked : Rounded(SMALL_CHANGE) * shocked);
        least_here[3] = least(least_here[3], Rounded(args.energy_factor) * scale / magnitude(q));
    }
#pragma unroll
    for (int k = 0; k < 4; ++k) { reduce_min(least_here[k].value, &args.least[k]); }
}
HILBRIUM_EXPORT(time_step_criteria)

}  // namespace hilbrium
