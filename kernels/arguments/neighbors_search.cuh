// Printed from src/device/arguments: change it there, then run
// HILBRIUM_PRINT=1 cargo test --test device kernel_arguments
#pragma once

#include "../arguments/layout.cuh"
#include "../arguments/shared.cuh"

namespace hilbrium {

// A search for neighbor clusters: columns of all rows and the hierarchy over them.
struct ListSearch {
    // Positions.
    const double* position[3];
    // Interaction radii, skin included.
    const double* radius;
    // Identities.
    const unsigned long long* id;
    // Centers of the hierarchy's nodes: three columns of all nodes.
    const double* center;
    // Half widths and largest radii of the hierarchy's nodes.
    const float4* extent;
    // The largest magnitude of a coordinate, or null for a search without rounding slack.
    const double* magnitude;
    // One over the hierarchy's unit of length, a power of two.
    double scale;
    // Edges along periodic dimensions, 0 along open ones.
    double period[3];
    // Number of rows.
    unsigned rows;
    // The owned rows, which begin with a super-cluster.
    Rows owned;
    // Not 0: pairs of owned rows appear once.
    unsigned symmetric;
    // Number of nodes.
    unsigned nodes;
};
HILBRIUM_SIZE(ListSearch, 120)
HILBRIUM_OFFSET(ListSearch, position, 0)
HILBRIUM_OFFSET(ListSearch, radius, 24)
HILBRIUM_OFFSET(ListSearch, id, 32)
HILBRIUM_OFFSET(ListSearch, center, 40)
HILBRIUM_OFFSET(ListSearch, extent, 48)
HILBRIUM_OFFSET(ListSearch, magnitude, 56)
HILBRIUM_OFFSET(ListSearch, scale, 64)
HILBRIUM_OFFSET(ListSearch, period, 72)
HILBRIUM_OFFSET(ListSearch, rows, 96)
HILBRIUM_OFFSET(ListSearch, owned, 100)
HILBRIUM_OFFSET(ListSearch, symmetric, 108)
HILBRIUM_OFFSET(ListSearch, nodes, 112)

// The records of a cluster list.
struct ListRecords {
    // Nibble codes.
    const unsigned char* data;
    // Offsets of records in the codes.
    const unsigned long long* offsets;
    // Entries of each record.
    const unsigned* counts;
};
HILBRIUM_SIZE(ListRecords, 24)
HILBRIUM_OFFSET(ListRecords, data, 0)
HILBRIUM_OFFSET(ListRecords, offsets, 8)
HILBRIUM_OFFSET(ListRecords, counts, 16)

}  // namespace hilbrium
