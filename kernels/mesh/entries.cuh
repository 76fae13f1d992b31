// Entries of the spreading matrix: a row per mesh point, a column per particle, p^3 entries per column.
//
// Macros beside those of mesh.cuh: HILBRIUM_STORED is 1 where the entries' weights are stored, 0 where they
// are computed again from the particles' fractions. HILBRIUM_SHUFFLES is 1 where a product reduces rows by
// warp shuffles, 0 where through shared memory. Each file has its own default; only the benchmark of
// spreading and its tests choose the other way (figure 5 of Guo et al. 2015).
#pragma once

#include "../mesh/mesh.cuh"

namespace hilbrium {
namespace mesh {

constexpr bool STORED = HILBRIUM_STORED != 0;
constexpr bool SHUFFLES = HILBRIUM_SHUFFLES != 0;
constexpr unsigned ENTRY_THREADS = 256;

// Number k of a mesh point among the p points of a particle in a cell.
__device__ __forceinline__ int number_of(unsigned point, unsigned cell, unsigned points) {
    const int k = static_cast<int>(point) - static_cast<int>(cell) + ORDER - 1;
    const int all = static_cast<int>(points);
    return k < 0 ? k + all : (k >= all ? k - all : k);
}

// Weight of a particle on a mesh point that it reaches.
__device__ __forceinline__ Real weight_at(
    const Coefficients& coefficients, const MeshParameters& geometry, const Record& record, unsigned point) {
    const unsigned* const points = geometry.points;
    const unsigned line = point / points[2];
    const unsigned of[3] = {line / points[1], line % points[1], point % points[2]};
    Real weight = 1;
#pragma unroll
    for (unsigned d = 0; d < 3; ++d) {
        const int k = number_of(of[d], record.along(d), points[d]);
        weight *= coefficients.weight(k, record.fraction[d]);
    }
    return weight;
}

// Entry `number` below p^3 of a particle.
struct Entry {
    unsigned point;
    int k[3];
};

__device__ __forceinline__ Entry entry_of(
    const MeshParameters& geometry, const Record& record, unsigned number) {
    constexpr unsigned order = ORDER;
    Entry entry;
    entry.k[0] = static_cast<int>(number / (order * order));
    entry.k[1] = static_cast<int>(number / order % order);
    entry.k[2] = static_cast<int>(number % order);
    unsigned of[3];
#pragma unroll
    for (unsigned d = 0; d < 3; ++d) { of[d] = point_of(record.along(d), entry.k[d], geometry.points[d]); }
    entry.point = index_of(geometry, of[0], of[1], of[2]);
    return entry;
}

__device__ __forceinline__ Real weight_of(
    const Coefficients& coefficients, const Record& record, const Entry& entry) {
    Real weight = 1;
#pragma unroll
    for (unsigned d = 0; d < 3; ++d) { weight *= coefficients.weight(entry.k[d], record.fraction[d]); }
    return weight;
}

// Weight of an entry of the product: stored, or computed again.
__device__ __forceinline__ Real weight_for_product(
    const Coefficients& coefficients, const MeshParameters& geometry, const Record* records,
    const Real* weights, unsigned long long entry, unsigned column, unsigned point) {
    if (STORED) { return weights[entry]; }
    return weight_at(coefficients, geometry, records[column], point);
}

} // namespace mesh
} // namespace hilbrium
