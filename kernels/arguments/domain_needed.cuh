// Printed from src/device/arguments: change it there, then run
// HILBRIUM_PRINT=1 cargo test --test device kernel_arguments
#pragma once

#include "../arguments/layout.cuh"

namespace hilbrium {

struct Extent;

// Marks of the rows that another rank needs.
struct NeededRowsArguments {
    // Positions.
    const double* position[3];
    // Radii, or null where all rows have the same.
    const double* radius;
    // The radius of all rows.
    double radius_of_all;
    // Centers of the hierarchy's nodes.
    const double* center;
    // Half widths and largest radii of the hierarchy's nodes.
    const float4* extent;
    // Unit of length of extents.
    double unit;
    // The largest radius.
    double largest;
    // Number of rows.
    unsigned rows;
    // Number of nodes.
    unsigned nodes;
    // Node of the first super-cluster.
    unsigned offset;
    // Number of boxes.
    unsigned count;
    // Boxes of the other rank.
    const Extent* boxes;
    // Edges along periodic dimensions, 0 along open ones.
    double period[3];
    // Bounds of rounding errors.
    double rounding[3];
    // 1 for each row that is needed, else 0.
    unsigned char* marks;
};
HILBRIUM_SIZE(NeededRowsArguments, 152)
HILBRIUM_OFFSET(NeededRowsArguments, position, 0)
HILBRIUM_OFFSET(NeededRowsArguments, radius, 24)
HILBRIUM_OFFSET(NeededRowsArguments, radius_of_all, 32)
HILBRIUM_OFFSET(NeededRowsArguments, center, 40)
HILBRIUM_OFFSET(NeededRowsArguments, extent, 48)
HILBRIUM_OFFSET(NeededRowsArguments, unit, 56)
HILBRIUM_OFFSET(NeededRowsArguments, largest, 64)
HILBRIUM_OFFSET(NeededRowsArguments, rows, 72)
HILBRIUM_OFFSET(NeededRowsArguments, nodes, 76)
HILBRIUM_OFFSET(NeededRowsArguments, offset, 80)
HILBRIUM_OFFSET(NeededRowsArguments, count, 84)
HILBRIUM_OFFSET(NeededRowsArguments, boxes, 88)
HILBRIUM_OFFSET(NeededRowsArguments, period, 96)
HILBRIUM_OFFSET(NeededRowsArguments, rounding, 120)
HILBRIUM_OFFSET(NeededRowsArguments, marks, 144)

}  // namespace hilbrium

extern "C" __global__ void needed_rows(
    const __grid_constant__ hilbrium::NeededRowsArguments args);
