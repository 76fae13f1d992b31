// Printed from src/device/arguments: change it there, then run
// HILBRIUM_PRINT=1 cargo test --test device kernel_arguments
#pragma once

#include "../arguments/layout.cuh"
#include "../arguments/shared.cuh"

namespace hilbrium {

// The Langevin bath of one step.
struct LangevinBath {
    // Factor by which velocities decay in a step.
    double decay;
    // Variance of the noise times the particle's mass.
    double noise;
    // Seed of the random numbers.
    unsigned long long seed;
    // Number of the step.
    unsigned long long number;
};
HILBRIUM_SIZE(LangevinBath, 32)
HILBRIUM_OFFSET(LangevinBath, decay, 0)
HILBRIUM_OFFSET(LangevinBath, noise, 8)
HILBRIUM_OFFSET(LangevinBath, seed, 16)
HILBRIUM_OFFSET(LangevinBath, number, 24)

// Half kick, half drift, friction and noise, half drift.
struct LangevinKickAndDriftArguments {
    // Columns of the particles.
    MovingColumns moving;
    // Masses.
    const double* mass;
    // Identities.
    const unsigned long long* id;
    // The time step.
    double step;
    // Largest allowed displacement along an axis.
    double farthest;
    // The bath.
    LangevinBath bath;
    // The owned rows.
    Rows rows;
    // Outcome of the drift.
    DriftReport report;
    // Heat of each block.
    double* heat;
};
HILBRIUM_SIZE(LangevinKickAndDriftArguments, 208)
HILBRIUM_OFFSET(LangevinKickAndDriftArguments, moving, 0)
HILBRIUM_OFFSET(LangevinKickAndDriftArguments, mass, 72)
HILBRIUM_OFFSET(LangevinKickAndDriftArguments, id, 80)
HILBRIUM_OFFSET(LangevinKickAndDriftArguments, step, 88)
HILBRIUM_OFFSET(LangevinKickAndDriftArguments, farthest, 96)
HILBRIUM_OFFSET(LangevinKickAndDriftArguments, bath, 104)
HILBRIUM_OFFSET(LangevinKickAndDriftArguments, rows, 136)
HILBRIUM_OFFSET(LangevinKickAndDriftArguments, report, 144)
HILBRIUM_OFFSET(LangevinKickAndDriftArguments, heat, 200)

// Reversal of drift, friction and noise.
struct LangevinDriftBackArguments {
    // Positions.
    double* position[3];
    // Velocities.
    double* velocity[3];
    // Masses.
    const double* mass;
    // Identities.
    const unsigned long long* id;
    // The time step.
    double step;
    // The bath.
    LangevinBath bath;
    // The owned rows.
    Rows rows;
    // Bits of the rows that the last drift left unchanged, or null.
    const unsigned* left;
};
HILBRIUM_SIZE(LangevinDriftBackArguments, 120)
HILBRIUM_OFFSET(LangevinDriftBackArguments, position, 0)
HILBRIUM_OFFSET(LangevinDriftBackArguments, velocity, 24)
HILBRIUM_OFFSET(LangevinDriftBackArguments, mass, 48)
HILBRIUM_OFFSET(LangevinDriftBackArguments, id, 56)
HILBRIUM_OFFSET(LangevinDriftBackArguments, step, 64)
HILBRIUM_OFFSET(LangevinDriftBackArguments, bath, 72)
HILBRIUM_OFFSET(LangevinDriftBackArguments, rows, 104)
HILBRIUM_OFFSET(LangevinDriftBackArguments, left, 112)

}  // namespace hilbrium

extern "C" __global__ void langevin_kick_and_drift(
    const __grid_constant__ hilbrium::LangevinKickAndDriftArguments args);
extern "C" __global__ void langevin_drift_back(
    const __grid_constant__ hilbrium::LangevinDriftBackArguments args);
