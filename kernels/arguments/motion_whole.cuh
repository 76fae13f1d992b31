// Printed from src/device/arguments by HILBRIUM_PRINT=1 cargo test --test device kernel_arguments; do not edit.
#pragma once

#include "../arguments/layout.cuh"
#include "../arguments/shared.cuh"

namespace hilbrium {

// Sums over blocks.
struct FinishSumsArguments {
    // Columns of one value a block.
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
    // Five columns of one value a block.
    double* partial;
};
HILBRIUM_SIZE(WholeMotionArguments, 48)
HILBRIUM_OFFSET(WholeMotionArguments, velocity, 0)
HILBRIUM_OFFSET(WholeMotionArguments, mass, 24)
HILBRIUM_OFFSET(WholeMotionArguments, rows, 32)
HILBRIUM_OFFSET(WholeMotionArguments, partial, 40)

// Velocities scaled and shifted.
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

extern "C" __global__ void finish_sums(const __grid_constant__ hilbrium::FinishSumsArguments args);
extern "C" __global__ void whole_motion(const __grid_constant__ hilbrium::WholeMotionArguments args);
extern "C" __global__ void scale_velocities(const __grid_constant__ hilbrium::ScaleVelocitiesArguments args);
