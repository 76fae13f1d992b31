// Computes the output columns of a law from the sums of a sweep.
#include "../pair/finish.cuh"

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
    const law::Output own = outputs_of(args, row);
    const Real* values = reinterpret_cast<const Real*>(&own) + FIRST_OUTPUT;
#pragma unroll
    for (int c = 0; c < OUTPUTS - FIRST_OUTPUT; ++c) {
        if (c < args.output_count) args.outputs[c][row] = values[c];
    }
}
HILBRIUM_EXPORT(finish)
