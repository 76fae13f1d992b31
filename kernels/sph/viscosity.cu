// The switch of the artificial viscosity: mirrors src/laws/viscosity_switch.rs with the same bits, but for the exponential
// of its decay, which is exact to a unit in the last place on either side.
#include "../device.cuh"

#include "../motion/block.cuh"
#include "../motion/rounded.cuh"

namespace hilbrium {

// Alpha after a time `step`: at once up to alpha_max g / (g + h |div v| + 0.05 c), g = h^2 |grad div v| where div v < 0,
// exponentially down to it within h / (decay c), and never below the minimum; with `limiter` the target times Balsara's
// factor. Rows begin .. end, blocks of 256 threads, one thread a row. Floor: 64 bytes read, 8 written a row.
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
    // written so that what is no number goes through it
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
