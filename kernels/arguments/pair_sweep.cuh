// Printed from src/device/arguments: change it there, then run
// HILBRIUM_PRINT=1 cargo test --test device kernel_arguments
#pragma once

#include "../arguments/layout.cuh"
#include "../arguments/neighbors_search.cuh"
#include "../arguments/pair_packed.cuh"
#include "../arguments/shared.cuh"
#include "../pair/real.cuh"

namespace hilbrium {

namespace pair { struct Real4; }

// A sweep over the records of a cluster list.
struct SweepArguments {
    // Packed rows.
    PackedRows packed;
    // The list.
    ListRecords list;
    // The records to sweep, or null for the first ones.
    const unsigned* chosen;
    // The super-cluster of the first record.
    unsigned first_super_cluster;
    // Number of records to sweep.
    unsigned super_clusters;
    // Warps per super-cluster: a power of two up to 32.
    unsigned parts;
    // Common cutoff of all pairs, for laws that have one.
    double cutoff;
    // The box.
    BoxParameters bx;
    // Not 0 for rows whose sums are wanted, or null for all rows.
    const unsigned char* active;
    // Sums of rows.
    Real* sums;
};
HILBRIUM_SIZE(SweepArguments, 224)
HILBRIUM_OFFSET(SweepArguments, packed, 0)
HILBRIUM_OFFSET(SweepArguments, list, 48)
HILBRIUM_OFFSET(SweepArguments, chosen, 72)
HILBRIUM_OFFSET(SweepArguments, first_super_cluster, 80)
HILBRIUM_OFFSET(SweepArguments, super_clusters, 84)
HILBRIUM_OFFSET(SweepArguments, parts, 88)
HILBRIUM_OFFSET(SweepArguments, cutoff, 96)
HILBRIUM_OFFSET(SweepArguments, bx, 104)
HILBRIUM_OFFSET(SweepArguments, active, 208)
HILBRIUM_OFFSET(SweepArguments, sums, 216)

}  // namespace hilbrium

extern "C" __global__ void sweep(
    const __grid_constant__ hilbrium::SweepArguments args);
