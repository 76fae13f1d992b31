// Two-level neighbor search after Gross, Koester and Krueger, Fast and Efficient Nearest Neighbor Search for
// Particle Simulations, CGVC 2019: coarse cells in memory, each with its border particles apart from its
// inner ones, and a grid of local cells that a block builds in shared memory for one coarse cell.
//
// A block takes a coarse cell, widened by the largest distance of a pair. It streams the cell's own
// particles, then the borders of its neighbors, of which it keeps those that are near enough, sorts them by
// local cells in shared memory, and each thread looks up the 27 local cells around a particle of its own, as
// nine runs.
//
// Unlike the paper, which sorts the cell's own particles and streams all others past them, and therefore adds
// to sums of other threads: here a thread keeps the sums of its particle in registers. The border is sorted
// further, by the number of near faces, so that a neighbor at an edge or a corner reads only what may be
// near. A cell with more particles in reach than a block holds is processed in batches, and one with many own
// particles by several blocks. The order of additions depends on the order of atomic counts: the last bits of
// sums differ between runs.
#include "../device.cuh"
#include "../arguments/search_two_level.cuh"
#include "../search/place.cuh"

namespace hilbrium {
namespace search {

// Threads of a block, and most local cells.
#ifndef HILBRIUM_SEARCH_THREADS
#define HILBRIUM_SEARCH_THREADS 384
#endif
constexpr unsigned SEARCH_THREADS = HILBRIUM_SEARCH_THREADS, SEARCH_WARPS = SEARCH_THREADS / WARP;
constexpr unsigned LOCAL_CELLS = SEARCH_THREADS > 128 ? 2048 : 1024;

// Blocks of a multiprocessor, which bound the registers of a thread: 1024 threads or more in single
// precision, as most of a search waits for shared memory and barriers.
constexpr unsigned RESIDENT =
    sizeof(Real) == 4 ? (SEARCH_THREADS > 128 ? 3 : 8) : (SEARCH_THREADS > 128 ? 1 : 4);

// Particles in shared memory.
constexpr unsigned OF_THREAD = sizeof(Real) == 4 ? 4 : 2, CAPACITY = OF_THREAD * SEARCH_THREADS;

// A coarse cell and its neighbors.
constexpr unsigned NEIGHBORS = 27;

// Bit of a slot: the particle is not in the coarse cell itself, or it is a periodic image.
constexpr unsigned OTHER = 0x80000000u;

struct SearchStage {
    Scattered<CAPACITY> position;  // in the frame of the coarse cell
    unsigned slot[CAPACITY];       // places, with OTHER
    unsigned first[LOCAL_CELLS + 1];
    unsigned short targets[CAPACITY];
    Real shift[NEIGHBORS][3];
    unsigned begin[NEIGHBORS], through[NEIGHBORS];  // places of ranges; particles of all ranges so far
    unsigned of_warps[SEARCH_WARPS];
    unsigned waiting, chosen, item;
};
static_assert(sizeof(SearchStage) <= 48 * 1024, "shared memory of a block");

// The item of a block: a coarse cell.
struct CoarseCell {
    const SearchTwoLevelArguments& args;
    SearchStage& stage;
    Real low[3], high[3];   // the widened cell about its center
    Real scale[3];          // local cells per length
    unsigned total;         // particles of all ranges

    // The first place of a section.
    __device__ __forceinline__ unsigned section_begin(unsigned section) const {
        return section == 0 ? 0u : args.sections[section - 1u];
    }

