// Printed from src/device/arguments: change it there, then run
// HILBRIUM_PRINT=1 cargo test --test device kernel_arguments
#pragma once

#include "../arguments/layout.cuh"
#include "../arguments/neighbors_overflow.cuh"
#include "../arguments/neighbors_search.cuh"
#include "../arguments/shared.cuh"

namespace hilbrium {

// The order in which records are built.
struct ListOrderArguments {
    // Half widths and largest radii of the hierarchy's nodes.
    const float4* extent;
    // Number of rows.
    unsigned rows;
    // The first super-cluster.
    unsigned first;
    // Number of super-clusters.
    unsigned super_clusters;
    // Records in the order of their builds.
    unsigned* order;
    // Numbers of long and of other builds put into the order, initially 0.
    unsigned* placed;
};
HILBRIUM_SIZE(ListOrderArguments, 40)
HILBRIUM_OFFSET(ListOrderArguments, extent, 0)
HILBRIUM_OFFSET(ListOrderArguments, rows, 8)
HILBRIUM_OFFSET(ListOrderArguments, first, 12)
HILBRIUM_OFFSET(ListOrderArguments, super_clusters, 16)
HILBRIUM_OFFSET(ListOrderArguments, order, 24)
HILBRIUM_OFFSET(ListOrderArguments, placed, 32)

// Build of records.
struct ListBuildArguments {
    // The search.
    ListSearch search;
    // The first super-cluster.
    unsigned first;
    // Number of super-clusters.
    unsigned super_clusters;
    // Records in the order of their builds, or null.
    const unsigned* order;
    // One slot per record: its first bytes.
    unsigned char* slots;
    // Bytes of a slot, a multiple of 4.
    unsigned slot;
    // Windows of records beyond their slots.
    RecordOverflow overflow;
    // Entries of each record.
    unsigned* counts;
    // Bytes of each record.
    unsigned* lengths;
    // 1 for each record without halo rows, else 0; or null.
    unsigned char* interior;
    // 1 for each record with halo rows, else 0; or null.
    unsigned char* boundary;
};
HILBRIUM_SIZE(ListBuildArguments, 208)
HILBRIUM_OFFSET(ListBuildArguments, search, 0)
HILBRIUM_OFFSET(ListBuildArguments, first, 120)
HILBRIUM_OFFSET(ListBuildArguments, super_clusters, 124)
HILBRIUM_OFFSET(ListBuildArguments, order, 128)
HILBRIUM_OFFSET(ListBuildArguments, slots, 136)
HILBRIUM_OFFSET(ListBuildArguments, slot, 144)
HILBRIUM_OFFSET(ListBuildArguments, overflow, 152)
HILBRIUM_OFFSET(ListBuildArguments, counts, 176)
HILBRIUM_OFFSET(ListBuildArguments, lengths, 184)
HILBRIUM_OFFSET(ListBuildArguments, interior, 192)
HILBRIUM_OFFSET(ListBuildArguments, boundary, 200)

// Copy of records from slots and overflow to their destination.
struct ListPlaceArguments {
    // Number of records.
    unsigned records;
    // Bytes of a slot.
    unsigned slot;
    // One slot per record.
    const unsigned char* slots;
    // Windows beyond the slots.
    const OverflowWindow* overflow;
    // Number of these windows.
    unsigned overflow_count;
    // Offsets of records.
    const unsigned long long* offsets;
    // Records.
    unsigned char* data;
};
HILBRIUM_SIZE(ListPlaceArguments, 48)
HILBRIUM_OFFSET(ListPlaceArguments, records, 0)
HILBRIUM_OFFSET(ListPlaceArguments, slot, 4)
HILBRIUM_OFFSET(ListPlaceArguments, slots, 8)
HILBRIUM_OFFSET(ListPlaceArguments, overflow, 16)
HILBRIUM_OFFSET(ListPlaceArguments, overflow_count, 24)
HILBRIUM_OFFSET(ListPlaceArguments, offsets, 32)
HILBRIUM_OFFSET(ListPlaceArguments, data, 40)

// The largest magnitude of a coordinate.
struct ListMagnitudeArguments {
    // Number of clusters.
    unsigned clusters;
    // Centers of the hierarchy's nodes.
    const double* center;
    // Half widths and largest radii of the hierarchy's nodes.
    const float4* extent;
    // Number of nodes.
    unsigned nodes;
    // Unit of length of extents.
    double unit;
    // The magnitude, as the bits of a double; initially 0.
    unsigned long long* magnitude;
};
HILBRIUM_SIZE(ListMagnitudeArguments, 48)
HILBRIUM_OFFSET(ListMagnitudeArguments, clusters, 0)
HILBRIUM_OFFSET(ListMagnitudeArguments, center, 8)
HILBRIUM_OFFSET(ListMagnitudeArguments, extent, 16)
HILBRIUM_OFFSET(ListMagnitudeArguments, nodes, 24)
HILBRIUM_OFFSET(ListMagnitudeArguments, unit, 32)
HILBRIUM_OFFSET(ListMagnitudeArguments, magnitude, 40)

}  // namespace hilbrium

extern "C" __global__ void list_order(
    const __grid_constant__ hilbrium::ListOrderArguments args);
extern "C" __global__ void list_build(
    const __grid_constant__ hilbrium::ListBuildArguments args);
extern "C" __global__ void list_place(
    const __grid_constant__ hilbrium::ListPlaceArguments args);
extern "C" __global__ void list_magnitude(
    const __grid_constant__ hilbrium::ListMagnitudeArguments args);
