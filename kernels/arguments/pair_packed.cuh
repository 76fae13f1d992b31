// Printed from src/device/arguments: change it there, then run
// HILBRIUM_PRINT=1 cargo test --test device kernel_arguments
#pragma once

#include "../arguments/layout.cuh"
#include "../pair/real.cuh"

namespace hilbrium {

namespace pair { struct Real4; }

// Output of `pack`.
struct PackedRows {
    // Offsets from the super-cluster's center, with the squared radius or the first prepared value.
    const pair::Real4* position;
    // Further prepared values: columns of groups of four.
    const pair::Real4* further;
    // Squared radii, if each row has its own cutoff.
    const Real* squared_radius;
    // Centers and half widths of super-clusters.
    const double* frame;
    // Boxes of clusters: center and largest radius, half widths.
    const float4* boxes;
    // Number of rows, a multiple of 64.
    unsigned long long rows;
};
HILBRIUM_SIZE(PackedRows, 48)
HILBRIUM_OFFSET(PackedRows, position, 0)
HILBRIUM_OFFSET(PackedRows, further, 8)
HILBRIUM_OFFSET(PackedRows, squared_radius, 16)
HILBRIUM_OFFSET(PackedRows, frame, 24)
HILBRIUM_OFFSET(PackedRows, boxes, 32)
HILBRIUM_OFFSET(PackedRows, rows, 40)

}  // namespace hilbrium
