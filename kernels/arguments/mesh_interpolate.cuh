// Printed from src/device/arguments: change it there, then run
// HILBRIUM_PRINT=1 cargo test --test device kernel_arguments
#pragma once

#include "../arguments/layout.cuh"
#include "../arguments/mesh_mesh.cuh"
#include "../arguments/shared.cuh"
#include "../pair/real.cuh"

namespace hilbrium {

namespace mesh { struct Record; }

// Columns to which interpolated values are added.
struct InterpolationColumns {
    // Weights of rows (charges or masses), or null for 1.
    const double* weights;
    // Factor of forces, which are -factor * weight * gradient.
    double force_factor;
    // Factor of potentials.
    double potential_factor;
    // Forces.
    double* force[3];
    // Potential or energy.
    double* potential;
};
HILBRIUM_SIZE(InterpolationColumns, 56)
HILBRIUM_OFFSET(InterpolationColumns, weights, 0)
HILBRIUM_OFFSET(InterpolationColumns, force_factor, 8)
HILBRIUM_OFFSET(InterpolationColumns, potential_factor, 16)
HILBRIUM_OFFSET(InterpolationColumns, force, 24)
HILBRIUM_OFFSET(InterpolationColumns, potential, 48)

// Interpolation with a thread per row.
struct InterpolateRowsArguments {
    // Positions.
    const double* position[3];
    // The mesh's shape.
    MeshParameters geometry;
    // The rows.
    Rows rows;
    // The mesh.
    const Real* mesh;
    // What receives the values.
    InterpolationColumns to;
};
HILBRIUM_SIZE(InterpolateRowsArguments, 160)
HILBRIUM_OFFSET(InterpolateRowsArguments, position, 0)
HILBRIUM_OFFSET(InterpolateRowsArguments, geometry, 24)
HILBRIUM_OFFSET(InterpolateRowsArguments, rows, 88)
HILBRIUM_OFFSET(InterpolateRowsArguments, mesh, 96)
HILBRIUM_OFFSET(InterpolateRowsArguments, to, 104)

// Interpolation of binned particles.
struct InterpolateBinsArguments {
    // The mesh's shape.
    MeshParameters geometry;
    // The particles.
    BinnedRecords binned;
    // Their number.
    unsigned count;
    // The mesh.
    const Real* mesh;
    // What receives the values.
    InterpolationColumns to;
};
HILBRIUM_SIZE(InterpolateBinsArguments, 160)
HILBRIUM_OFFSET(InterpolateBinsArguments, geometry, 0)
HILBRIUM_OFFSET(InterpolateBinsArguments, binned, 64)
HILBRIUM_OFFSET(InterpolateBinsArguments, count, 88)
HILBRIUM_OFFSET(InterpolateBinsArguments, mesh, 96)
HILBRIUM_OFFSET(InterpolateBinsArguments, to, 104)

}  // namespace hilbrium

extern "C" __global__ void interpolate_rows(
    const __grid_constant__ hilbrium::InterpolateRowsArguments args);
extern "C" __global__ void interpolate_bins(
    const __grid_constant__ hilbrium::InterpolateBinsArguments args);
