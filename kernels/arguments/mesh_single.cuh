// Printed from src/device/arguments: change it there, then run
// HILBRIUM_PRINT=1 cargo test --test device kernel_arguments
#pragma once

#include "../arguments/layout.cuh"
#include "../arguments/mesh_mesh.cuh"
#include "../pair/real.cuh"

namespace hilbrium {

namespace mesh { struct Record; }

// Number of entries of each row.
struct CountPointsArguments {
    // The mesh's shape.
    MeshParameters geometry;
    // The particles.
    const mesh::Record* records;
    // Number of particles.
    unsigned count;
    // The counts, initially 0.
    unsigned* counts;
};
HILBRIUM_SIZE(CountPointsArguments, 88)
HILBRIUM_OFFSET(CountPointsArguments, geometry, 0)
HILBRIUM_OFFSET(CountPointsArguments, records, 64)
HILBRIUM_OFFSET(CountPointsArguments, count, 72)
HILBRIUM_OFFSET(CountPointsArguments, counts, 80)

// Entries in their rows.
struct InsertPointsArguments {
    // The mesh's shape.
    MeshParameters geometry;
    // The particles.
    const mesh::Record* records;
    // Number of particles.
    unsigned count;
    // Number of entries of each row, then 0.
    unsigned* counts;
    // First entry of each row.
    const unsigned long long* starts;
    // Columns of entries.
    unsigned* columns;
    // Weights of entries, if they are stored.
    Real* weights;
};
HILBRIUM_SIZE(InsertPointsArguments, 112)
HILBRIUM_OFFSET(InsertPointsArguments, geometry, 0)
HILBRIUM_OFFSET(InsertPointsArguments, records, 64)
HILBRIUM_OFFSET(InsertPointsArguments, count, 72)
HILBRIUM_OFFSET(InsertPointsArguments, counts, 80)
HILBRIUM_OFFSET(InsertPointsArguments, starts, 88)
HILBRIUM_OFFSET(InsertPointsArguments, columns, 96)
HILBRIUM_OFFSET(InsertPointsArguments, weights, 104)

// Product of the matrix and values.
struct MultiplyRowsArguments {
    // The mesh's shape.
    MeshParameters geometry;
    // The particles.
    const mesh::Record* records;
    // Values of the particles.
    const double* values;
    // First entry of each row, then their number.
    const unsigned long long* starts;
    // Columns of entries.
    const unsigned* columns;
    // Weights of entries, if they are stored.
    const Real* weights;
    // Number of rows.
    unsigned points;
    // The mesh.
    Real* sums;
};
HILBRIUM_SIZE(MultiplyRowsArguments, 120)
HILBRIUM_OFFSET(MultiplyRowsArguments, geometry, 0)
HILBRIUM_OFFSET(MultiplyRowsArguments, records, 64)
HILBRIUM_OFFSET(MultiplyRowsArguments, values, 72)
HILBRIUM_OFFSET(MultiplyRowsArguments, starts, 80)
HILBRIUM_OFFSET(MultiplyRowsArguments, columns, 88)
HILBRIUM_OFFSET(MultiplyRowsArguments, weights, 96)
HILBRIUM_OFFSET(MultiplyRowsArguments, points, 104)
HILBRIUM_OFFSET(MultiplyRowsArguments, sums, 112)

}  // namespace hilbrium

extern "C" __global__ void count_points(
    const __grid_constant__ hilbrium::CountPointsArguments args);
extern "C" __global__ void insert_points(
    const __grid_constant__ hilbrium::InsertPointsArguments args);
extern "C" __global__ void multiply_rows(
    const __grid_constant__ hilbrium::MultiplyRowsArguments args);
