// Printed from src/device/arguments: change it there, then run
// HILBRIUM_PRINT=1 cargo test --test device kernel_arguments
#pragma once

#include "../arguments/layout.cuh"
#include "../arguments/shared.cuh"

namespace hilbrium {

// An external field.
struct ExternalParameters {
    // Uniform acceleration.
    double uniform[3];
    // Position of the point mass.
    double center[3];
    // Per dimension 1, or 0 where the distance from the point mass does not count.
    double counted[3];
    // G M of the point mass; 0: there is none.
    double strength;
    // Squared softening length of the point mass.
    double squared_softening;
};
HILBRIUM_SIZE(ExternalParameters, 88)
HILBRIUM_OFFSET(ExternalParameters, uniform, 0)
HILBRIUM_OFFSET(ExternalParameters, center, 24)
HILBRIUM_OFFSET(ExternalParameters, counted, 48)
HILBRIUM_OFFSET(ExternalParameters, strength, 72)
HILBRIUM_OFFSET(ExternalParameters, squared_softening, 80)

// Addition of the field to the accelerations.
struct ExternalAccelerationArguments {
    // Positions.
    const double* position[3];
    // Accelerations.
    double* acceleration[3];
    // The field.
    ExternalParameters field;
    // The owned rows.
    Rows rows;
};
HILBRIUM_SIZE(ExternalAccelerationArguments, 144)
HILBRIUM_OFFSET(ExternalAccelerationArguments, position, 0)
HILBRIUM_OFFSET(ExternalAccelerationArguments, acceleration, 24)
HILBRIUM_OFFSET(ExternalAccelerationArguments, field, 48)
HILBRIUM_OFFSET(ExternalAccelerationArguments, rows, 136)

// Energy of the particles in the field.
struct ExternalEnergyArguments {
    // Positions.
    const double* position[3];
    // Masses.
    const double* mass;
    // The field.
    ExternalParameters field;
    // The owned rows.
    Rows rows;
    // One column with one value per block.
    double* partial;
};
HILBRIUM_SIZE(ExternalEnergyArguments, 136)
HILBRIUM_OFFSET(ExternalEnergyArguments, position, 0)
HILBRIUM_OFFSET(ExternalEnergyArguments, mass, 24)
HILBRIUM_OFFSET(ExternalEnergyArguments, field, 32)
HILBRIUM_OFFSET(ExternalEnergyArguments, rows, 120)
HILBRIUM_OFFSET(ExternalEnergyArguments, partial, 128)

}  // namespace hilbrium

extern "C" __global__ void external_acceleration(
    const __grid_constant__ hilbrium::ExternalAccelerationArguments args);
extern "C" __global__ void external_energy(
    const __grid_constant__ hilbrium::ExternalEnergyArguments args);
