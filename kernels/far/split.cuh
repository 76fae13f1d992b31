// The force split of periodic boxes: mirrors src/far/split.rs and src/far/split_kernels.rs.
//
// HILBRIUM_PERIODIC: 0 open box, 1 periodic box, where the tree sums the short-range parts of particles and
// images within the cut.
#pragma once

#include "../device.cuh"
#include "../pair/real.cuh"
#include "../arguments/far_gravity.cuh"

#ifndef HILBRIUM_PERIODIC
#define HILBRIUM_PERIODIC 0
#endif

namespace hilbrium {

#if HILBRIUM_PERIODIC

// The variable of the polynomials: -1 at distance 0, 1 at the cut.
__device__ __forceinline__ Real split_place(const SplitArguments& split, Real squared) {
    return squared * Real(split.scale) - Real(1);
}

// The polynomial of the derivative of order K of the long-range part, times 2^(2k+1) / (2k-1)!!.
template <unsigned K>
__device__ __forceinline__ Real long_range_part(const SplitArguments& split, Real at) {
    constexpr unsigned DEGREE = sizeof(Real) == 8 ? 17u : K < 2u ? 8u : 6u;
    constexpr unsigned FIRST = K * (sizeof(Real) == 8 ? 18u : 9u);
    const auto term = [&split](unsigned power) {
        if constexpr (sizeof(Real) == 8) {
            return split.in_double[FIRST + power];
        } else {
            return split.in_single[FIRST + power];
        }
    };
    Real sum = Real(term(DEGREE));
#pragma unroll
    for (unsigned power = DEGREE; power > 0u; --power) { sum = sum * at + Real(term(power - 1u)); }
    return sum;
}

#endif

} // namespace hilbrium
