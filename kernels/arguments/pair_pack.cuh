// Printed from src/device/arguments: change it there, then run
// HILBRIUM_PRINT=1 cargo test --test device kernel_arguments
#pragma once

#include "../arguments/layout.cuh"
#include "../pair/real.cuh"

namespace hilbrium {

namespace pair { struct Real4; }

// Rows packed for a sweep.
struct PackArguments {
    // Positions.
    const double* position[3];
    // Interaction radii, or null where all pairs have one cutoff.
    const double* radius;
    // Identities, or null without ghosts.
    const unsigned long long* id;
    // The law's input columns, then null.
    const double* inputs[20];
    // Number of rows.
    unsigned long long rows;
    // The first super-cluster to pack.
    unsigned first_super_cluster;
    // One past the last super-cluster to pack.
    unsigned end_super_cluster;
    // Number of all super-clusters.
    unsigned super_clusters;
    // Offsets from the super-cluster's center, with the squared radius or the first prepared value.
    pair::Real4* packed_position;
    // Further prepared values: columns of groups of four.
    pair::Real4* further;
    // Squared radii, if each row has its own cutoff.
    Real* squared_radius;
    // Centers and half widths of super-clusters.
    double* frame;
    // Boxes of clusters: center and largest radius, half widths.
    float* boxes;
};
HILBRIUM_SIZE(PackArguments, 264)
HILBRIUM_OFFSET(PackArguments, position, 0)
HILBRIUM_OFFSET(PackArguments, radius, 24)
HILBRIUM_OFFSET(PackArguments, id, 32)
HILBRIUM_OFFSET(PackArguments, inputs, 40)
HILBRIUM_OFFSET(PackArguments, rows, 200)
HILBRIUM_OFFSET(PackArguments, first_super_cluster, 208)
HILBRIUM_OFFSET(PackArguments, end_super_cluster, 212)
HILBRIUM_OFFSET(PackArguments, super_clusters, 216)
HILBRIUM_OFFSET(PackArguments, packed_position, 224)
HILBRIUM_OFFSET(PackArguments, further, 232)
HILBRIUM_OFFSET(PackArguments, squared_radius, 240)
HILBRIUM_OFFSET(PackArguments, frame, 248)
HILBRIUM_OFFSET(PackArguments, boxes, 256)

}  // namespace hilbrium

extern "C" __global__ void pack(
    const __grid_constant__ hilbrium::PackArguments args);
