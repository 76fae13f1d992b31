// Targets in registers, one row of cells along x at a time in shared memory: "X-pencil" of Algis et al. 2024
// (hal-04621128) with targets of one row of cells, "X-pencil-reg" (HILBRIUM_FROM_REGISTERS) with targets of
// several, whose threads copy them to shared memory instead of reading them again. Rows that exceed shared
// memory come in rounds.
#include "../cells/sweep.cuh"
#include "../arguments/cells_pencil.cuh"

#ifndef HILBRIUM_FROM_REGISTERS
#define HILBRIUM_FROM_REGISTERS 0
#endif

namespace hilbrium {
namespace cells {

// Threads of a block: pencil_threads of src/device/cells/strategy.rs.
constexpr unsigned PENCIL_THREADS = sizeof(Real) == 8 || GROUPS > 2 ? 256 : GROUPS > 0 ? 512 : 1024;

// Copies the target of this thread to element `place` of a stage.
__device__ __forceinline__ void stage_target(Real4 first, const Pair& values, Real4* stage, unsigned capacity,
                                             unsigned place) {
    stage[place] = first;
    if constexpr (GROUPS > 0) {
        const Real* const members = reinterpret_cast<const Real*>(&values);
        constexpr int SKIP = FIRST_WITH_POSITION ? 1 : 0;
#pragma unroll
        for (int group = 0; group < GROUPS; ++group) {
            Real four[4];
#pragma unroll
            for (int c = 0; c < 4; ++c) {
                const int member = SKIP + 4 * group + c;
                four[c] = member < PREPARED ? members[member < PREPARED ? member : 0] : Real(0);
            }
            stage[(group + 1u) * capacity + place] = {four[0], four[1], four[2], four[3]};
        }
    }
}

}  // namespace cells
}  // namespace hilbrium

// Launch: one block per task, of as many threads as a slice has particles, at most PENCIL_THREADS; dynamic
// shared memory for `capacity` particles. Floor: copies of particles, 9 of each and those of ghosts; two
// barriers per row.
extern "C" __global__ void __launch_bounds__(hilbrium::cells::PENCIL_THREADS)
    sweep_pencils(const __grid_constant__ hilbrium::SweepPencilsArguments args) {
    using namespace hilbrium;
    using namespace hilbrium::cells;
    static_assert(!SYMMETRIC, "each particle sums its own pairs");
    HILBRIUM_DYNAMIC_SHARED(pair::Real4, stage);
    const CellPass& pass = args.pass;
    const Task task = task_of(pass.grid, args.tasks);
    if (!task.there) { return; }
    const SubBox box = task.box;
    const unsigned number = particle_of(pass, box, task.slice + threadIdx.x);
    const bool there = number != NONE;
    const bool wanted = there && is_wanted(pass, number);
    if (!__syncthreads_or(wanted)) { return; }
    Target target = target_of(pass, there ? number : 0u);
    const Real4 first_numbers = {target.position.x, target.position.y, target.position.z,
                                 pass.particles.position[target.number].w};
    const GlobalSource global = global_source(pass);
    const SharedSource shared = {stage, args.capacity};
    unsigned targets = 0;  // of the sub-box's rows of cells before this one
#pragma unroll 1
    for (int z = -1; z <= box.cells[2]; ++z) {
#pragma unroll 1
        for (int y = -1; y <= box.cells[1]; ++y) {
            const RowOfBox row = row_of_box(pass, box, box.first[1] + y, box.first[2] + z);
            const bool inner = z >= 0 && z < box.cells[2] && y >= 0 && y < box.cells[1];
            const int dy = box.first[1] + y - target.cell.y, dz = box.first[2] + z - target.cell.z;
            const bool near = wanted && dy >= -1 && dy <= 1 && dz >= -1 && dz <= 1;
            const unsigned shift[3] = {row.offset(0) - row.begin[0], row.offset(1) - row.begin[1],
                                       row.offset(2) - row.begin[2]};
            const unsigned total = row.total();
            // of the row's own particles, those that threads of this block have
            const unsigned held_begin = task.slice - targets;
#pragma unroll 1
            for (unsigned first = 0; first < total; first += args.capacity) {
                const unsigned count = smaller(args.capacity, total - first);
                __syncthreads();
                for (unsigned k = threadIdx.x; k < count; k += blockDim.x) {
                    const unsigned of_row = first + k;
                    if (HILBRIUM_FROM_REGISTERS && inner) {
                        const unsigned own = of_row - row.count[0];
                        if (own < row.count[1] && own - held_begin < blockDim.x) { continue; }
                    }
                    stage_particle(global, row.particle(of_row), stage, args.capacity, k);
                }
                if (HILBRIUM_FROM_REGISTERS && inner && there && dy == 0 && dz == 0) {
                    const unsigned k = target.number + shift[1] - first;
                    if (k < count) { stage_target(first_numbers, target.values, stage, args.capacity, k); }
                }
                __syncthreads();
                if (near) { take_row(pass, box, target, row.row, shift, dy, dz, shared, first, count); }
            }
            targets += inner ? row.count[1] : 0u;
        }
    }
    if (wanted) { write_sums(pass, target); }
}
HILBRIUM_EXPORT(sweep_pencils)
