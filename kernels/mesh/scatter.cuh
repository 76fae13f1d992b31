// Atomic additions of a particle to its p^3 mesh points.
#pragma once

#include "../mesh/mesh.cuh"

namespace hilbrium {
namespace mesh {

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
            const Real with_y = with_x * y[j];
            const unsigned of_y = plane + point_of(record.along(1), j, geometry.points[1]);
            Real* const line = sums + of_y * geometry.points[2];
#pragma unroll
            for (int k = 0; k < ORDER; ++k) { atomicAdd(line + along[k], with_y * z[k]); }
        }
    }
}

} // namespace mesh
} // namespace hilbrium
