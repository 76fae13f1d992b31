// Multiplication of waves by an influence function.
#include "../device.cuh"
#include "../arguments/mesh_influence.cuh"

// Multiplies complex waves by real factors.
// Launch: a thread per wave.
// Floor: bytes, 5 numbers per wave: 20 in single precision.
extern "C" __global__ void multiply_waves(const __grid_constant__ hilbrium::MultiplyWavesArguments args) {
    using namespace hilbrium;
    const unsigned long long wave = thread_of_grid();
    if (wave >= args.count) return;
    const Real factor = args.influence[wave];
    args.waves[2 * wave] *= factor;
    args.waves[2 * wave + 1] *= factor;
}
HILBRIUM_EXPORT(multiply_waves)
