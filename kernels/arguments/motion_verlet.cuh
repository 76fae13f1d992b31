// Printed from src/device/arguments: change it there, then run
// HILBRIUM_PRINT=1 cargo test --test device kernel_arguments
#pragma once

#include "../arguments/layout.cuh"
#include "../arguments/shared.cuh"

namespace hilbrium {

// Half kick and drift.
struct VerletKickAndDriftArguments {
    // Columns of the particles.
    MovingColumns moving;
    // The time step.
    double step;
    // Largest allowed displacement along an axis.
    double farthest;
    // The owned rows.
    Rows rows;
    // Outcome of the drift.
    DriftReport report;
};
HILBRIUM_SIZE(VerletKickAndDriftArguments, 152)
HILBRIUM_OFFSET(VerletKickAndDriftArguments, moving, 0)
HILBRIUM_OFFSET(VerletKickAndDriftArguments, step, 72)
HILBRIUM_OFFSET(VerletKickAndDriftArguments, farthest, 80)
HILBRIUM_OFFSET(VerletKickAndDriftArguments, rows, 88)
HILBRIUM_OFFSET(VerletKickAndDriftArguments, report, 96)

// Half kick.
struct VerletKickArguments {
    // Velocities.
    double* velocity[3];
    // Accelerations.
    const double* acceleration[3];
    // The time step, negative to revert a kick.
    double step;
    // The owned rows.
    Rows rows;
    // Bits of the rows that the last drift left unchanged, or null.
    const unsigned* left;
    // The first row whose acceleration is not finite, or null.
    unsigned* first_not_finite;
};
HILBRIUM_SIZE(VerletKickArguments, 80)
HILBRIUM_OFFSET(VerletKickArguments, velocity, 0)
HILBRIUM_OFFSET(VerletKickArguments, acceleration, 24)
HILBRIUM_OFFSET(VerletKickArguments, step, 48)
HILBRIUM_OFFSET(VerletKickArguments, rows, 56)
HILBRIUM_OFFSET(VerletKickArguments, left, 64)
HILBRIUM_OFFSET(VerletKickArguments, first_not_finite, 72)

// Reversal of the drift.
struct VerletDriftBackArguments {
    // Positions.
    double* position[3];
    // Velocities.
    const double* velocity[3];
    // The time step.
    double step;
    // The owned rows.
    Rows rows;
    // Bits of the rows that the last drift left unchanged, or null.
    const unsigned* left;
};
HILBRIUM_SIZE(VerletDriftBackArguments, 72)
HILBRIUM_OFFSET(VerletDriftBackArguments, position, 0)
HILBRIUM_OFFSET(VerletDriftBackArguments, velocity, 24)
HILBRIUM_OFFSET(VerletDriftBackArguments, step, 48)
HILBRIUM_OFFSET(VerletDriftBackArguments, rows, 56)
HILBRIUM_OFFSET(VerletDriftBackArguments, left, 64)

// Accelerations from forces, and a half kick.
struct AccelerateArguments {
    // Forces.
    const double* force[3];
    // Masses.
    const double* mass;
    // Accelerations.
    double* acceleration[3];
    // Velocities.
    double* velocity[3];
    // The time step, or 0 for accelerations alone.
    double step;
    // The owned rows.
    Rows rows;
    // Outcome of the drift of this step, empty without one. Without `report.allowed` the displacement
    // may be `report.most`.
    DriftReport report;
    // The first row whose acceleration is not finite.
    unsigned* first_not_finite;
};
HILBRIUM_SIZE(AccelerateArguments, 160)
HILBRIUM_OFFSET(AccelerateArguments, force, 0)
HILBRIUM_OFFSET(AccelerateArguments, mass, 24)
HILBRIUM_OFFSET(AccelerateArguments, acceleration, 32)
HILBRIUM_OFFSET(AccelerateArguments, velocity, 56)
HILBRIUM_OFFSET(AccelerateArguments, step, 80)
HILBRIUM_OFFSET(AccelerateArguments, rows, 88)
HILBRIUM_OFFSET(AccelerateArguments, report, 96)
HILBRIUM_OFFSET(AccelerateArguments, first_not_finite, 152)

}  // namespace hilbrium

extern "C" __global__ void verlet_kick_and_drift(
    const __grid_constant__ hilbrium::VerletKickAndDriftArguments args);
extern "C" __global__ void verlet_kick(
    const __grid_constant__ hilbrium::VerletKickArguments args);
extern "C" __global__ void verlet_drift_back(
    const __grid_constant__ hilbrium::VerletDriftBackArguments args);
extern "C" __global__ void accelerate(
    const __grid_constant__ hilbrium::AccelerateArguments args);
