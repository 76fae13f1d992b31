// Printed from src/device/arguments: change it there, then run
// HILBRIUM_PRINT=1 cargo test --test device kernel_arguments
#pragma once

#include "../arguments/layout.cuh"

namespace hilbrium {

// The nodes of a hierarchy.
struct HierarchyNodes {
    // Centers: three columns of all nodes.
    double* center;
    // Half widths and largest radius of each node.
    float* extent;
    // One over the unit of length of extents.
    double scale;
    // Number of rows.
    unsigned rows;
    // Number of levels.
    unsigned levels;
    // Number of nodes.
    unsigned count;
};
HILBRIUM_SIZE(HierarchyNodes, 40)
HILBRIUM_OFFSET(HierarchyNodes, center, 0)
HILBRIUM_OFFSET(HierarchyNodes, extent, 8)
HILBRIUM_OFFSET(HierarchyNodes, scale, 16)
HILBRIUM_OFFSET(HierarchyNodes, rows, 24)
HILBRIUM_OFFSET(HierarchyNodes, levels, 28)
HILBRIUM_OFFSET(HierarchyNodes, count, 32)

// Levels 0 to 2.
struct HierarchyFromRowsArguments {
    // Positions.
    const double* position[3];
    // Radii, or null where all rows have the same.
    const double* radius;
    // The radius of all rows.
    double radius_of_all;
    // Identities, or null without ghosts.
    const unsigned long long* id;
    // The nodes.
    HierarchyNodes nodes;
    // Exact bounds of the nodes of level 2, or null.
    double* bounds;
};
HILBRIUM_SIZE(HierarchyFromRowsArguments, 96)
HILBRIUM_OFFSET(HierarchyFromRowsArguments, position, 0)
HILBRIUM_OFFSET(HierarchyFromRowsArguments, radius, 24)
HILBRIUM_OFFSET(HierarchyFromRowsArguments, radius_of_all, 32)
HILBRIUM_OFFSET(HierarchyFromRowsArguments, id, 40)
HILBRIUM_OFFSET(HierarchyFromRowsArguments, nodes, 48)
HILBRIUM_OFFSET(HierarchyFromRowsArguments, bounds, 88)

// Three more levels.
struct HierarchyAboveArguments {
    // Exact bounds of the level below.
    const double* below;
    // The lowest level to build.
    unsigned level;
    // The nodes.
    HierarchyNodes nodes;
    // Exact bounds of the nodes of the highest level, or null.
    double* bounds;
};
HILBRIUM_SIZE(HierarchyAboveArguments, 64)
HILBRIUM_OFFSET(HierarchyAboveArguments, below, 0)
HILBRIUM_OFFSET(HierarchyAboveArguments, level, 8)
HILBRIUM_OFFSET(HierarchyAboveArguments, nodes, 16)
HILBRIUM_OFFSET(HierarchyAboveArguments, bounds, 56)

// The largest radius.
struct LargestRadiusArguments {
    // Radii.
    const double* radius;
    // Identities, or null without ghosts.
    const unsigned long long* id;
    // Number of rows.
    unsigned rows;
    // The largest radius, as the bits of a double; initially 0.
    unsigned long long* largest;
};
HILBRIUM_SIZE(LargestRadiusArguments, 32)
HILBRIUM_OFFSET(LargestRadiusArguments, radius, 0)
HILBRIUM_OFFSET(LargestRadiusArguments, id, 8)
HILBRIUM_OFFSET(LargestRadiusArguments, rows, 16)
HILBRIUM_OFFSET(LargestRadiusArguments, largest, 24)

}  // namespace hilbrium

extern "C" __global__ void hierarchy_from_rows(
    const __grid_constant__ hilbrium::HierarchyFromRowsArguments args);
extern "C" __global__ void hierarchy_above(
    const __grid_constant__ hilbrium::HierarchyAboveArguments args);
extern "C" __global__ void largest_radius(
    const __grid_constant__ hilbrium::LargestRadiusArguments args);
