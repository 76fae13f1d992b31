// One thread per particle, whose neighbor cells it reads in global memory: "Par-Part-NoLoop" of Algis et al.
// 2024 (hal-04621128) with as many threads as particles, "Par-Part-Loop" with fewer.
#include "../cells/sweep.cuh"
#include "../arguments/cells_particles.cuh"

// Launch: blocks of 128 threads; all threads together walk over the particles in the order of cells.
// Floor: per pair the law's instructions, 10 for distance and test, and a load that lanes of one cell share.
extern "C" __global__ void __launch_bounds__(hilbrium::cells::CELL_THREADS)
    sweep_particles(const __grid_constant__ hilbrium::SweepParticlesArguments args) {
    using namespace hilbrium;
    using namespace hilbrium::cells;
    static_assert(!SYMMETRIC, "each particle sums its own pairs");
    const CellPass& pass = args.pass;
    const unsigned count =
        pass.particles.starts[pass.grid.counts[0] * pass.grid.counts[1] * pass.grid.counts[2]];
#pragma unroll 1
    for (unsigned long long number = thread_of_grid(); number < count; number += threads_of_grid()) {
        if (!is_wanted(pass, static_cast<unsigned>(number))) { continue; }
        Target target = target_of(pass, static_cast<unsigned>(number));
        take_neighbor_cells(pass, target);
        write_sums(pass, target);
    }
}
HILBRIUM_EXPORT(sweep_particles)
