// One block per cell, or per slice of a full one: "Par-Cell" and "Par-Cell-SM" of Algis et al. 2024
// (hal-04621128).
#include "../cells/sweep.cuh"
#include "../arguments/cells_cell.cuh"

// Reads neighbor cells in global memory: all threads of a block read the same particles.
// Launch: one block of 128 threads per task. Floor: as sweep_particles, and idle threads: a cell with n
// particles occupies whole warps.
extern "C" __global__ void __launch_bounds__(hilbrium::cells::CELL_THREADS)
    sweep_cells(const __grid_constant__ hilbrium::SweepCellsArguments args) {
    using namespace hilbrium;
    using namespace hilbrium::cells;
    static_assert(!SYMMETRIC, "each particle sums its own pairs");
    const CellPass& pass = args.pass;
    const Task task = task_of(pass.grid, args.tasks);
    if (!task.there) { return; }
    const unsigned number = particle_of(pass, task.box, task.slice + threadIdx.x);
    if (number == NONE || !is_wanted(pass, number)) { return; }
    Target target = target_of(pass, number);
    take_neighbor_cells(pass, target);
    write_sums(pass, target);
}
HILBRIUM_EXPORT(sweep_cells)

// Copies neighbor cells to shared memory one after the other, in rounds if a cell exceeds it.
// Launch: one block of 128 threads per task; dynamic shared memory for `capacity` particles. Floor: as
// sweep_cells, with two barriers per neighbor cell, and broadcasts from shared memory instead of loads.
extern "C" __global__ void __launch_bounds__(hilbrium::cells::CELL_THREADS)
    sweep_cells_shared(const __grid_constant__ hilbrium::SweepCellsSharedArguments args) {
    using namespace hilbrium;
    using namespace hilbrium::cells;
    static_assert(!SYMMETRIC, "each particle sums its own pairs");
    HILBRIUM_DYNAMIC_SHARED(pair::Real4, stage);
    const CellPass& pass = args.pass;
    const Task task = task_of(pass.grid, args.tasks);
    if (!task.there) { return; }
    const unsigned number = particle_of(pass, task.box, task.slice + threadIdx.x);
    const bool wanted = number != NONE && is_wanted(pass, number);
    if (!__syncthreads_or(wanted)) { return; }
    // threads without a particle stage as the others do
    const unsigned any = pass.particles.starts[row_of_cells(pass.grid, task.box.first[1], task.box.first[2]) +
                                               static_cast<unsigned>(task.box.first[0])];
    Target target = target_of(pass, wanted ? number : any);
    const GlobalSource global = global_source(pass);
    const SharedSource shared = {stage, args.capacity};
    const Vec3 width = widths(pass.grid);
    for_neighbor_cells(pass.grid, target.cell, [&](int dx, int dy, int dz, unsigned cell) {
        const unsigned cell_begin = pass.particles.starts[cell], cell_end = pass.particles.starts[cell + 1];
        const Vec3 at = target.moved(width, dx, dy, dz);
#pragma unroll 1
        for (unsigned begin = cell_begin; begin < cell_end; begin += args.capacity) {
            const unsigned count = smaller(args.capacity, cell_end - begin);
            __syncthreads();
            for (unsigned k = threadIdx.x; k < count; k += CELL_THREADS) {
                stage_particle(global, begin + k, stage, args.capacity, k);
            }
            __syncthreads();
            const unsigned self = target.number - begin;
            if (wanted) { target.take(shared, at, 0, count, self); }
        }
    });
    if (wanted) { write_sums(pass, target); }
}
HILBRIUM_EXPORT(sweep_cells_shared)
