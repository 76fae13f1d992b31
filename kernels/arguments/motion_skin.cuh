// Printed from src/device/arguments: change it there, then run
// HILBRIUM_PRINT=1 cargo test --test device kernel_arguments
#pragma once

#include "../arguments/layout.cuh"
#include "../arguments/shared.cuh"

namespace hilbrium {

// Largest squared displacement since the list was built.
struct FarthestWayArguments {
    // Positions.
    const double* position[3];
    // Positions when the list was built, from the first owned row on.
    const double* then[3];
    // The box.
    BoxParameters bx;
    // The owned rows.
    Rows rows;
    // The largest square.
    unsigned long long* largest_square;
};
HILBRIUM_SIZE(FarthestWayArguments, 168)
HILBRIUM_OFFSET(FarthestWayArguments, position, 0)
HILBRIUM_OFFSET(FarthestWayArguments, then, 24)
HILBRIUM_OFFSET(FarthestWayArguments, bx, 48)
HILBRIUM_OFFSET(FarthestWayArguments, rows, 152)
HILBRIUM_OFFSET(FarthestWayArguments, largest_square, 160)

// Largest fraction of a radius that displacement and growth have used up.
struct SkinUsedArguments {
    // Positions.
    const double* position[3];
    // Smoothing lengths.
    const double* smoothing_length;
    // Positions when the list was built, from the first owned row on.
    const double* then[3];
    // Radii when the list was built, without the skin.
    const double* reach_then;
    // Radius over smoothing length.
    double factor;
    // The box.
    BoxParameters bx;
    // The owned rows.
    Rows rows;
    // The largest fraction.
    unsigned long long* used;
};
HILBRIUM_SIZE(SkinUsedArguments, 192)
HILBRIUM_OFFSET(SkinUsedArguments, position, 0)
HILBRIUM_OFFSET(SkinUsedArguments, smoothing_length, 24)
HILBRIUM_OFFSET(SkinUsedArguments, then, 32)
HILBRIUM_OFFSET(SkinUsedArguments, reach_then, 56)
HILBRIUM_OFFSET(SkinUsedArguments, factor, 64)
HILBRIUM_OFFSET(SkinUsedArguments, bx, 72)
HILBRIUM_OFFSET(SkinUsedArguments, rows, 176)
HILBRIUM_OFFSET(SkinUsedArguments, used, 184)

// Largest support that the list still covers, by row.
struct SkinLimitsArguments {
    // Positions.
    const double* position[3];
    // Positions when the list was built, from the first owned row on.
    const double* then[3];
    // Radii when the list was built, without the skin.
    const double* reach_then;
    // The skin as a fraction of the radius.
    double skin;
    // The box.
    BoxParameters bx;
    // The owned rows.
    Rows rows;
    // The limits.
    double* limit;
};
HILBRIUM_SIZE(SkinLimitsArguments, 184)
HILBRIUM_OFFSET(SkinLimitsArguments, position, 0)
HILBRIUM_OFFSET(SkinLimitsArguments, then, 24)
HILBRIUM_OFFSET(SkinLimitsArguments, reach_then, 48)
HILBRIUM_OFFSET(SkinLimitsArguments, skin, 56)
HILBRIUM_OFFSET(SkinLimitsArguments, bx, 64)
HILBRIUM_OFFSET(SkinLimitsArguments, rows, 168)
HILBRIUM_OFFSET(SkinLimitsArguments, limit, 176)

}  // namespace hilbrium

extern "C" __global__ void farthest_way(
    const __grid_constant__ hilbrium::FarthestWayArguments args);
extern "C" __global__ void skin_used(
    const __grid_constant__ hilbrium::SkinUsedArguments args);
extern "C" __global__ void skin_limits(
    const __grid_constant__ hilbrium::SkinLimitsArguments args);
