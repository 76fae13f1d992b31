// Counts of particles in cells, for all methods of neighbor search; independent of the law.
#include "../device.cuh"
#include "../arguments/search_count.cuh"
#include "../order/scan.cuh"
#include "../search/grid.cuh"

namespace hilbrium {

// Threads and most coarse cells of a block that counts in shared memory: two counters of 16 bits per word.
constexpr unsigned COUNT_THREADS = 1024, SHARED_CELLS = 6144;
constexpr unsigned SHARED_WORDS = SHARED_CELLS * search::SECTIONS / 2;

// Number of a row's section, or NOWHERE.
__device__ __forceinline__ unsigned section_number(const CountSections& args, unsigned long long row) {
    double x[3];
    if (!search::read_position(args.rows, row, x)) { return search::NOWHERE; }
    const search::Located own = search::locate(args.grid, x);
    return search::SECTIONS * search::cell_number(args.grid, own.index) +
           search::section_of(args.grid, own, args.reach);
}

// Counts the particles of each section in the shared memory of blocks, and adds the counts to memory.
// Launch: blocks of COUNT_THREADS, each for at most 65535 rows, as counters have 16 bits; at most
// SHARED_CELLS cells. Floor: 24 bytes per row.
extern "C" __global__ void __launch_bounds__(COUNT_THREADS)
    count_in_shared(const __grid_constant__ CountInSharedArguments args) {
    __shared__ unsigned counters[SHARED_WORDS];
    const unsigned words = search::cell_count(args.count.grid) * (search::SECTIONS / 2);
    for (unsigned word = threadIdx.x; word < words; word += COUNT_THREADS) { counters[word] = 0; }
    __syncthreads();
    for (unsigned long long row = thread_of_grid(); row < args.count.rows.count; row += threads_of_grid()) {
        const unsigned section = section_number(args.count, row);
        if (section != search::NOWHERE) {
            atomicAdd(&counters[section / 2], section % 2 == 0 ? 1u : 0x10000u);
        }
    }
    __syncthreads();
    for (unsigned word = threadIdx.x; word < words; word += COUNT_THREADS) {
        const unsigned two = counters[word];
        if ((two & 0xffffu) != 0) { atomicAdd(&args.count.sections[2 * word], two & 0xffffu); }
        if (two >> 16 != 0) { atomicAdd(&args.count.sections[2 * word + 1], two >> 16); }
    }
}
HILBRIUM_EXPORT(count_in_shared)

// The same for any number of cells. Lanes that count the same section add once.
// Launch: one thread per row, blocks of whole warps. Floor: 24 bytes and an atomic addition per row.
extern "C" __global__ void count_in_global(const __grid_constant__ CountInGlobalArguments args) {
    const unsigned section = section_number(args.count, thread_of_grid());
    const unsigned same = __match_any_sync(FULL, section);
    if (section != search::NOWHERE && (same & lanes_below()) == 0u) {
        atomicAdd(&args.count.sections[section], __popc(same));
    }
}
HILBRIUM_EXPORT(count_in_global)

// Cells of rows and their places within the cells, in the order of atomic additions.
// Launch: one thread per row, blocks of whole warps. Floor: 32 bytes and an atomic addition per row.
extern "C" __global__ void count_cells(const __grid_constant__ CountCellsArguments args) {
    const unsigned long long row = thread_of_grid();
    double x[3];
    unsigned cell = search::NOWHERE;
    if (search::read_position(args.rows, row, x)) {
        cell = search::cell_number(args.grid, search::locate(args.grid, x).index);
    }
    const unsigned same = __match_any_sync(FULL, cell);
    const int leader = __ffs(static_cast<int>(same)) - 1;
    unsigned place = 0;
    if (cell != search::NOWHERE && static_cast<int>(lane_index()) == leader) {
        place = atomicAdd(&args.counts[cell], __popc(same));
    }
    place = __shfl_sync(FULL, place, leader) + __popc(same & lanes_below());
    if (row < args.rows.count) {
        args.cell[row] = cell;
        args.place[row] = place;
    }
}
HILBRIUM_EXPORT(count_cells)

// Cells of rows as keys. Launch: one thread per row. Floor: 32 bytes per row.
extern "C" __global__ void key_cells(const __grid_constant__ KeyCellsArguments args) {
    const unsigned long long row = thread_of_grid();
    if (row >= args.rows.count) { return; }
    double x[3];
    unsigned cell = search::cell_count(args.grid);
    if (search::read_position(args.rows, row, x)) {
        cell = search::cell_number(args.grid, search::locate(args.grid, x).index);
    }
    args.keys[row] = cell;
}
HILBRIUM_EXPORT(key_cells)

// Replaces counts by their exclusive prefix sums; with `items`, appends an item (cell, first particle) for
// every `item_particles` particles of the cells of four counts, in any order.
// Launch: one block of 256 threads per tile of 1024 counts. Floor: 8 bytes per count.
extern "C" __global__ void __launch_bounds__(SCAN_THREADS)
    scan_counts(const __grid_constant__ ScanCountsArguments args) {
    const unsigned tile = take_tile(args.tiles_taken);
    const unsigned first = tile * (4u * SCAN_THREADS) + 4u * threadIdx.x;
    uint4 own = make_uint4(0, 0, 0, 0);
    if (first < args.count) { own = *reinterpret_cast<const uint4*>(args.counts + first); }
    const unsigned two = own.x + own.y, three = two + own.z, four = three + own.w;
    unsigned long long total = 0;
    const unsigned next = static_cast<unsigned>(scan_tile(four, tile, args.published, total));
    if (first < args.count) {
        *reinterpret_cast<uint4*>(args.counts + first) =
            make_uint4(next, next + own.x, next + two, next + three);
    }
    if (args.items == nullptr) { return; }
    const unsigned items = (four + args.item_particles - 1u) / args.item_particles;
    const unsigned through = warp_inclusive_sum(items);
    unsigned begin = 0;
    if (lane_index() == WARP - 1u && through > 0) { begin = atomicAdd(args.item_count, through); }
    begin = __shfl_sync(FULL, begin, WARP - 1) + through - items;
    for (unsigned item = 0; item < items; ++item) {
        args.items[2 * (begin + item)] = first / 4u;
        args.items[2 * (begin + item) + 1] = item * args.item_particles;
    }
}
HILBRIUM_EXPORT(scan_counts)

}  // namespace hilbrium
