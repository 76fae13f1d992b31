// A sub-box of cells wholly in shared memory with the cells about it: "All-in-SM" of Algis et al. 2024
// (hal-04621128). Arrays in shared memory: the particles, prefix sums of the rows of cells, and what turns a
// particle's number among all into that in shared memory; the way back is the same subtraction. Sub-boxes
// that exceed shared memory come in rounds.
#include "../cells/prefix.cuh"
#include "../cells/sweep.cuh"
#include "../arguments/cells_sub_box.cuh"

namespace hilbrium {
namespace cells {

// Rows of cells of a sub-box with those about it: MOST_ROWS of src/device/cells/strategy.rs.
constexpr unsigned MOST_ROWS = 256;

// Threads of a block: SUB_BOX_THREADS of src/device/cells/strategy.rs.
constexpr unsigned SUB_BOX_THREADS = sizeof(Real) == 4 && GROUPS <= 2 ? 512 : 256;

struct BoxRows {
    unsigned ends[MOST_ROWS];      // inclusive prefix sums of particles
    unsigned first[MOST_ROWS];     // first cell of the row in the grid
    unsigned shift[3][MOST_ROWS];  // per range: number in shared memory less number among all
};

// The row of number `number` about a sub-box.
__device__ __forceinline__ RowOfBox row_about(const CellPass& pass, const SubBox& box, unsigned number) {
    const int along = box.cells[1] + 2;
    return row_of_box(pass, box, box.first[1] - 1 + static_cast<int>(number) % along,
                      box.first[2] - 1 + static_cast<int>(number) / along);
}

}  // namespace cells
}  // namespace hilbrium

// Launch: one block per task of whole warps, at most SUB_BOX_THREADS threads; dynamic shared memory for
// `capacity` particles. A slice may exceed the block. Floor: copies of particles, up to 27 of each; few
// blocks a multiprocessor.
extern "C" __global__ void __launch_bounds__(hilbrium::cells::SUB_BOX_THREADS)
    sweep_sub_boxes(const __grid_constant__ hilbrium::SweepSubBoxesArguments args) {
    using namespace hilbrium;
    using namespace hilbrium::cells;
    static_assert(!SYMMETRIC, "each particle sums its own pairs");
    HILBRIUM_DYNAMIC_SHARED(pair::Real4, stage);
    __shared__ BoxRows rows;
    const CellPass& pass = args.pass;
    const Task task = task_of(pass.grid, args.tasks);
    if (!task.there) { return; }
    const SubBox box = task.box;
    const int along = box.cells[1] + 2;
    const unsigned count = static_cast<unsigned>(along * (box.cells[2] + 2));
    for (unsigned k = threadIdx.x; k < count; k += blockDim.x) {
        const RowOfBox row = row_about(pass, box, k);
        rows.ends[k] = row.total();
        rows.first[k] = row.row;
    }
    __syncthreads();
    Uncounted counter;
    sum_in_place(rows.ends, count, counter);
    for (unsigned k = threadIdx.x; k < count; k += blockDim.x) {
        const RowOfBox row = row_about(pass, box, k);
#pragma unroll
        for (int part = 0; part < 3; ++part) {
            rows.shift[part][k] = rows.ends[k] - row.total() + row.offset(part) - row.begin[part];
        }
    }
    __syncthreads();
    const unsigned total = rows.ends[count - 1u];
    const GlobalSource global = global_source(pass);
    const SharedSource shared = {stage, args.capacity};
    const unsigned last = task.slice + args.tasks.slice;
#pragma unroll 1
    for (unsigned first_target = task.slice; first_target < last; first_target += blockDim.x) {
        const unsigned place = first_target + threadIdx.x;
        const unsigned number = place < last ? particle_of(pass, box, place) : NONE;
        if (!__syncthreads_or(number != NONE)) { break; }
        const bool wanted = number != NONE && is_wanted(pass, number);
        Target target = target_of(pass, wanted ? number : 0u);
#pragma unroll 1
        for (unsigned first = 0; first < total; first += args.capacity) {
            const unsigned staged = smaller(args.capacity, total - first);
            if (total > args.capacity || first_target == task.slice) {
                __syncthreads();
                for (unsigned k = warp_of_block(); k < count; k += blockDim.x / WARP) {
                    const unsigned row_begin = k == 0 ? 0u : rows.ends[k - 1u];
                    const unsigned begin = larger(row_begin, first),
                                   end = smaller(rows.ends[k], first + staged);
                    if (begin >= end) { continue; }
                    const RowOfBox row = row_about(pass, box, k);
                    for (unsigned at = begin + lane_index(); at < end; at += WARP) {
                        stage_particle(
                            global, row.particle(at - row_begin), stage, args.capacity, at - first);
                    }
                }
                __syncthreads();
            }
            if (!wanted) { continue; }
#pragma unroll 1
            for (int dz = -1; dz <= 1; ++dz) {
#pragma unroll 1
                for (int dy = -1; dy <= 1; ++dy) {
                    const int y = target.cell.y - box.first[1] + 1 + dy,
                              z = target.cell.z - box.first[2] + 1 + dz;
                    const unsigned k = static_cast<unsigned>(z * along + y);
                    if (rows.ends[k] == (k == 0 ? 0u : rows.ends[k - 1u])) { continue; }
                    const unsigned shift[3] = {rows.shift[0][k], rows.shift[1][k], rows.shift[2][k]};
                    take_row(pass, box, target, rows.first[k], shift, dy, dz, shared, first, staged);
                }
            }
        }
        if (wanted) { write_sums(pass, target); }
    }
}
HILBRIUM_EXPORT(sweep_sub_boxes)