    // Finds the ranges of particles to stream: the cell's own, then the borders of its neighbors. All threads
    // must call.
    __device__ __forceinline__ void begin(unsigned cell) {
        const SearchGrid& grid = args.grid;
        const unsigned index[3] = {cell % grid.cells[0], cell / grid.cells[0] % grid.cells[1],
                                   cell / grid.cells[0] / grid.cells[1]};
#pragma unroll
        for (int d = 0; d < 3; ++d) {
            // positions beyond an open grid are in the cells at its faces
            const bool open = (grid.periodic >> d & 1u) == 0u;
            const Real half = static_cast<Real>((0.5 * grid.width[d] + args.reach) * (1.0 + 1e-6));
            low[d] = -half;
            high[d] = half;
            scale[d] = static_cast<Real>(args.local_scale[d]);
            if (open && index[d] == 0) { low[d] = Real(-1e30); }
            if (open && index[d] == grid.cells[d] - 1u) { high[d] = Real(1e30); }
        }
        if (threadIdx.x < WARP) {
            const unsigned own = NEIGHBORS / 2, lane = threadIdx.x;
            const unsigned neighbor = lane == 0 ? own : lane <= own ? lane - 1u : lane;
            unsigned length = 0;
            if (lane < NEIGHBORS) {
                const int step[3] = {static_cast<int>(neighbor % 3) - 1,
                    static_cast<int>(neighbor / 3 % 3) - 1, static_cast<int>(neighbor / 9) - 1};
                unsigned other[3], faces = 0;
                bool there = true;
#pragma unroll
                for (int d = 0; d < 3; ++d) {
                    other[d] = neighbor_index(grid, d, index[d], step[d]);
                    there = there && other[d] != NOWHERE;
                    faces += step[d] != 0 ? 1u : 0u;
                    // an integer number of cells, periodic images included
                    stage.shift[lane][d] = static_cast<Real>(step[d] * grid.width[d]);
                }
                if (there) {
                    const unsigned section = SECTIONS * cell_number(grid, other);
                    stage.begin[lane] = section_begin(section);
                    length = args.sections[section + SECTIONS - 1u - faces] - stage.begin[lane];
                }
            }
            const unsigned through = warp_inclusive_sum(length);
            if (lane < NEIGHBORS) { stage.through[lane] = through; }
        }
        __syncthreads();
        total = stage.through[NEIGHBORS - 1u];
    }

    // The local cell of a position in one dimension.
    __device__ __forceinline__ int local_index(int d, Real coordinate) const {
        const Real half = static_cast<Real>(0.5 * args.grid.width[d] + args.reach);
        const Real place = (coordinate + half) * scale[d];
        const Real last = static_cast<Real>(args.local[d] - 1u);
        return static_cast<int>(min(max(place, Real(0)), last));
    }

    // Stages particles from number `next` of the stream on until there is no room or no more of them, and
    // sorts them by local cells. Returns the number of the first particle that is not staged. All threads
    // must call.
    __device__ __forceinline__ unsigned fill(unsigned next, unsigned& staged) {
        const unsigned cells = args.local[0] * args.local[1] * args.local[2];
        for (unsigned cell = threadIdx.x; cell <= cells; cell += SEARCH_THREADS) { stage.first[cell] = 0; }
        if (threadIdx.x == 0) { stage.waiting = 0; }
        __syncthreads();
        unsigned count = 0, range = 0;
        do {
            const unsigned end = smaller(total, next + (CAPACITY - count));
            for (; next < end; next += SEARCH_THREADS) {
                const unsigned number = next + threadIdx.x;
                bool kept = false;
                Real4 position{};
                unsigned slot = 0;
                if (number < end) {
                    while (number >= stage.through[range]) { ++range; }
                    const unsigned before = range == 0 ? 0u : stage.through[range - 1u];
                    slot = stage.begin[range] + (number - before);
                    position = args.places.position[slot];
                    position.x += stage.shift[range][0];
                    position.y += stage.shift[range][1];
                    position.z += stage.shift[range][2];
                    kept = range == 0 ||
                           (position.x >= low[0] && position.x <= high[0] && position.y >= low[1] &&
                               position.y <= high[1] && position.z >= low[2] && position.z <= high[2]);
                    slot |= range == 0 ? 0u : OTHER;
                }
                const unsigned keeping = __ballot_sync(FULL, kept);
                unsigned place = 0;
                if (lane_index() == 0 && keeping != 0u) {
                    place = atomicAdd(&stage.waiting, __popc(keeping));
                }
                place = __shfl_sync(FULL, place, 0) + __popc(keeping & lanes_below());
                if (kept) {
                    stage.position.write(place, position);
                    stage.slot[place] = slot;
                }
            }
            next = end;
            __syncthreads();
            count = stage.waiting;
            // before another addition to it
            __syncthreads();
        } while (next < total && CAPACITY - count >= SEARCH_THREADS);
        staged = count;
        sort(cells, count);
        return next;
    }

