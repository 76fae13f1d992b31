// Artificial viscosity switch: mirrors src/laws/viscosity_switch.rs bit for bit, except the exponential
// decay, which is accurate to one ulp on either side.
#include "../device.cuh"

#include "../motion/block.cuh"
#include "../motion/rounded.cuh"

namespace hilbrium {

// Alpha after a time `step`. Rises immediately to alpha_max g / (g + h |div v| + 0.05 c), g = h^2 |grad div
// v|, where div v < 0. Decays exponentially to it on the time h / (decay c), and never falls below the
// minimum. With `limiter`, the target is multiplied by Balsara's factor. Rows [begin, end).
// Launch: blocks of 256 threads, one thread per row. Floor: 64 bytes read, 8 written per row.
extern "C" __global__ void __launch_bounds__(THREADS)
    switch_viscosity(const double* __restrict__ smoothing_length, const double* __restrict__ sound_speed,
                     const double* __restrict__ divergence, const double* __restrict__ curl,
                     const double* __restrict__ gradient_x, const double* __restrict__ gradient_y,
                     const double* __restrict__ gradient_z, double* __restrict__ viscosity, double minimum,
                     double maximum, double decay, unsigned limiter, double step, unsigned begin, unsigned end) {
    const unsigned long long place = thread_of_grid(), row = begin + place;
    if (place >= end - begin) { return; }
    const Rounded h = smoothing_length[row], c = sound_speed[row], div = divergence[row], alpha = viscosity[row];
    Rounded target = 0.0;
    // Written so that NaN propagates.
    if (!(div.value >= 0.0)) {
        const Rounded gradient = root(squared_length(gradient_x[row], gradient_y[row], gradient_z[row]));
        const Rounded change = h * h * gradient, size = magnitude(div);
        const Rounded sum = change + h * size + Rounded(0.05) * c;
        target = Rounded(maximum) * change / sum;
        if (limiter != 0) { target = target * size / (size + curl[row] + Rounded(1e-4) * c / h); }
    }
    const Rounded floor = greatest(target, minimum);
    if (floor >= alpha) {
        viscosity[row] = floor.value;
        return;
    }
    const Rounded rate = Rounded(decay) * c / h;
    viscosity[row] = (floor + (alpha - floor) * ::exp((Rounded(-step) * rate).value)).value;
}
HILBRIUM_EXPORT(switch_viscosity)

}  // namespace hilbrium
