// Printed from src/device/arguments: change it there, then run
// HILBRIUM_PRINT=1 cargo test --test device kernel_arguments
#pragma once

#include "../arguments/layout.cuh"
#include "../arguments/shared.cuh"

namespace hilbrium {

// Mass, moments, net force and torque.
struct NetForceArguments {
    // Positions.
    const double* position[3];
    // Accelerations.
    const double* acceleration[3];
    // Masses.
    const double* mass;
    // Origin of the moments and torques.
    double origin[3];
    // The owned rows.
    Rows rows;
    // Sixteen columns with one value per block.
    double* partial;
};
HILBRIUM_SIZE(NetForceArguments, 96)
HILBRIUM_OFFSET(NetForceArguments, position, 0)
HILBRIUM_OFFSET(NetForceArguments, acceleration, 24)
HILBRIUM_OFFSET(NetForceArguments, mass, 48)
HILBRIUM_OFFSET(NetForceArguments, origin, 56)
HILBRIUM_OFFSET(NetForceArguments, rows, 80)
HILBRIUM_OFFSET(NetForceArguments, partial, 88)

// Subtraction of the field of a rigid motion.
struct SubtractRigidFieldArguments {
    // Positions.
    const double* position[3];
    // Accelerations.
    double* acceleration[3];
    // Center of mass.
    double center[3];
    // Acceleration of the center of mass.
    double linear[3];
    // Angular acceleration.
    double angular[3];
    // The owned rows.
    Rows rows;
};
HILBRIUM_SIZE(SubtractRigidFieldArguments, 128)
HILBRIUM_OFFSET(SubtractRigidFieldArguments, position, 0)
HILBRIUM_OFFSET(SubtractRigidFieldArguments, acceleration, 24)
HILBRIUM_OFFSET(SubtractRigidFieldArguments, center, 48)
HILBRIUM_OFFSET(SubtractRigidFieldArguments, linear, 72)
HILBRIUM_OFFSET(SubtractRigidFieldArguments, angular, 96)
HILBRIUM_OFFSET(SubtractRigidFieldArguments, rows, 120)

}  // namespace hilbrium

extern "C" __global__ void net_force(
    const __grid_constant__ hilbrium::NetForceArguments args);
extern "C" __global__ void subtract_rigid_field(
    const __grid_constant__ hilbrium::SubtractRigidFieldArguments args);
