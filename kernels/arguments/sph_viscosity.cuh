// Printed from src/device/arguments: change it there, then run
// HILBRIUM_PRINT=1 cargo test --test device kernel_arguments
#pragma once

#include "../arguments/layout.cuh"
#include "../arguments/shared.cuh"

namespace hilbrium {

// The switch of the artificial viscosity.
struct SwitchViscosityArguments {
    // Smoothing lengths.
    const double* smoothing_length;
    // Speeds of sound.
    const double* sound_speed;
    // Velocity divergences.
    const double* divergence;
    // Magnitudes of the velocity curl.
    const double* curl;
    // Gradients of the velocity divergence.
    const double* divergence_gradient[3];
    // Viscosity coefficients.
    double* viscosity;
    // Minimum coefficient.
    double minimum;
    // Maximum coefficient.
    double maximum;
    // Decay rate in units of the speed of sound over the smoothing length.
    double decay;
    // Not 0: with Balsara's limiter.
    unsigned limiter;
    // Time since the last update.
    double step;
    // The owned rows.
    Rows rows;
};
HILBRIUM_SIZE(SwitchViscosityArguments, 112)
HILBRIUM_OFFSET(SwitchViscosityArguments, smoothing_length, 0)
HILBRIUM_OFFSET(SwitchViscosityArguments, sound_speed, 8)
HILBRIUM_OFFSET(SwitchViscosityArguments, divergence, 16)
HILBRIUM_OFFSET(SwitchViscosityArguments, curl, 24)
HILBRIUM_OFFSET(SwitchViscosityArguments, divergence_gradient, 32)
HILBRIUM_OFFSET(SwitchViscosityArguments, viscosity, 56)
HILBRIUM_OFFSET(SwitchViscosityArguments, minimum, 64)
HILBRIUM_OFFSET(SwitchViscosityArguments, maximum, 72)
HILBRIUM_OFFSET(SwitchViscosityArguments, decay, 80)
HILBRIUM_OFFSET(SwitchViscosityArguments, limiter, 88)
HILBRIUM_OFFSET(SwitchViscosityArguments, step, 96)
HILBRIUM_OFFSET(SwitchViscosityArguments, rows, 104)

}  // namespace hilbrium

extern "C" __global__ void switch_viscosity(
    const __grid_constant__ hilbrium::SwitchViscosityArguments args);
