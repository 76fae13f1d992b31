// Printed from src/device/arguments: change it there, then run
// HILBRIUM_PRINT=1 cargo test --test device kernel_arguments
#pragma once

#include "../arguments/layout.cuh"

namespace hilbrium {

struct Extent;

// The first row of each leaf.
struct FirstRowsArguments {
    // Sorted keys.
    const unsigned long long* keys;
    // Number of keys.
    unsigned rows;
    // Lower bounds of the leaves' keys.
    const unsigned long long* bounds;
    // Number of bounds.
    unsigned count;
    // The first row of each bound.
    unsigned* first;
};
HILBRIUM_SIZE(FirstRowsArguments, 40)
HILBRIUM_OFFSET(FirstRowsArguments, keys, 0)
HILBRIUM_OFFSET(FirstRowsArguments, rows, 8)
HILBRIUM_OFFSET(FirstRowsArguments, bounds, 16)
HILBRIUM_OFFSET(FirstRowsArguments, count, 24)
HILBRIUM_OFFSET(FirstRowsArguments, first, 32)

// Boxes and largest radii of leaves.
struct LeafExtentsArguments {
    // First row of each leaf, then the end.
    const unsigned* first;
    // Centers of the hierarchy's nodes.
    const double* center;
    // Half widths and largest radii of the hierarchy's nodes.
    const float4* extent;
    // Number of nodes.
    unsigned nodes;
    // Unit of length of extents.
    double unit;
    // The largest radius.
    double largest;
    // The boxes.
    Extent* extents;
};
HILBRIUM_SIZE(LeafExtentsArguments, 56)
HILBRIUM_OFFSET(LeafExtentsArguments, first, 0)
HILBRIUM_OFFSET(LeafExtentsArguments, center, 8)
HILBRIUM_OFFSET(LeafExtentsArguments, extent, 16)
HILBRIUM_OFFSET(LeafExtentsArguments, nodes, 24)
HILBRIUM_OFFSET(LeafExtentsArguments, unit, 32)
HILBRIUM_OFFSET(LeafExtentsArguments, largest, 40)
HILBRIUM_OFFSET(LeafExtentsArguments, extents, 48)

}  // namespace hilbrium

extern "C" __global__ void first_rows(
    const __grid_constant__ hilbrium::FirstRowsArguments args);
extern "C" __global__ void leaf_extents(
    const __grid_constant__ hilbrium::LeafExtentsArguments args);
