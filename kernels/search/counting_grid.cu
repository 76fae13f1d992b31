// Neighbor search over a grid of counters after Hoetzlein (Fast fixed-radius nearest neighbors, GTC 2013):
// the place of a particle in its cell is the counter before its atomic addition, prefix sums give the cells'
// first places, and particles are moved there. A thread per particle then reads 27 cells, lines of three at
// once. The order within a cell, hence the last bits of sums, differs between runs.
#include "../device.cuh"
#include "../arguments/search_counting_grid.cuh"
#include "../search/cells.cuh"

// Moves rows to their cells. Launch: one thread per row. Floor: 32 bytes and the law's inputs read, a packed
// row written per row.
extern "C" __global__ void move_to_cells(const __grid_constant__ hilbrium::MoveToCellsArguments args) {
    using namespace hilbrium;
    using namespace hilbrium::search;
    const unsigned long long row = thread_of_grid();
    double x[3];
    if (row >= args.rows.count) { return; }
    if (!read_position(args.rows, row, x)) {
        write_neutral(args.sums, row);
        return;
    }
    const Located own = locate(args.grid, x);
    pack_row(args.columns, args.places, row, args.starts[args.cell[row]] + args.place[row], own.offset);
}
HILBRIUM_EXPORT(move_to_cells)

// Searches for the neighbors of all places. Launch: one thread per row, blocks of any size. Floor: about ten
// instructions per particle in 27 cells.
extern "C" __global__ void search_counting_grid(
    const __grid_constant__ hilbrium::SearchCountingGridArguments args) {
    using namespace hilbrium;
    using namespace hilbrium::search;
    static_assert(!SYMMETRIC, "each particle sums its own pairs");
    const unsigned long long thread = thread_of_grid();
    const unsigned* __restrict__ const starts = args.starts;
    if (thread >= starts[cell_count(args.grid)]) { return; }
    const unsigned place = static_cast<unsigned>(thread);
    const Real4 own = args.places.position[place];
    const unsigned row = row_of(args.places, own, place);
    if (!is_wanted(args.sums, row)) { return; }
    Target target;
    target.begin(args.places, args.sums, own, place);
    search_cells(target, args.places, args.grid, place, args.cell[row], [&](unsigned first, unsigned count) {
        Run run;
        run.begin = starts[first];
        run.second = starts[first + 1u];
        run.third = count > 1u ? starts[first + 2u] : run.second;
        run.end = count > 2u ? starts[first + 3u] : run.third;
        return run;
    });
    target.end(args.sums, row);
}
HILBRIUM_EXPORT(search_counting_grid)
