// Printed from src/device/arguments: change it there, then run
// HILBRIUM_PRINT=1 cargo test --test device kernel_arguments
#pragma once

#include "../arguments/layout.cuh"
#include "../arguments/neighbors_search.cuh"
#include "../arguments/shared.cuh"

namespace hilbrium {

// Super-clusters whose records are built.
struct RecordBuild {
    // The search.
    ListSearch search;
    // The first super-cluster.
    unsigned first;
    // Number of super-clusters.
    unsigned super_clusters;
    // Bytes of a slot.
    unsigned slot;
};
HILBRIUM_SIZE(RecordBuild, 136)
HILBRIUM_OFFSET(RecordBuild, search, 0)
HILBRIUM_OFFSET(RecordBuild, first, 120)
HILBRIUM_OFFSET(RecordBuild, super_clusters, 124)
HILBRIUM_OFFSET(RecordBuild, slot, 128)

// Build of records in slots.
struct ListBuildArguments {
    // The super-clusters to build.
    RecordBuild build;
    // One slot per record.
    unsigned char* slots;
    // Entries of each record.
    unsigned* counts;
    // Bytes of each record.
    unsigned* lengths;
    // Number of records that exceed their slot, initially 0; then their numbers.
    unsigned* unfit;
    // 1 for each record without halo rows, else 0; or null.
    unsigned char* inner;
    // 1 for each record with halo rows, else 0; or null.
    unsigned char* outer;
};
HILBRIUM_SIZE(ListBuildArguments, 184)
HILBRIUM_OFFSET(ListBuildArguments, build, 0)
HILBRIUM_OFFSET(ListBuildArguments, slots, 136)
HILBRIUM_OFFSET(ListBuildArguments, counts, 144)
HILBRIUM_OFFSET(ListBuildArguments, lengths, 152)
HILBRIUM_OFFSET(ListBuildArguments, unfit, 160)
HILBRIUM_OFFSET(ListBuildArguments, inner, 168)
HILBRIUM_OFFSET(ListBuildArguments, outer, 176)

// Rebuild of the records that exceed their slot, at their destination.
struct ListRebuildArguments {
    // The super-clusters to build.
    RecordBuild build;
    // Number of records that exceed their slot, then their numbers.
    const unsigned* unfit;
    // Offsets of records.
    const unsigned long long* offsets;
    // Records.
    unsigned char* data;
};
HILBRIUM_SIZE(ListRebuildArguments, 160)
HILBRIUM_OFFSET(ListRebuildArguments, build, 0)
HILBRIUM_OFFSET(ListRebuildArguments, unfit, 136)
HILBRIUM_OFFSET(ListRebuildArguments, offsets, 144)
HILBRIUM_OFFSET(ListRebuildArguments, data, 152)

// Copy of records from slots to their destination.
struct ListPlaceArguments {
    // Number of records.
    unsigned records;
    // Bytes of a slot.
    unsigned slot;
    // One slot per record.
    const unsigned char* slots;
    // Offsets of records.
    const unsigned long long* offsets;
    // Records.
    unsigned char* data;
};
HILBRIUM_SIZE(ListPlaceArguments, 32)
HILBRIUM_OFFSET(ListPlaceArguments, records, 0)
HILBRIUM_OFFSET(ListPlaceArguments, slot, 4)
HILBRIUM_OFFSET(ListPlaceArguments, slots, 8)
HILBRIUM_OFFSET(ListPlaceArguments, offsets, 16)
HILBRIUM_OFFSET(ListPlaceArguments, data, 24)

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

extern "C" __global__ void list_build(
    const __grid_constant__ hilbrium::ListBuildArguments args);
extern "C" __global__ void list_rebuild(
    const __grid_constant__ hilbrium::ListRebuildArguments args);
extern "C" __global__ void list_place(
    const __grid_constant__ hilbrium::ListPlaceArguments args);
extern "C" __global__ void list_magnitude(
    const __grid_constant__ hilbrium::ListMagnitudeArguments args);
