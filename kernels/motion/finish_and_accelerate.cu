// Forces from the sums of a sweep together with the second half of a velocity Verlet step.
#include "../arguments/motion_finish_and_accelerate.cuh"
#include "../motion/verlet.cuh"
#include "../pair/finish.cuh"

// Forces of all rows as `finish`, then `accelerate`, with their bits; the first three outputs of the law are
// the force. There are no ghosts. Does nothing where `accelerate` does nothing. Launch: blocks of 256
// threads, one thread per row. Floor: the sums and 32 bytes read, 72 written per row.
extern "C" __global__ void __launch_bounds__(hilbrium::THREADS)
    finish_and_accelerate(const __grid_constant__ hilbrium::FinishAndAccelerateArguments args) {
    using namespace hilbrium;
    const unsigned long long row = args.finish.begin + thread_of_grid();
    if (row >= args.finish.end || !is_complete(args.accelerate.report)) { return; }
    const pair::law::Output own = pair::outputs_of(args.finish, row);
    const double* const values = reinterpret_cast<const double*>(&own) + pair::FIRST_OUTPUT;
    const double force[3] = {values[0], values[1], values[2]};
#pragma unroll
    for (int d = 0; d < 3; ++d) { args.finish.outputs[d][row] = force[d]; }
    accelerate_row(args.accelerate, row, force);
}
HILBRIUM_EXPORT(finish_and_accelerate)
