// Outputs of a law from the sums of a sweep. Compiled with HILBRIUM_REAL double, whatever the precision of
// the sweep; HILBRIUM_SUM_REAL is the type of its sums.
#pragma once

#include "../device.cuh"
#include "../arguments/pair_finish.cuh"
#include "../pair/law.cuh"

namespace hilbrium {
namespace pair {

template <class L, class I>
__device__ __forceinline__ law::Output finished(const L& own, const I& i, const Sums& sums) {
    if constexpr (INPUTS == 0) {
        return finish(own, sums);
    } else {
        return finish(own, i, sums);
    }
}

// The first output that is computed: of a part of a law, with fewer sums than the law, that of its first sum.
constexpr int FIRST_OUTPUT = SUM_COUNT < SUMS ? FIRST_SUM : 0;

// The outputs of a row.
__device__ __forceinline__ law::Output outputs_of(const FinishArguments& args, unsigned long long row) {
    Input input{};
    if constexpr (INPUTS > 0) {
        Real* members = reinterpret_cast<Real*>(&input);
#pragma unroll
        for (int c = 0; c < INPUTS; ++c) members[c] = args.inputs[c][row];
    }
    Sums all{};
    Real* wanted = reinterpret_cast<Real*>(&all) + FIRST_SUM;
#pragma unroll
    for (int s = 0; s < SUM_COUNT; ++s) wanted[s] = static_cast<Real>(args.sums[row * SUM_STRIDE + s]);
    return finished(constants(), input, all);
}

}  // namespace pair
}  // namespace hilbrium
