// Printed from src/device/arguments: change it there, then run
// HILBRIUM_PRINT=1 cargo test --test device kernel_arguments
#pragma once

#include "../arguments/layout.cuh"
#include "../arguments/mesh_mesh.cuh"
#include "../pair/real.cuh"

namespace hilbrium {

namespace mesh { struct Record; }

// Number of entries of each group.
struct CountGroupsArguments {
    // The mesh's shape.
    MeshParameters geometry;
    // The particles.
    const mesh::Record* records;
    // Number of particles.
    unsigned count;
    // The counts, initially 0.
    unsigned* counts;
};
HILBRIUM_SIZE(CountGroupsArguments, 88)
HILBRIUM_OFFSET(CountGroupsArguments, geometry, 0)
HILBRIUM_OFFSET(CountGroupsArguments, records, 64)
HILBRIUM_OFFSET(CountGroupsArguments, count, 72)
HILBRIUM_OFFSET(CountGroupsArguments, counts, 80)

// Entries in their groups.
struct InsertGroupsArguments {
    // The mesh's shape.
    MeshParameters geometry;
    // The particles.
    const mesh::Record* records;
    // Number of particles.
    unsigned count;
    // Number of entries of each group, then 0.
    unsigned* counts;
    // First entry of each group.
    const unsigned long long* starts;
    // Columns of entries.
    unsigned* columns;
    // Points of entries within their groups.
    unsigned char* places;
    // Weights of entries, if they are stored.
    Real* weights;
};
HILBRIUM_SIZE(InsertGroupsArguments, 120)
HILBRIUM_OFFSET(InsertGroupsArguments, geometry, 0)
HILBRIUM_OFFSET(InsertGroupsArguments, records, 64)
HILBRIUM_OFFSET(InsertGroupsArguments, count, 72)
HILBRIUM_OFFSET(InsertGroupsArguments, counts, 80)
HILBRIUM_OFFSET(InsertGroupsArguments, starts, 88)
HILBRIUM_OFFSET(InsertGroupsArguments, columns, 96)
HILBRIUM_OFFSET(InsertGroupsArguments, places, 104)
HILBRIUM_OFFSET(InsertGroupsArguments, weights, 112)

// Product of the matrix and values.
struct MultiplyGroupsArguments {
    // The mesh's shape.
    MeshParameters geometry;
    // The particles.
    const mesh::Record* records;
    // Values of the particles.
    const double* values;
    // First entry of each group, then their number.
    const unsigned long long* starts;
    // Columns of entries.
    const unsigned* columns;
    // Points of entries within their groups.
    const unsigned char* places;
    // Weights of entries, if they are stored.
    const Real* weights;
    // Number of groups.
    unsigned groups;
    // Number of mesh points.
    unsigned points;
    // The mesh.
    Real* sums;
};
HILBRIUM_SIZE(MultiplyGroupsArguments, 128)
HILBRIUM_OFFSET(MultiplyGroupsArguments, geometry, 0)
HILBRIUM_OFFSET(MultiplyGroupsArguments, records, 64)
HILBRIUM_OFFSET(MultiplyGroupsArguments, values, 72)
HILBRIUM_OFFSET(MultiplyGroupsArguments, starts, 80)
HILBRIUM_OFFSET(MultiplyGroupsArguments, columns, 88)
HILBRIUM_OFFSET(MultiplyGroupsArguments, places, 96)
HILBRIUM_OFFSET(MultiplyGroupsArguments, weights, 104)
HILBRIUM_OFFSET(MultiplyGroupsArguments, groups, 112)
HILBRIUM_OFFSET(MultiplyGroupsArguments, points, 116)
HILBRIUM_OFFSET(MultiplyGroupsArguments, sums, 120)

}  // namespace hilbrium

extern "C" __global__ void count_groups(
    const __grid_constant__ hilbrium::CountGroupsArguments args);
extern "C" __global__ void insert_groups(
    const __grid_constant__ hilbrium::InsertGroupsArguments args);
extern "C" __global__ void multiply_groups(
    const __grid_constant__ hilbrium::MultiplyGroupsArguments args);
