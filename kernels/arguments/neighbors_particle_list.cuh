// Printed from src/device/arguments: change it there, then run
// HILBRIUM_PRINT=1 cargo test --test device kernel_arguments
#pragma once

#include "../arguments/layout.cuh"
#include "../arguments/neighbors_search.cuh"
#include "../arguments/shared.cuh"

namespace hilbrium {

// Count of neighbors.
struct ParticleListCountArguments {
    // The search.
    ListSearch search;
    // Records of the full cluster list.
    ListRecords list;
    // The first super-cluster.
    unsigned first;
    // Number of super-clusters.
    unsigned super_clusters;
    // Offsets of the records' clusters.
    const unsigned long long* begins;
    // Clusters of all records.
    unsigned* clusters;
    // Number of words of the longest list of each half super-cluster.
    unsigned* widths;
    // Not 0 if the list cannot be encoded as a particle list.
    unsigned* unfit;
};
HILBRIUM_SIZE(ParticleListCountArguments, 184)
HILBRIUM_OFFSET(ParticleListCountArguments, search, 0)
HILBRIUM_OFFSET(ParticleListCountArguments, list, 120)
HILBRIUM_OFFSET(ParticleListCountArguments, first, 144)
HILBRIUM_OFFSET(ParticleListCountArguments, super_clusters, 148)
HILBRIUM_OFFSET(ParticleListCountArguments, begins, 152)
HILBRIUM_OFFSET(ParticleListCountArguments, clusters, 160)
HILBRIUM_OFFSET(ParticleListCountArguments, widths, 168)
HILBRIUM_OFFSET(ParticleListCountArguments, unfit, 176)

// Writing of neighbors.
struct ParticleListWriteArguments {
    // The search.
    ListSearch search;
    // Records of the full cluster list.
    ListRecords list;
    // The first super-cluster.
    unsigned first;
    // Number of super-clusters.
    unsigned super_clusters;
    // Offsets of each half super-cluster's words, in units of 32.
    const unsigned long long* word_begins;
    // Neighbor numbers, two per word.
    unsigned* words;
    // Not 0 if the list cannot be encoded as a particle list.
    unsigned* unfit;
};
HILBRIUM_SIZE(ParticleListWriteArguments, 176)
HILBRIUM_OFFSET(ParticleListWriteArguments, search, 0)
HILBRIUM_OFFSET(ParticleListWriteArguments, list, 120)
HILBRIUM_OFFSET(ParticleListWriteArguments, first, 144)
HILBRIUM_OFFSET(ParticleListWriteArguments, super_clusters, 148)
HILBRIUM_OFFSET(ParticleListWriteArguments, word_begins, 152)
HILBRIUM_OFFSET(ParticleListWriteArguments, words, 160)
HILBRIUM_OFFSET(ParticleListWriteArguments, unfit, 168)

}  // namespace hilbrium

extern "C" __global__ void particle_list_count(
    const __grid_constant__ hilbrium::ParticleListCountArguments args);
extern "C" __global__ void particle_list_write(
    const __grid_constant__ hilbrium::ParticleListWriteArguments args);
