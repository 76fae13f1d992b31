// Printed from src/device/arguments: change it there, then run
// HILBRIUM_PRINT=1 cargo test --test device kernel_arguments
#pragma once

#include "../arguments/layout.cuh"
#include "../arguments/neighbors_search.cuh"
#include "../arguments/shared.cuh"

namespace hilbrium {

// Tests of distances.
struct ParticleListFindArguments {
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
    // Neighbors of all particles, one bit for each particle of a record's clusters.
    unsigned* found;
    // Number of words of the longest list of each half super-cluster.
    unsigned* widths;
    // Not 0 if the list cannot be encoded as a particle list.
    unsigned* unfit;
};
HILBRIUM_SIZE(ParticleListFindArguments, 192)
HILBRIUM_OFFSET(ParticleListFindArguments, search, 0)
HILBRIUM_OFFSET(ParticleListFindArguments, list, 120)
HILBRIUM_OFFSET(ParticleListFindArguments, first, 144)
HILBRIUM_OFFSET(ParticleListFindArguments, super_clusters, 148)
HILBRIUM_OFFSET(ParticleListFindArguments, begins, 152)
HILBRIUM_OFFSET(ParticleListFindArguments, clusters, 160)
HILBRIUM_OFFSET(ParticleListFindArguments, found, 168)
HILBRIUM_OFFSET(ParticleListFindArguments, widths, 176)
HILBRIUM_OFFSET(ParticleListFindArguments, unfit, 184)

// Writing of neighbors.
struct ParticleListWriteArguments {
    // Number of super-clusters.
    unsigned super_clusters;
    // Offsets of the records' clusters, then the end.
    const unsigned long long* begins;
    // Neighbors of all particles, one bit for each particle of a record's clusters.
    const unsigned* found;
    // Offsets of each half super-cluster's words, in units of 32, then the end.
    const unsigned long long* word_begins;
    // Neighbor numbers, two per word.
    unsigned* words;
};
HILBRIUM_SIZE(ParticleListWriteArguments, 40)
HILBRIUM_OFFSET(ParticleListWriteArguments, super_clusters, 0)
HILBRIUM_OFFSET(ParticleListWriteArguments, begins, 8)
HILBRIUM_OFFSET(ParticleListWriteArguments, found, 16)
HILBRIUM_OFFSET(ParticleListWriteArguments, word_begins, 24)
HILBRIUM_OFFSET(ParticleListWriteArguments, words, 32)

}  // namespace hilbrium

extern "C" __global__ void particle_list_find(
    const __grid_constant__ hilbrium::ParticleListFindArguments args);
extern "C" __global__ void particle_list_write(
    const __grid_constant__ hilbrium::ParticleListWriteArguments args);
