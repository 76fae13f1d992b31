// Cells, fractions and weights of particles on a periodic mesh: mirrors src/far/mesh/geometry.rs and
// window.rs.
//
// A particle in cell c with fraction f spreads onto the points c - p + 1 + k, k = 0 to p - 1, of each
// dimension, modulo the number of points. The weight of point k is a polynomial in f.
//
// Macros: HILBRIUM_REAL is the scalar of mesh and weights, HILBRIUM_ORDER the order p, HILBRIUM_WINDOW the
// coefficients {{...}, ...} of the weight of each point, lowest power first.
#pragma once

#include "../device.cuh"
#include "../pair/real.cuh"
#include "../arguments/mesh_mesh.cuh"

namespace hilbrium {
namespace mesh {

// Points per dimension and of all dimensions on which a particle spreads.
constexpr int ORDER = HILBRIUM_ORDER;
constexpr int FOOTPRINT = ORDER * ORDER * ORDER;

// Points per dimension of a tile, and cells per dimension of x and y of a bin.
constexpr unsigned TILE = 8;
constexpr unsigned TILE_BITS = 3;

// Most points per dimension are 2^CELL_BITS: a packed cell has three such numbers.
constexpr unsigned CELL_BITS = 10;
constexpr unsigned CELL_MASK = (1u << CELL_BITS) - 1u;

// Raw words of the size of a number.
template <unsigned bytes> struct WordOfSize;
template <> struct WordOfSize<4> { using Word = unsigned; };
template <> struct WordOfSize<8> { using Word = unsigned long long; };

// Fractions of a particle and its packed cell, in the scalar of the mesh.
struct alignas(16) Record {
    Real fraction[3];
    WordOfSize<sizeof(Real)>::Word cell;

    __device__ __forceinline__ unsigned along(unsigned dimension) const {
        return static_cast<unsigned>(cell) >> (CELL_BITS * dimension) & CELL_MASK;
    }
};

// Aligned group of 16 bytes, for vector loads from shared memory.
constexpr unsigned WIDE = 16u / sizeof(Real);
struct alignas(16) Wide {
    Real number[WIDE];
};

// Cell and fraction of a coordinate; the product is rounded before the floor, as on processors.
__device__ __forceinline__ unsigned locate(
    const MeshParameters& geometry, unsigned d, double coordinate, Real& fraction) {
    const double scaled = __dmul_rn(coordinate - geometry.lower[d], geometry.scale[d]);
    const double cell = floor(scaled);
    fraction = static_cast<Real>(scaled - cell);
    const unsigned points = geometry.points[d];
    if (cell >= 0.0 && cell < static_cast<double>(points)) { return static_cast<unsigned>(cell); }
    // coordinates that are no numbers give a cell of the mesh too
    const double bounded = fabs(cell) < 4e18 ? cell : 0.0;
    const long long remainder = static_cast<long long>(bounded) % static_cast<long long>(points);
    return static_cast<unsigned>(remainder < 0 ? remainder + static_cast<long long>(points) : remainder);
}

// Record of a row. Floor: 24 bytes read; 9 operations in double precision.
__device__ __forceinline__ Record record_of(
    const MeshParameters& geometry, const double* const (&position)[3], unsigned row) {
    Record record;
    unsigned packed = 0;
#pragma unroll
    for (unsigned d = 0; d < 3; ++d) {
        packed |= locate(geometry, d, position[d][row], record.fraction[d]) << (CELL_BITS * d);
    }
    record.cell = packed;
    return record;
}

// Weights of the p points: p (p - 1) fused multiply-adds.
__device__ __forceinline__ void weights_of(Real fraction, Real (&weight)[ORDER]) {
    constexpr double window[ORDER][ORDER] = HILBRIUM_WINDOW;
#pragma unroll
    for (int k = 0; k < ORDER; ++k) {
        Real value = static_cast<Real>(window[k][ORDER - 1]);
#pragma unroll
        for (int power = ORDER - 2; power >= 0; --power) {
            value = mul_add(value, fraction, static_cast<Real>(window[k][power]));
        }
        weight[k] = value;
    }
}

// Weights and their derivatives with respect to the fraction.
__device__ __forceinline__ void weights_and_slopes(
    Real fraction, Real (&weight)[ORDER], Real (&slope)[ORDER]) {
    constexpr double window[ORDER][ORDER] = HILBRIUM_WINDOW;
    weights_of(fraction, weight);
#pragma unroll
    for (int k = 0; k < ORDER; ++k) {
        Real value = static_cast<Real>((ORDER - 1) * window[k][ORDER - 1]);
#pragma unroll
        for (int power = ORDER - 2; power >= 1; --power) {
            value = mul_add(value, fraction, static_cast<Real>(power * window[k][power]));
        }
        slope[k] = value;
    }
}

// Point k of a particle's p points: c - p + 1 + k, wrapped. The mesh has at least p points.
__device__ __forceinline__ unsigned point_of(unsigned cell, int k, unsigned points) {
    const int point = static_cast<int>(cell) - (ORDER - 1) + k;
    return static_cast<unsigned>(point < 0 ? point + static_cast<int>(points) : point);
}

// Index of a mesh point; z is contiguous. A mesh has at most 2^30 points.
__device__ __forceinline__ unsigned index_of(
    const MeshParameters& geometry, unsigned x, unsigned y, unsigned z) {
    return (x * geometry.points[1] + y) * geometry.points[2] + z;
}

// Coefficients of the weights in shared memory, for a point that differs between lanes.
struct Coefficients {
    Real of[ORDER][ORDER];

    // All threads of the block must call, and synchronize before the first use.
    __device__ __forceinline__ void load() {
        constexpr double window[ORDER][ORDER] = HILBRIUM_WINDOW;
        if (threadIdx.x == 0) {
#pragma unroll
            for (int k = 0; k < ORDER * ORDER; ++k) {
                of[k / ORDER][k % ORDER] = static_cast<Real>(window[k / ORDER][k % ORDER]);
            }
        }
    }

    // Weight of point k: p - 1 fused multiply-adds.
    __device__ __forceinline__ Real weight(int k, Real fraction) const {
        Real value = of[k][ORDER - 1];
#pragma unroll
        for (int power = ORDER - 2; power >= 0; --power) { value = mul_add(value, fraction, of[k][power]); }
        return value;
    }
};

} // namespace mesh
} // namespace hilbrium
