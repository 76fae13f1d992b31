// Additions of a particle to its p^3 mesh points.
//
// Macro beside those of mesh.cuh: HILBRIUM_ATOMIC is 1, or 0 in the benchmark of spreading alone, which
// measures what atomic additions cost (figure 6 of Guo et al. 2015). Threads then overwrite each other's
// additions, and the sums are wrong.
#pragma once

#include "../mesh/mesh.cuh"

#ifndef HILBRIUM_ATOMIC
#define HILBRIUM_ATOMIC 1
#endif

namespace hilbrium {
namespace mesh {

constexpr bool ATOMIC = HILBRIUM_ATOMIC != 0;

// Adds to p different points of a line.
__device__ __forceinline__ void add_to_line(
    Real* line, const unsigned (&along)[ORDER], Real factor, const Real (&weight)[ORDER]) {
    if (ATOMIC) {
#pragma unroll
        for (int k = 0; k < ORDER; ++k) { atomicAdd(line + along[k], factor * weight[k]); }
    } else {
        // All loads precede the stores, so that a thread waits once per line.
        Real sum[ORDER];
#pragma unroll
        for (int k = 0; k < ORDER; ++k) { sum[k] = mul_add(factor, weight[k], line[along[k]]); }
#pragma unroll
        for (int k = 0; k < ORDER; ++k) { line[along[k]] = sum[k]; }
    }
}

__device__ __forceinline__ void scatter(
    const MeshParameters& geometry, const Record& record, Real value, Real* sums) {
    Real x[ORDER], y[ORDER], z[ORDER];
    weights_of(record.fraction[0], x);
    weights_of(record.fraction[1], y);
    weights_of(record.fraction[2], z);
    unsigned along[ORDER];
#pragma unroll
    for (int k = 0; k < ORDER; ++k) { along[k] = point_of(record.along(2), k, geometry.points[2]); }
#pragma unroll
    for (int i = 0; i < ORDER; ++i) {
        const Real with_x = value * x[i];
        const unsigned plane = point_of(record.along(0), i, geometry.points[0]) * geometry.points[1];
#pragma unroll
        for (int j = 0; j < ORDER; ++j) {
            const unsigned of_y = plane + point_of(record.along(1), j, geometry.points[1]);
            add_to_line(sums + of_y * geometry.points[2], along, with_x * y[j], z);
        }
    }
}

} // namespace mesh
} // namespace hilbrium
