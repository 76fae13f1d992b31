// Printed from src/device/arguments: change it there, then run
// HILBRIUM_PRINT=1 cargo test --test device kernel_arguments
#pragma once

#include "../arguments/layout.cuh"
#include "../arguments/mesh_mesh.cuh"
#include "../pair/real.cuh"

namespace hilbrium {

namespace mesh { struct Record; }

// Particles placed on points.
struct PlaceOnPointsArguments {
    // The mesh's shape.
    MeshParameters geometry;
    // The particles.
    const mesh::Record* records;
    // Number of particles.
    unsigned count;
    // Particle of each point, initially all ones.
    unsigned* holders;
    // Particles without a point.
    unsigned* overflow;
    // Their number, initially 0.
    unsigned* overflowing;
};
HILBRIUM_SIZE(PlaceOnPointsArguments, 104)
HILBRIUM_OFFSET(PlaceOnPointsArguments, geometry, 0)
HILBRIUM_OFFSET(PlaceOnPointsArguments, records, 64)
HILBRIUM_OFFSET(PlaceOnPointsArguments, count, 72)
HILBRIUM_OFFSET(PlaceOnPointsArguments, holders, 80)
HILBRIUM_OFFSET(PlaceOnPointsArguments, overflow, 88)
HILBRIUM_OFFSET(PlaceOnPointsArguments, overflowing, 96)

// Sums that points gather.
struct GatherPointsArguments {
    // The mesh's shape.
    MeshParameters geometry;
    // The particles.
    const mesh::Record* records;
    // Values of the particles.
    const double* values;
    // Particle of each point.
    const unsigned* holders;
    // The mesh.
    Real* sums;
};
HILBRIUM_SIZE(GatherPointsArguments, 96)
HILBRIUM_OFFSET(GatherPointsArguments, geometry, 0)
HILBRIUM_OFFSET(GatherPointsArguments, records, 64)
HILBRIUM_OFFSET(GatherPointsArguments, values, 72)
HILBRIUM_OFFSET(GatherPointsArguments, holders, 80)
HILBRIUM_OFFSET(GatherPointsArguments, sums, 88)

// Particles without a point, added atomically.
struct SpreadOverflowArguments {
    // The mesh's shape.
    MeshParameters geometry;
    // The particles.
    const mesh::Record* records;
    // Values of the particles.
    const double* values;
    // Particles without a point.
    const unsigned* overflow;
    // Their number.
    const unsigned* overflowing;
    // The mesh.
    Real* sums;
};
HILBRIUM_SIZE(SpreadOverflowArguments, 104)
HILBRIUM_OFFSET(SpreadOverflowArguments, geometry, 0)
HILBRIUM_OFFSET(SpreadOverflowArguments, records, 64)
HILBRIUM_OFFSET(SpreadOverflowArguments, values, 72)
HILBRIUM_OFFSET(SpreadOverflowArguments, overflow, 80)
HILBRIUM_OFFSET(SpreadOverflowArguments, overflowing, 88)
HILBRIUM_OFFSET(SpreadOverflowArguments, sums, 96)

}  // namespace hilbrium

extern "C" __global__ void place_on_points(
    const __grid_constant__ hilbrium::PlaceOnPointsArguments args);
extern "C" __global__ void gather_points(
    const __grid_constant__ hilbrium::GatherPointsArguments args);
extern "C" __global__ void spread_overflow(
    const __grid_constant__ hilbrium::SpreadOverflowArguments args);
