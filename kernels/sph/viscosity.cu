// Artificial viscosity switch: mirrors src/laws/viscosity_switch.rs bit for bit, except the exponential
// decay, which is accurate to one ulp on either side.
#include "../device.cuh"
#include "../arguments/sph_viscosity.cuh"
#include "../motion/block.cuh"
#include "../motion/rounded.cuh"

namespace hilbrium {

// Alpha after a time `step`. Rises immediately to alpha_max g / (g + h |div v| + 0.05 c), g = h^2 |grad div
// v|, where div v < 0. Decays exponentially to it on the time h / (decay c), and never falls below the
// minimum. With `limiter`, the target is multiplied by Balsara's factor. Rows [begin, end).
// Launch: blocks of 256 threads, one thread per row. Floor: 64 bytes read, 8 written per row.
extern "C" __global__ void __launch_bounds__(THREADS)
    switch_viscosity(const __grid_constant__ SwitchViscosityArguments args) {
    const double* __restrict__ const divergence_gradient[3] = {
        args.divergence_gradient[0], args.divergence_gradient[1], args.divergence_gradient[2]};
    const double* __restrict__ const smoothing_length = args.smoothing_length;
    const double* __restrict__ const sound_speed = args.sound_speed;
    const double* __restrict__ const divergence = args.divergence;
    const double* __restrict__ const curl = args.curl;
    double* __restrict__ const viscosity = args.viscosity;
    const auto [begin, end] = args.rows;
    const unsigned long long place = thread_of_grid(), row = begin + place;
    if (place >= end - begin) { return; }
    const Rounded h = smoothing_length[row], c = sound_speed[row], div = divergence[row], alpha = viscosity[row];
    Rounded target = 0.0;
    // Written so that NaN propagates.
    if (!(div.value >= 0.0)) {
        const Rounded gradient = root(squared_length(divergence_gradient[0][row], divergence_gradient[1][row],
                                                     divergence_gradient[2][row]));
        const Rounded change = h * h * gradient, size = magnitude(div);
        const Rounded sum = change + h * size + Rounded(0.05) * c;
        target = Rounded(args.maximum) * change / sum;
        if (args.limiter != 0) { target = target * size / (size + curl[row] + Rounded(1e-4) * c / h); }
    }
    const Rounded floor = greatest(target, args.minimum);
    if (floor >= alpha) {
        viscosity[row] = floor.value;
        return;
    }
    const Rounded rate = Rounded(args.decay) * c / h;
    viscosity[row] = (floor + (alpha - floor) * ::exp((Rounded(-args.step) * rate).value)).value;
}
HILBRIUM_EXPORT(switch_viscosity)

}  // namespace hilbrium
