// Printed from src/device/arguments by HILBRIUM_PRINT=1 cargo test --test device kernel_arguments; do not edit.
#pragma once

#include "../arguments/layout.cuh"
#include "../arguments/neighbors_search.cuh"
#include "../arguments/shared.cuh"

namespace hilbrium {

// Super-clusters whose records are built.
struct RecordBuild {
    // The search.
    ListSearch search;
    // Records of a longer list, for pruning; else null.
    ListRecords longer;
    // The first super-cluster.
    unsigned first;
    // Number of super-clusters.
    unsigned super_clusters;
    // Bytes of a slot.
    unsigned slot;
};
HILBRIUM_SIZE(RecordBuild, 160)
HILBRIUM_OFFSET(RecordBuild, search, 0)
HILBRIUM_OFFSET(RecordBuild, longer, 120)
HILBRIUM_OFFSET(RecordBuild, first, 144)
HILBRIUM_OFFSET(RecordBuild, super_clusters, 148)
HILBRIUM_OFFSET(RecordBuild, slot, 152)

// Records built in slots.
struct ListBuildArguments {
    // What is built.
    RecordBuild build;
    // One slot a record.
    unsigned char* slots;
    // Entries of each record.
    unsigned* counts;
    // Bytes of each record.
    unsigned* lengths;
    // Number of records that exceed their slot, zero before; then these records.
    unsigned* unfit;
    // 1 for each record without rows of others, or null.
    unsigned char* inner;
    // 1 for each record with rows of others, or null.
    unsigned char* outer;
};
HILBRIUM_SIZE(ListBuildArguments, 208)
HILBRIUM_OFFSET(ListBuildArguments, build, 0)
HILBRIUM_OFFSET(ListBuildArguments, slots, 160)
HILBRIUM_OFFSET(ListBuildArguments, counts, 168)
HILBRIUM_OFFSET(ListBuildArguments, lengths, 176)
HILBRIUM_OFFSET(ListBuildArguments, unfit, 184)
HILBRIUM_OFFSET(ListBuildArguments, inner, 192)
HILBRIUM_OFFSET(ListBuildArguments, outer, 200)

// Records that exceeded their slot, built again in place.
struct ListRebuildArguments {
    // What is built.
    RecordBuild build;
    // Number of records that exceed their slot; then these records.
    const unsigned* unfit;
    // Offsets of records.
    const unsigned long long* offsets;
    // Records.
    unsigned char* data;
};
HILBRIUM_SIZE(ListRebuildArguments, 184)
HILBRIUM_OFFSET(ListRebuildArguments, build, 0)
HILBRIUM_OFFSET(ListRebuildArguments, unfit, 160)
HILBRIUM_OFFSET(ListRebuildArguments, offsets, 168)
HILBRIUM_OFFSET(ListRebuildArguments, data, 176)

// Records moved from slots to their places.
struct ListPlaceArguments {
    // Number of records.
    unsigned records;
    // Bytes of a slot.
    unsigned slot;
    // One slot a record.
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
    // Half edges and radii of the hierarchy's nodes.
    const float4* extent;
    // Number of nodes.
    unsigned nodes;
    // Unit of length of extents.
    double unit;
    // The magnitude, as the bits of a double, zero before.
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

extern "C" __global__ void list_build(const __grid_constant__ hilbrium::ListBuildArguments args);
extern "C" __global__ void list_rebuild(const __grid_constant__ hilbrium::ListRebuildArguments args);
extern "C" __global__ void list_place(const __grid_constant__ hilbrium::ListPlaceArguments args);
extern "C" __global__ void list_magnitude(const __grid_constant__ hilbrium::ListMagnitudeArguments args);
