// Printed from src/device/arguments: change it there, then run
// HILBRIUM_PRINT=1 cargo test --test device kernel_arguments
#pragma once

#include "../arguments/layout.cuh"
#include "../arguments/pair_packed.cuh"
#include "../arguments/shared.cuh"
#include "../pair/real.cuh"

namespace hilbrium {

namespace pair { struct Real4; }

// A sweep over a particle list.
struct ParticleSweepArguments {
    // Packed rows.
    PackedRows packed;
    // Clusters of all records.
    const unsigned* clusters;
    // Offsets of the records' clusters.
    const unsigned long long* begins;
    // Neighbor numbers, two per word.
    const unsigned* words;
    // Offsets of each half super-cluster's words, in units of 32.
    const unsigned long long* word_begins;
    // The super-cluster of the first record.
    unsigned first_super_cluster;
    // Common cutoff of all pairs, for laws that have one.
    double cutoff;
    // The box.
    BoxParameters bx;
    // Not 0 for rows whose sums are wanted, or null for all rows.
    const unsigned char* active;
    // Sums of rows.
    Real* sums;
};
HILBRIUM_SIZE(ParticleSweepArguments, 216)
HILBRIUM_OFFSET(ParticleSweepArguments, packed, 0)
HILBRIUM_OFFSET(ParticleSweepArguments, clusters, 48)
HILBRIUM_OFFSET(ParticleSweepArguments, begins, 56)
HILBRIUM_OFFSET(ParticleSweepArguments, words, 64)
HILBRIUM_OFFSET(ParticleSweepArguments, word_begins, 72)
HILBRIUM_OFFSET(ParticleSweepArguments, first_super_cluster, 80)
HILBRIUM_OFFSET(ParticleSweepArguments, cutoff, 88)
HILBRIUM_OFFSET(ParticleSweepArguments, bx, 96)
HILBRIUM_OFFSET(ParticleSweepArguments, active, 200)
HILBRIUM_OFFSET(ParticleSweepArguments, sums, 208)

}  // namespace hilbrium

extern "C" __global__ void particle_sweep(
    const __grid_constant__ hilbrium::ParticleSweepArguments args);
