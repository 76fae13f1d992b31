// Printed from src/device/arguments: change it there, then run
// HILBRIUM_PRINT=1 cargo test --test device kernel_arguments
#pragma once

#include "../arguments/layout.cuh"
#include "../arguments/shared.cuh"

namespace hilbrium {

// Sums over blocks.
struct FinishSumsArguments {
    // Columns with one value per block.
    const double* partial;
    // Number of blocks.
    unsigned blocks;
    // The sum of each column.
    double* sums;
};
HILBRIUM_SIZE(FinishSumsArguments, 24)
HILBRIUM_OFFSET(FinishSumsArguments, partial, 0)
HILBRIUM_OFFSET(FinishSumsArguments, blocks, 8)
HILBRIUM_OFFSET(FinishSumsArguments, sums, 16)

// Mass, momentum and kinetic energy.
struct WholeMotionArguments {
    // Velocities.
    const double* velocity[3];
    // Masses.
    const double* mass;
    // The owned rows.
    Rows rows;
    // Five columns with one value per block.
    double* partial;
};
HILBRIUM_SIZE(WholeMotionArguments, 48)
HILBRIUM_OFFSET(WholeMotionArguments, velocity, 0)
HILBRIUM_OFFSET(WholeMotionArguments, mass, 24)
HILBRIUM_OFFSET(WholeMotionArguments, rows, 32)
HILBRIUM_OFFSET(WholeMotionArguments, partial, 40)

// Scaling and shift of velocities.
struct ScaleVelocitiesArguments {
    // Velocities.
    double* velocity[3];
    // The factor.
    double scale;
    // The shift.
    double offset[3];
    // The owned rows.
    Rows rows;
};
HILBRIUM_SIZE(ScaleVelocitiesArguments, 64)
HILBRIUM_OFFSET(ScaleVelocitiesArguments, velocity, 0)
HILBRIUM_OFFSET(ScaleVelocitiesArguments, scale, 24)
HILBRIUM_OFFSET(ScaleVelocitiesArguments, offset, 32)
HILBRIUM_OFFSET(ScaleVelocitiesArguments, rows, 56)

}  // namespace hilbrium

extern "C" __global__ void finish_sums(
    const __grid_constant__ hilbrium::FinishSumsArguments args);
extern "C" __global__ void whole_motion(
    const __grid_constant__ hilbrium::WholeMotionArguments args);
extern "C" __global__ void scale_velocities(
    const __grid_constant__ hilbrium::ScaleVelocitiesArguments args);
