// Neighbor search over a virtual grid after Green (Particle simulation using CUDA, 2012): particles are
// sorted by cell number, and each cell has the first and the last place of its particles. The sort is stable
// and a thread per particle adds its pairs in the order of places: sums are reproducible bit for bit.
#include "../device.cuh"
#include "../arguments/search_sorted_grid.cuh"
#include "../search/cells.cuh"

// Moves rows into the order of the sorted keys and finds the places of cells. Launch: one thread per row.
// Floor: 36 bytes and the law's inputs read, a packed row written per row.
extern "C" __global__ void gather_cells(const __grid_constant__ hilbrium::GatherCellsArguments args) {
    using namespace hilbrium;
    using namespace hilbrium::search;
    const unsigned long long thread = thread_of_grid();
    if (thread >= args.rows.count) { return; }
    const unsigned place = static_cast<unsigned>(thread), row = args.order[place];
    const unsigned long long cell = args.keys[place];
    double x[3];
    if (!read_position(args.rows, row, x)) {
        write_neutral(args.sums, row);
        return;
    }
    pack_row(args.columns, args.places, row, place, locate(args.grid, x).offset);
    if (place == 0 || args.keys[place - 1u] != cell) { args.starts[cell] = place; }
    if (place + 1u == args.rows.count || args.keys[place + 1u] != cell) { args.ends[cell] = place + 1u; }
}
HILBRIUM_EXPORT(gather_cells)

// Searches for the neighbors of all places. Launch: one thread per row, blocks of any size. Floor: about ten
// instructions per particle in 27 cells.
extern "C" __global__ void search_sorted_grid(
    const __grid_constant__ hilbrium::SearchSortedGridArguments args) {
    using namespace hilbrium;
    using namespace hilbrium::search;
    static_assert(!SYMMETRIC, "each particle sums its own pairs");
    const unsigned long long thread = thread_of_grid();
    if (thread >= args.places.count) { return; }
    const unsigned place = static_cast<unsigned>(thread);
    const unsigned long long cell = args.keys[place];
    if (cell >= cell_count(args.grid)) { return; }
    const Real4 own = args.places.position[place];
    const unsigned row = row_of(args.places, own, place);
    if (!is_wanted(args.sums, row)) { return; }
    const unsigned* __restrict__ const starts = args.starts;
    const unsigned* __restrict__ const ends = args.ends;
    Target target;
    target.begin(args.places, args.sums, own, place);
    search_cells(target, args.places, args.grid, place, static_cast<unsigned>(cell),
                 [&](unsigned first, unsigned count) {
        const unsigned one = starts[first];
        const unsigned two = count > 1u ? starts[first + 1u] : NOWHERE;
        const unsigned three = count > 2u ? starts[first + 2u] : NOWHERE;
        Run run{0, 0, 0, 0};
        if (smaller(one, smaller(two, three)) == NOWHERE) { return run; }
        run.end = ends[three != NOWHERE ? first + 2u : two != NOWHERE ? first + 1u : first];
        run.third = smaller(three, run.end);
        run.second = smaller(two, run.third);
        run.begin = smaller(one, run.second);
        return run;
    });
    target.end(args.sums, row);
}
HILBRIUM_EXPORT(search_sorted_grid)