    // Sorts the staged particles by local cells, through registers.
    __device__ __forceinline__ void sort(unsigned cells, unsigned count) {
        Real4 position[OF_THREAD];
        unsigned slot[OF_THREAD], cell_and_rank[OF_THREAD];
#pragma unroll
        for (unsigned k = 0; k < OF_THREAD; ++k) {
            const unsigned at = k * SEARCH_THREADS + threadIdx.x;
            if (at >= count) { continue; }
            position[k] = stage.position[at];
            slot[k] = stage.slot[at];
            const int x = local_index(0, position[k].x), y = local_index(1, position[k].y);
            const unsigned cell = (local_index(2, position[k].z) * args.local[1] + y) * args.local[0] + x;
            cell_and_rank[k] = cell << 16 | atomicAdd(&stage.first[cell], 1u);
        }
        __syncthreads();
        // exclusive prefix sums: consecutive cells of a thread
        const unsigned share = (cells + SEARCH_THREADS) / SEARCH_THREADS, from = share * threadIdx.x;
        unsigned own = 0;
        for (unsigned k = from; k < smaller(from + share, cells + 1u); ++k) { own += stage.first[k]; }
        unsigned before = warp_inclusive_sum(own);
        if (lane_index() == WARP - 1u) { stage.of_warps[warp_of_block()] = before; }
        before -= own;
        __syncthreads();
        for (unsigned warp = 0; warp < warp_of_block(); ++warp) { before += stage.of_warps[warp]; }
        for (unsigned k = from; k < smaller(from + share, cells + 1u); ++k) {
            const unsigned here = stage.first[k];
            stage.first[k] = before;
            before += here;
        }
        __syncthreads();
#pragma unroll
        for (unsigned k = 0; k < OF_THREAD; ++k) {
            if (k * SEARCH_THREADS + threadIdx.x >= count) { continue; }
            const unsigned at = stage.first[cell_and_rank[k] >> 16] + (cell_and_rank[k] & 0xffffu);
            stage.position.write(at, position[k]);
            stage.slot[at] = slot[k];
        }
        __syncthreads();
    }

    // Lists the staged particles whose places are in [begin, end) of the coarse cell, in the order of local
    // cells within each warp. Returns their number. All threads must call.
    __device__ __forceinline__ unsigned choose(unsigned staged, unsigned begin, unsigned end) {
        if (threadIdx.x == 0) { stage.chosen = 0; }
        __syncthreads();
#pragma unroll
        for (unsigned k = 0; k < OF_THREAD; ++k) {
            const unsigned at = k * SEARCH_THREADS + threadIdx.x;
            const unsigned slot = at < staged ? stage.slot[at] : OTHER;
            const bool own = slot >= begin && slot < end;
            const unsigned owning = __ballot_sync(FULL, own);
            unsigned place = 0;
            if (lane_index() == 0 && owning != 0u) { place = atomicAdd(&stage.chosen, __popc(owning)); }
            place = __shfl_sync(FULL, place, 0) + __popc(owning & lanes_below());
            if (own) { stage.targets[place] = static_cast<unsigned short>(at); }
        }
        __syncthreads();
        return stage.chosen;
    }

    // Adds the staged neighbors of the particle at `place`.
    __device__ __forceinline__ void search(Target& target, unsigned place) const {
        const int x = local_index(0, target.own.x), y = local_index(1, target.own.y);
        const int z = local_index(2, target.own.z);
        const int columns = static_cast<int>(args.local[0]), rows = static_cast<int>(args.local[1]);
        const int layers = static_cast<int>(args.local[2]);
        const int left = x > 0 ? x - 1 : 0, right = x + 1 < columns ? x + 2 : columns;
#pragma unroll 1
        for (int run = 0; run < 9; ++run) {
            const int row = y + run % 3 - 1, layer = z + run / 3 - 1;
            if (row < 0 || row >= rows || layer < 0 || layer >= layers) { continue; }
            const int line = (layer * rows + row) * columns;
            const unsigned end = stage.first[line + right];
            for (unsigned at = stage.first[line + left]; at < end; ++at) {
                const Real4 other = stage.position[at];
                const Vec3 r = {target.own.x - other.x, target.own.y - other.y, target.own.z - other.z};
                const Real r2 = dot(r, r);
                if (!target.within(r2, other)) { continue; }
                const unsigned slot = stage.slot[at];
                if (slot != place) { target.add(args.places, other, slot & ~OTHER, r, r2); }
            }
        }
    }

