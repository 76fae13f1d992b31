// Printed from src/device/arguments: change it there, then run
// HILBRIUM_PRINT=1 cargo test --test device kernel_arguments
#pragma once

#include "../arguments/layout.cuh"

namespace hilbrium {

namespace mesh { struct Record; }

// A periodic mesh.
struct MeshParameters {
    // Lower corner of the box.
    double lower[3];
    // Points per length.
    double scale[3];
    // Points per dimension.
    unsigned points[3];
};
HILBRIUM_SIZE(MeshParameters, 64)
HILBRIUM_OFFSET(MeshParameters, lower, 0)
HILBRIUM_OFFSET(MeshParameters, scale, 24)
HILBRIUM_OFFSET(MeshParameters, points, 48)

// Particles sorted into bins (kernels/mesh/bins.cuh).
struct BinnedRecords {
    // Fractions and cells of particles by bin.
    const mesh::Record* records;
    // Their rows.
    const unsigned* rows;
    // First record of each bin, then the number of records.
    const unsigned long long* starts;
};
HILBRIUM_SIZE(BinnedRecords, 24)
HILBRIUM_OFFSET(BinnedRecords, records, 0)
HILBRIUM_OFFSET(BinnedRecords, rows, 8)
HILBRIUM_OFFSET(BinnedRecords, starts, 16)

}  // namespace hilbrium
