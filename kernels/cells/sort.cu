// Sorts rows into cells, reproducibly: counts and numbers within cells by atomic additions, prefix sums
// (kernels/order/scan.cu), then each particle counts the rows of its cell that precede it. That takes as many
// comparisons as the cell has pairs, a 27th of what a sweep evaluates.
#include "../cells/grid.cuh"
#include "../pair/real4.cuh"
#include "../arguments/cells_sort.cuh"

namespace hilbrium {
namespace cells {

constexpr unsigned SORT_THREADS = 256;

}  // namespace cells

using namespace cells;

// Cell of each row and its number within it; counts[cell], initially 0, becomes the number of rows. Ghosts
// have no cell. Lanes of a warp with the same cell share an atomic addition: rows follow the Hilbert curve.
// Launch: blocks of 256 threads, one thread per row. Floor: 24 bytes read and 8 written per row.
extern "C" __global__ void __launch_bounds__(SORT_THREADS)
    count_cells(const __grid_constant__ CountCellsArguments args) {
    const unsigned long long row = thread_of_grid();
    bool there = row < args.rows && (args.id == nullptr || args.id[row] != GHOST);
    unsigned cell = NONE;
    if (there) {
        unsigned at[3];
#pragma unroll
        for (int d = 0; d < 3; ++d) {
            const double x = args.position[d][row];
            there = there && x - x == 0.0;
            at[d] = cell_along(args.grid, d, coordinate_in_box(args.grid, d, x));
        }
        if (there) {
            cell = row_of_cells(args.grid, static_cast<int>(at[1]), static_cast<int>(at[2])) + at[0];
        }
    }
    const unsigned same = __match_any_sync(FULL, cell);
    const int leader = __ffs(static_cast<int>(same)) - 1;
    unsigned first = 0;
    if (there && static_cast<int>(lane_index()) == leader) {
        first = atomicAdd(args.counts + cell, static_cast<unsigned>(__popc(same)));
    }
    first = __shfl_sync(FULL, first, leader);
    if (row < args.rows) {
        args.cells[row] = cell;
        args.ranks[row] = first + static_cast<unsigned>(__popc(same & lanes_below()));
    }
}
HILBRIUM_EXPORT(count_cells)

// Starts of cells in 32 bits; summary[0] becomes the number of cells with particles, summary[1] the number of
// particles of the fullest one, summary[2] that of all.
// Launch: blocks of 256 threads, one thread per cell and one more. Floor: 12 bytes per cell.
extern "C" __global__ void __launch_bounds__(SORT_THREADS)
    summarize_cells(const __grid_constant__ SummarizeCellsArguments args) {
    const unsigned long long cell = thread_of_grid();
    unsigned count = 0;
    if (cell <= args.count) {
        const unsigned begin = static_cast<unsigned>(args.sums[cell]);
        args.starts[cell] = begin;
        if (cell < args.count) {
            count = static_cast<unsigned>(args.sums[cell + 1]) - begin;
        } else {
            args.summary[2] = begin;
        }
    }
    const unsigned occupied = __ballot_sync(FULL, count != 0u);
    const unsigned largest = __reduce_max_sync(FULL, count);
    if (lane_index() == 0 && occupied != 0u) {
        atomicAdd(args.summary, static_cast<unsigned>(__popc(occupied)));
        atomicMax(args.summary + 1, largest);
    }
}
HILBRIUM_EXPORT(summarize_cells)

// Rows by cell.
// Launch: blocks of 256 threads, one thread per row. Floor: 8 bytes read and 4 written per row.
extern "C" __global__ void __launch_bounds__(SORT_THREADS)
    place_rows(const __grid_constant__ PlaceRowsArguments args) {
    const unsigned long long row = thread_of_grid();
    if (row >= args.rows) { return; }
    const unsigned cell = args.cells[row];
    if (cell != NONE) { args.placed[args.sums[cell] + args.ranks[row]] = static_cast<unsigned>(row); }
}
HILBRIUM_EXPORT(place_rows)

// Particles by cell and row, with offsets from the centers of their cells.
// Launch: blocks of 256 threads, at least one thread per particle. Floor: 24 + 16 (1 + groups) bytes read and
// 8 + 16 (1 + groups) written per particle, 16 being 32 in double precision; comparisons: rows of the cell.
extern "C" __global__ void __launch_bounds__(SORT_THREADS)
    order_cells(const __grid_constant__ OrderCellsArguments args) {
    const unsigned long long number = thread_of_grid();
    if (number >= args.starts[args.count]) { return; }
    const unsigned row = args.placed[number], cell = args.row_cells[row];
    const unsigned begin = args.starts[cell], end = args.starts[cell + 1];
    unsigned to = begin;
    for (unsigned other = begin; other < end; ++other) { to += args.placed[other] < row ? 1u : 0u; }
    const Place at = place_of(args.grid, cell);
    const int along[3] = {at.x, at.y, at.z};
    Real offset[3];
#pragma unroll
    for (int d = 0; d < 3; ++d) {
        const double center = args.grid.lower[d] + (along[d] + 0.5) * args.grid.width[d];
        const double x = coordinate_in_box(args.grid, d, args.position[d][row]);
        offset[d] = static_cast<Real>(x - center);
    }
    args.sorted_position[to] = {offset[0], offset[1], offset[2], args.packed_position[row].w};
    for (unsigned group = 0; group < args.groups; ++group) {
        args.sorted_further[group * args.stride + to] = args.packed_further[group * args.packed_rows + row];
    }
    if (args.packed_squared_radius != nullptr) {
        args.sorted_squared_radius[to] = args.packed_squared_radius[row];
    }
    args.rows[to] = row;
    args.cells[to] = cell;
}
HILBRIUM_EXPORT(order_cells)

// Number of slices of each sub-box: none without particles.
// Launch: blocks of 256 threads, one thread per sub-box. Floor: 8 bytes per row of cells, 4 per sub-box.
extern "C" __global__ void __launch_bounds__(SORT_THREADS)
    count_tasks(const __grid_constant__ CountTasksArguments args) {
    const unsigned long long number = thread_of_grid();
    if (number >= args.boxes) { return; }
    const SubBox box = sub_box(args.grid, args.shape, static_cast<unsigned>(number));
    unsigned particles = 0;
    for (int z = box.first[2]; z < box.first[2] + box.cells[2]; ++z) {
        for (int y = box.first[1]; y < box.first[1] + box.cells[1]; ++y) {
            const unsigned first = row_of_cells(args.grid, y, z) + static_cast<unsigned>(box.first[0]);
            particles += args.starts[first + static_cast<unsigned>(box.cells[0])] - args.starts[first];
        }
    }
    args.slices[number] = particles / args.slice + (particles % args.slice != 0u ? 1u : 0u);
}
HILBRIUM_EXPORT(count_tasks)

// Tasks of all sub-boxes, in their order.
// Launch: blocks of 256 threads, one thread per sub-box. Floor: 8 bytes per sub-box and 8 per task.
extern "C" __global__ void __launch_bounds__(SORT_THREADS)
    write_tasks(const __grid_constant__ WriteTasksArguments args) {
    const unsigned long long number = thread_of_grid();
    if (number >= args.boxes) { return; }
    const unsigned long long first = args.sums[number];
    const unsigned count = static_cast<unsigned>(args.sums[number + 1] - first);
    for (unsigned slice = 0; slice < count; ++slice) {
        args.task_boxes[first + slice] = static_cast<unsigned>(number);
        args.task_slices[first + slice] = slice;
    }
}
HILBRIUM_EXPORT(write_tasks)

}  // namespace hilbrium