    // Searches for the neighbors of the particles in [begin, end) of the coarse cell. If all particles in
    // reach are staged at once, for all of them; else all batches for as many as there are threads, in turns.
    __device__ __forceinline__ void run(unsigned begin, unsigned end) {
        Target target;
        for (unsigned first = begin; first < end; first += SEARCH_THREADS) {
            unsigned next = 0;
            bool begins = true, at_once;
            do {
                unsigned staged;
                next = fill(next, staged);
                at_once = begins && next == total;
                const unsigned count =
                    at_once ? choose(staged, begin, end) : smaller(end - first, SEARCH_THREADS);
#pragma unroll 1
                for (unsigned k = threadIdx.x; k < count; k += SEARCH_THREADS) {
                    const unsigned at = at_once ? stage.targets[k] : 0u;
                    const unsigned place = at_once ? stage.slot[at] : first + k;
                    const Real4 own = at_once ? stage.position[at] : args.places.position[place];
                    const unsigned row = row_of(args.places, own, place);
                    if (!is_wanted(args.sums, row)) { continue; }
                    if (begins) { target.begin(args.places, args.sums, own, place); }
                    search(target, place);
                    if (next == total) { target.end(args.sums, row); }
                }
                begins = false;
                __syncthreads();
            } while (next < total);
            if (at_once) { return; }
        }
    }
};

}  // namespace search
}  // namespace hilbrium

// Moves rows to the sections of their coarse cells: places are taken from the sections' first ones by atomic
// additions, which leaves their ends. Lanes with the same section add once.
// Launch: one thread per row, blocks of whole warps. Floor: 24 bytes and the law's inputs read, a packed row
// written, and an atomic addition per row.
extern "C" __global__ void move_to_sections(const __grid_constant__ hilbrium::MoveToSectionsArguments args) {
    using namespace hilbrium;
    using namespace hilbrium::search;
    const unsigned long long row = thread_of_grid();
    double x[3];
    Located own{};
    unsigned section = NOWHERE;
    if (read_position(args.rows, row, x)) {
        own = locate(args.grid, x);
        section = SECTIONS * cell_number(args.grid, own.index) + section_of(args.grid, own, args.reach);
    }
    const unsigned same = __match_any_sync(FULL, section);
    const int leader = __ffs(static_cast<int>(same)) - 1;
    unsigned place = 0;
    if (section != NOWHERE && static_cast<int>(lane_index()) == leader) {
        place = atomicAdd(&args.sections[section], __popc(same));
    }
    place = __shfl_sync(FULL, place, leader) + __popc(same & lanes_below());
    if (section != NOWHERE) {
        pack_row(args.columns, args.places, row, place, own.offset);
    } else if (row < args.rows.count) {
        write_neutral(args.sums, row);
    }
}
HILBRIUM_EXPORT(move_to_sections)

// Searches the items of coarse cells; see above. Empty cells have no item.
// Launch: blocks of SEARCH_THREADS, as many as fill the device; each takes items until there are no more.
// Floor: instructions: about ten per particle of a border that is streamed and per particle in 27 local
// cells.
extern "C" __global__ void __launch_bounds__(hilbrium::search::SEARCH_THREADS, hilbrium::search::RESIDENT)
    search_two_level(const __grid_constant__ hilbrium::SearchTwoLevelArguments args) {
    using namespace hilbrium;
    using namespace hilbrium::search;
    static_assert(!SYMMETRIC, "each particle sums its own pairs");
    __shared__ SearchStage stage;
    const unsigned items = *args.item_count;
    for (;;) {
        if (threadIdx.x == 0) { stage.item = atomicAdd(args.items_taken, 1u); }
        __syncthreads();
        const unsigned item = stage.item;
        if (item >= items) { return; }
        const unsigned cell = args.items[2 * item], first = args.items[2 * item + 1];
        CoarseCell coarse{args, stage, {}, {}, {}, 0};
        coarse.begin(cell);
        const unsigned from = coarse.section_begin(SECTIONS * cell);
        const unsigned end = args.sections[SECTIONS * cell + SECTIONS - 1u];
        coarse.run(from + first, smaller(from + first + args.item_particles, end));
    }
}
HILBRIUM_EXPORT(search_two_level)
