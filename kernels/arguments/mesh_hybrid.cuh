// Printed from src/device/arguments: change it there, then run
// HILBRIUM_PRINT=1 cargo test --test device kernel_arguments
#pragma once

#include "../arguments/layout.cuh"
#include "../arguments/mesh_mesh.cuh"
#include "../pair/real.cuh"

namespace hilbrium {

namespace mesh { struct Record; }

// Number of entries beyond the rectangle.
struct FindExcessArguments {
    // Number of entries of each row.
    const unsigned* counts;
    // Number of rows.
    unsigned points;
    // Entries per row of the rectangle.
    unsigned width;
    // Number of those beyond the rectangle.
    unsigned* excess;
};
HILBRIUM_SIZE(FindExcessArguments, 24)
HILBRIUM_OFFSET(FindExcessArguments, counts, 0)
HILBRIUM_OFFSET(FindExcessArguments, points, 8)
HILBRIUM_OFFSET(FindExcessArguments, width, 12)
HILBRIUM_OFFSET(FindExcessArguments, excess, 16)

// Entries in the rectangle and in the list.
struct InsertHybridArguments {
    // The mesh's shape.
    MeshParameters geometry;
    // The particles.
    const mesh::Record* records;
    // Number of particles.
    unsigned count;
    // Number of entries of each row, then 0.
    unsigned* counts;
    // Number of rows.
    unsigned points;
    // Entries per row of the rectangle.
    unsigned width;
    // Columns of the rectangle, initially all ones.
    unsigned* columns;
    // Weights of the rectangle, if they are stored.
    Real* weights;
    // First entry of the list of each row.
    const unsigned long long* excess_starts;
    // Points of the list.
    unsigned* excess_points;
    // Columns of the list.
    unsigned* excess_columns;
    // Weights of the list, if they are stored.
    Real* excess_weights;
};
HILBRIUM_SIZE(InsertHybridArguments, 144)
HILBRIUM_OFFSET(InsertHybridArguments, geometry, 0)
HILBRIUM_OFFSET(InsertHybridArguments, records, 64)
HILBRIUM_OFFSET(InsertHybridArguments, count, 72)
HILBRIUM_OFFSET(InsertHybridArguments, counts, 80)
HILBRIUM_OFFSET(InsertHybridArguments, points, 88)
HILBRIUM_OFFSET(InsertHybridArguments, width, 92)
HILBRIUM_OFFSET(InsertHybridArguments, columns, 96)
HILBRIUM_OFFSET(InsertHybridArguments, weights, 104)
HILBRIUM_OFFSET(InsertHybridArguments, excess_starts, 112)
HILBRIUM_OFFSET(InsertHybridArguments, excess_points, 120)
HILBRIUM_OFFSET(InsertHybridArguments, excess_columns, 128)
HILBRIUM_OFFSET(InsertHybridArguments, excess_weights, 136)

// Product of the rectangle and values.
struct MultiplyRectangleArguments {
    // The mesh's shape.
    MeshParameters geometry;
    // The particles.
    const mesh::Record* records;
    // Values of the particles.
    const double* values;
    // Columns of the rectangle.
    const unsigned* columns;
    // Weights of the rectangle, if they are stored.
    const Real* weights;
    // Number of rows.
    unsigned points;
    // Entries per row of the rectangle.
    unsigned width;
    // The mesh.
    Real* sums;
};
HILBRIUM_SIZE(MultiplyRectangleArguments, 112)
HILBRIUM_OFFSET(MultiplyRectangleArguments, geometry, 0)
HILBRIUM_OFFSET(MultiplyRectangleArguments, records, 64)
HILBRIUM_OFFSET(MultiplyRectangleArguments, values, 72)
HILBRIUM_OFFSET(MultiplyRectangleArguments, columns, 80)
HILBRIUM_OFFSET(MultiplyRectangleArguments, weights, 88)
HILBRIUM_OFFSET(MultiplyRectangleArguments, points, 96)
HILBRIUM_OFFSET(MultiplyRectangleArguments, width, 100)
HILBRIUM_OFFSET(MultiplyRectangleArguments, sums, 104)

// Product of the list and values.
struct MultiplyExcessArguments {
    // The mesh's shape.
    MeshParameters geometry;
    // The particles.
    const mesh::Record* records;
    // Values of the particles.
    const double* values;
    // Points of the list.
    const unsigned* excess_points;
    // Columns of the list.
    const unsigned* excess_columns;
    // Weights of the list, if they are stored.
    const Real* excess_weights;
    // Length of the list.
    unsigned long long excess;
    // The mesh.
    Real* sums;
};
HILBRIUM_SIZE(MultiplyExcessArguments, 120)
HILBRIUM_OFFSET(MultiplyExcessArguments, geometry, 0)
HILBRIUM_OFFSET(MultiplyExcessArguments, records, 64)
HILBRIUM_OFFSET(MultiplyExcessArguments, values, 72)
HILBRIUM_OFFSET(MultiplyExcessArguments, excess_points, 80)
HILBRIUM_OFFSET(MultiplyExcessArguments, excess_columns, 88)
HILBRIUM_OFFSET(MultiplyExcessArguments, excess_weights, 96)
HILBRIUM_OFFSET(MultiplyExcessArguments, excess, 104)
HILBRIUM_OFFSET(MultiplyExcessArguments, sums, 112)

}  // namespace hilbrium

extern "C" __global__ void find_excess(
    const __grid_constant__ hilbrium::FindExcessArguments args);
extern "C" __global__ void insert_hybrid(
    const __grid_constant__ hilbrium::InsertHybridArguments args);
extern "C" __global__ void multiply_rectangle(
    const __grid_constant__ hilbrium::MultiplyRectangleArguments args);
extern "C" __global__ void multiply_excess(
    const __grid_constant__ hilbrium::MultiplyExcessArguments args);
