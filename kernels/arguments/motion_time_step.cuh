// Printed from src/device/arguments: change it there, then run
// HILBRIUM_PRINT=1 cargo test --test device kernel_arguments
#pragma once

#include "../arguments/layout.cuh"
#include "../arguments/shared.cuh"

namespace hilbrium {

// Minima of the criteria of the time step.
struct TimeStepArguments {
    // Accelerations.
    const double* acceleration[3];
    // Smoothing lengths, or null.
    const double* length;
    // Signal speeds, or null.
    const double* signal;
    // Speeds of sound, or null.
    const double* sound;
    // Velocity divergences, or null.
    const double* divergence;
    // Internal energies; null without gas.
    const double* energy;
    // Rates of the internal energies, or null.
    const double* rate;
    // Factor of the Courant criterion.
    double courant_factor;
    // Factor of the acceleration criterion.
    double acceleration_factor;
    // Factor of the expansion criterion.
    double expansion_factor;
    // Factor of the energy criterion.
    double energy_factor;
    // Softening length, for particles without smoothing length.
    double softening;
    // The owned rows.
    Rows rows;
    // The minima: Courant, acceleration, expansion, energy.
    unsigned long long* least;
};
HILBRIUM_SIZE(TimeStepArguments, 128)
HILBRIUM_OFFSET(TimeStepArguments, acceleration, 0)
HILBRIUM_OFFSET(TimeStepArguments, length, 24)
HILBRIUM_OFFSET(TimeStepArguments, signal, 32)
HILBRIUM_OFFSET(TimeStepArguments, sound, 40)
HILBRIUM_OFFSET(TimeStepArguments, divergence, 48)
HILBRIUM_OFFSET(TimeStepArguments, energy, 56)
HILBRIUM_OFFSET(TimeStepArguments, rate, 64)
HILBRIUM_OFFSET(TimeStepArguments, courant_factor, 72)
HILBRIUM_OFFSET(TimeStepArguments, acceleration_factor, 80)
HILBRIUM_OFFSET(TimeStepArguments, expansion_factor, 88)
HILBRIUM_OFFSET(TimeStepArguments, energy_factor, 96)
HILBRIUM_OFFSET(TimeStepArguments, softening, 104)
HILBRIUM_OFFSET(TimeStepArguments, rows, 112)
HILBRIUM_OFFSET(TimeStepArguments, least, 120)

}  // namespace hilbrium

extern "C" __global__ void time_step_criteria(
    const __grid_constant__ hilbrium::TimeStepArguments args);
