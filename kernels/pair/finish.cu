// Computes the output columns of a law from the sums of a sweep. Compiled with HILBRIUM_REAL double, whatever
// the precision of the sweep; HILBRIUM_SUM_REAL is the type of its sums.
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

}  // namespace pair
}  // namespace hilbrium

// Writes the outputs of rows [begin, end). Launch: one thread per row, blocks of any size.
//   id        of each row, or null if there are no ghosts; outputs of ghosts are left unchanged
//   active    per row, whether its outputs are wanted, or null for all; others are left unchanged
//   inputs    pointers to the law's input columns
//   sums      as the sweep left them: SUM_STRIDE numbers per row, the law's sums from FIRST_SUM on
//   outputs   pointers to output columns, `output_count` of them; for a part of a law, with fewer sums than
//             the law, those from FIRST_SUM on
// Floor: bytes, 8 (INPUTS + outputs) + 4 or 8 SUM_STRIDE per row; 0.06 ms for four million forces.
extern "C" __global__ void finish(const __grid_constant__ hilbrium::FinishArguments args) {
    using namespace hilbrium;
    using namespace hilbrium::pair;
    const unsigned long long* const id = args.id;
    const unsigned char* const active = args.active;
    const unsigned long long row = args.begin + thread_of_grid();
    if (row >= args.end || (id != nullptr && id[row] == GHOST)) return;
    if (active != nullptr && active[row] == 0) return;
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
    const law::Output own = finished(constants(), input, all);
    const Real* values = reinterpret_cast<const Real*>(&own) + (SUM_COUNT < SUMS ? FIRST_SUM : 0);
    constexpr int FIRST = SUM_COUNT < SUMS ? FIRST_SUM : 0;
#pragma unroll
    for (int c = 0; c < OUTPUTS - FIRST; ++c) {
        if (c < args.output_count) args.outputs[c][row] = values[c];
    }
}
HILBRIUM_EXPORT(finish)
