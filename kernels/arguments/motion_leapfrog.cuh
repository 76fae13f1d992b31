// Printed from src/device/arguments: change it there, then run
// HILBRIUM_PRINT=1 cargo test --test device kernel_arguments
#pragma once

#include "../arguments/layout.cuh"
#include "../arguments/shared.cuh"

namespace hilbrium {

// First half of a step.
struct LeapfrogKickAndDriftArguments {
    // Columns of the particles.
    MovingColumns moving;
    // Internal energies.
    double* energy;
    // Rates of the internal energies.
    double* rate;
    // Smoothing lengths.
    double* length;
    // Velocity divergences.
    const double* divergence;
    // The time step.
    double step;
    // The owned rows.
    Rows rows;
};
HILBRIUM_SIZE(LeapfrogKickAndDriftArguments, 120)
HILBRIUM_OFFSET(LeapfrogKickAndDriftArguments, moving, 0)
HILBRIUM_OFFSET(LeapfrogKickAndDriftArguments, energy, 72)
HILBRIUM_OFFSET(LeapfrogKickAndDriftArguments, rate, 80)
HILBRIUM_OFFSET(LeapfrogKickAndDriftArguments, length, 88)
HILBRIUM_OFFSET(LeapfrogKickAndDriftArguments, divergence, 96)
HILBRIUM_OFFSET(LeapfrogKickAndDriftArguments, step, 104)
HILBRIUM_OFFSET(LeapfrogKickAndDriftArguments, rows, 112)

// Second half of a step.
struct LeapfrogKickArguments {
    // Velocities.
    double* velocity[3];
    // Accelerations at the end of the step.
    const double* acceleration[3];
    // Accelerations at the start of the step.
    const double* old_acceleration[3];
    // Internal energies.
    double* energy;
    // Energy rates at the end of the step.
    const double* rate;
    // Energy rates at the start of the step.
    const double* old_rate;
    // The time step.
    double step;
    // The owned rows.
    Rows rows;
};
HILBRIUM_SIZE(LeapfrogKickArguments, 112)
HILBRIUM_OFFSET(LeapfrogKickArguments, velocity, 0)
HILBRIUM_OFFSET(LeapfrogKickArguments, acceleration, 24)
HILBRIUM_OFFSET(LeapfrogKickArguments, old_acceleration, 48)
HILBRIUM_OFFSET(LeapfrogKickArguments, energy, 72)
HILBRIUM_OFFSET(LeapfrogKickArguments, rate, 80)
HILBRIUM_OFFSET(LeapfrogKickArguments, old_rate, 88)
HILBRIUM_OFFSET(LeapfrogKickArguments, step, 96)
HILBRIUM_OFFSET(LeapfrogKickArguments, rows, 104)

// Count of the rows whose step cannot be reverted.
struct LeapfrogLostArguments {
    // Velocities.
    const double* velocity[3];
    // Accelerations.
    const double* acceleration[3];
    // Internal energies.
    const double* energy;
    // Rates of the internal energies.
    const double* rate;
    // The time step.
    double step;
    // The unit of displacements: about the interaction radius.
    double reach;
    // The owned rows.
    Rows rows;
    // The count.
    unsigned* lost;
};
HILBRIUM_SIZE(LeapfrogLostArguments, 96)
HILBRIUM_OFFSET(LeapfrogLostArguments, velocity, 0)
HILBRIUM_OFFSET(LeapfrogLostArguments, acceleration, 24)
HILBRIUM_OFFSET(LeapfrogLostArguments, energy, 48)
HILBRIUM_OFFSET(LeapfrogLostArguments, rate, 56)
HILBRIUM_OFFSET(LeapfrogLostArguments, step, 64)
HILBRIUM_OFFSET(LeapfrogLostArguments, reach, 72)
HILBRIUM_OFFSET(LeapfrogLostArguments, rows, 80)
HILBRIUM_OFFSET(LeapfrogLostArguments, lost, 88)

// Reversal of the first half of a step.
struct LeapfrogUndoArguments {
    // Positions.
    double* position[3];
    // Velocities.
    double* velocity[3];
    // Accelerations at the start of the step.
    const double* old_acceleration[3];
    // Internal energies.
    double* energy;
    // Energy rates at the start of the step.
    const double* old_rate;
    // The time step.
    double step;
    // The owned rows.
    Rows rows;
};
HILBRIUM_SIZE(LeapfrogUndoArguments, 104)
HILBRIUM_OFFSET(LeapfrogUndoArguments, position, 0)
HILBRIUM_OFFSET(LeapfrogUndoArguments, velocity, 24)
HILBRIUM_OFFSET(LeapfrogUndoArguments, old_acceleration, 48)
HILBRIUM_OFFSET(LeapfrogUndoArguments, energy, 72)
HILBRIUM_OFFSET(LeapfrogUndoArguments, old_rate, 80)
HILBRIUM_OFFSET(LeapfrogUndoArguments, step, 88)
HILBRIUM_OFFSET(LeapfrogUndoArguments, rows, 96)

}  // namespace hilbrium

extern "C" __global__ void leapfrog_kick_and_drift(
    const __grid_constant__ hilbrium::LeapfrogKickAndDriftArguments args);
extern "C" __global__ void leapfrog_kick(
    const __grid_constant__ hilbrium::LeapfrogKickArguments args);
extern "C" __global__ void leapfrog_lost(
    const __grid_constant__ hilbrium::LeapfrogLostArguments args);
extern "C" __global__ void leapfrog_undo(
    const __grid_constant__ hilbrium::LeapfrogUndoArguments args);
