// Sorts rows by 64-bit keys. Pairs of key and row are radix-sorted digit by digit from the lowest
// (radix.cuh), by as many upper bits as distinguish nearly all keys. The few runs that agree in these bits
// are then sorted in place. Equal keys are ordered by id, or by row.
#include "../device.cuh"
#include "../arguments/order_sort.cuh"
#include "../order/radix.cuh"

namespace hilbrium {

constexpr unsigned HISTOGRAM_THREADS = 512;
constexpr unsigned MOST_DIGITS = 8;

// Histogram of each digit, and the number of keys smaller than their predecessor (0 for a sorted column).
// Digit d consists of the eight bits from first_shift + 8 d on; histograms[digits][256] and descents are
// initially 0.
// Launch: blocks of 512 threads, as many as fill the device; keys start at a multiple of 16 bytes.
// Floor: 8 bytes per key; one shared memory addition per key and digit (a third of a cycle per key and
// multiprocessor).
extern "C" __global__ void __launch_bounds__(HISTOGRAM_THREADS)
    radix_histograms(const __grid_constant__ RadixHistogramsArguments args) {
    const unsigned long long* __restrict__ const keys = args.keys;
    const unsigned count = args.count;
    const unsigned digits = args.digits;
    unsigned* __restrict__ const histograms = args.histograms;
    unsigned* __restrict__ const descents = args.descents;
    __shared__ unsigned counts[MOST_DIGITS * RADIX];
    __shared__ unsigned descending;
    for (unsigned k = threadIdx.x; k < digits * RADIX; k += HISTOGRAM_THREADS) {
        counts[k] = 0;
    }
    if (threadIdx.x == 0) { descending = 0; }
    __syncthreads();
    const auto add = [&](unsigned long long key) {
        for (unsigned digit = 0; digit < digits; ++digit) {
            atomicAdd(&counts[digit * RADIX + radix_digit(key, args.first_shift + digit * RADIX_BITS)], 1u);
        }
    };
    unsigned found = 0;
    const unsigned pairs = count / 2;
    for (unsigned long long pair = thread_of_grid(); pair < pairs; pair += threads_of_grid()) {
        const ulonglong2 two = reinterpret_cast<const ulonglong2*>(keys)[pair];
        add(two.x);
        add(two.y);
        const unsigned long long next = 2 * pair + 2;
        found += (two.y < two.x ? 1u : 0u) + (next < count && keys[next] < two.y ? 1u : 0u);
    }
    if (count % 2 != 0 && thread_of_grid() == 0) { add(keys[count - 1]); }
    if (found != 0) { atomicAdd(&descending, found); }
    __syncthreads();
    for (unsigned k = threadIdx.x; k < digits * RADIX; k += HISTOGRAM_THREADS) {
        if (counts[k] != 0) { atomicAdd(&histograms[k], counts[k]); }
    }
    if (threadIdx.x == 0 && descending != 0) { atomicAdd(descents, descending); }
}
HILBRIUM_EXPORT(radix_histograms)

// Replaces the histograms by exclusive prefix sums within each digit. Sets trivial[digit] to 1 if all keys
// have the same value, so that the pass would move nothing.
// Launch: one block of 256 threads per digit. Floor: latency.
extern "C" __global__ void __launch_bounds__(RADIX)
    radix_bases(const __grid_constant__ RadixBasesArguments args) {
    unsigned* __restrict__ const histograms = args.histograms;
    unsigned* __restrict__ const trivial = args.trivial;
    __shared__ unsigned sums[RADIX / WARP];
    const unsigned place = blockIdx.x * RADIX + threadIdx.x, warp = warp_of_block();
    const unsigned own = histograms[place];
    if (own == args.count) { trivial[blockIdx.x] = 1; }
    unsigned through = warp_inclusive_sum(own);
    if (lane_index() == WARP - 1u) { sums[warp] = through; }
    __syncthreads();
    for (unsigned other = 0; other < warp; ++other) {
        through += sums[other];
    }
    histograms[place] = through - own;
}
HILBRIUM_EXPORT(radix_bases)

// A pass (radix.cuh) over pairs with rows 0, 1, 2, ...
// Launch: one block of SORT_THREADS per tile of SORT_TILE pairs. Floor: 20 bytes per pair, about 80
// instructions.
extern "C" __global__ void __launch_bounds__(SORT_THREADS, SORT_BLOCKS)
    radix_pass_first(const __grid_constant__ RadixPassFirstArguments args) {
    const RadixPass& pass = args.pass;
    radix_pass<true>(pass.keys_from, nullptr, pass.keys_to, pass.rows_to, pass.base, pass.published,
                     pass.next_published, pass.tiles_taken, pass.count, pass.shift);
}
HILBRIUM_EXPORT(radix_pass_first)

// A pass (radix.cuh).
// Launch: one block of SORT_THREADS per tile of SORT_TILE pairs. Floor: 24 bytes per pair, about 80
// instructions.
extern "C" __global__ void __launch_bounds__(SORT_THREADS, SORT_BLOCKS)
    radix_pass_next(const __grid_constant__ RadixPassNextArguments args) {
    const RadixPass& pass = args.pass;
    radix_pass<false>(pass.keys_from, pass.rows_from, pass.keys_to, pass.rows_to, pass.base, pass.published,
                     pass.next_published, pass.tiles_taken, pass.count, pass.shift);
}
HILBRIUM_EXPORT(radix_pass_next)

// Writes the rows 0, 1, 2, ... Launch: one thread per row. Floor: 4 bytes per row.
extern "C" __global__ void rows_in_order(const __grid_constant__ RowsInOrderArguments args) {
    unsigned* __restrict__ const rows = args.rows;
    const unsigned long long row = thread_of_grid();
    if (row < args.count) { rows[row] = static_cast<unsigned>(row); }
}
HILBRIUM_EXPORT(rows_in_order)

constexpr unsigned RUN_THREADS = 256;
constexpr unsigned LONGEST_RUN = 2 * WARP;

// A run of pairs with equal upper bits.
struct Run {
    unsigned long long* keys;
    unsigned* rows;
    const unsigned long long* id;
    unsigned first, length;
};

// Returns whether pair `other` precedes pair `own` of a run: by key, then id, then position. `own_key` is the
// key of `own`.
__device__ __forceinline__ bool precedes(const Run& run, unsigned other, unsigned own, unsigned long long own_key) {
    const unsigned long long key = run.keys[run.first + other];
    if (key != own_key || other == own) { return key < own_key; }
    if (run.id == nullptr) { return other < own; }
    const unsigned long long identity = run.id[run.rows[run.first + other]], mine = run.id[run.rows[run.first + own]];
    return identity < mine || (identity == mine && other < own);
}

// Sorts a run of up to 64 pairs with a warp, two pairs per lane: the rank of a pair is the number of pairs
// that precede it.
__device__ inline bool sort_run(const Run& run) {
    unsigned long long keys[2] = {0, 0};
    unsigned rows[2] = {0, 0}, ranks[2] = {0, 0};
#pragma unroll
    for (unsigned k = 0; k < 2; ++k) {
        const unsigned own = lane_index() + k * WARP;
        if (own >= run.length) { continue; }
        keys[k] = run.keys[run.first + own];
        rows[k] = run.rows[run.first + own];
        for (unsigned other = 0; other < run.length; ++other) {
            ranks[k] += precedes(run, other, own, keys[k]) ? 1u : 0u;
        }
    }
    __syncwarp(); // all reads precede all writes
    bool moves = false;
#pragma unroll
    for (unsigned k = 0; k < 2; ++k) {
        const unsigned own = lane_index() + k * WARP;
        if (own >= run.length || ranks[k] == own) { continue; }
        run.keys[run.first + ranks[k]] = keys[k];
        run.rows[run.first + ranks[k]] = rows[k];
        moves = true;
    }
    return moves;
}

// Sorts the runs of pairs that agree in key >> shift by key, then id of the row (`id`, or null), then
// position. The thread with the first pair of a run sorts it in place: alone for two pairs, with its warp for
// up to 64. Longer runs are left unsorted and counted in `too_long`. `moved` becomes 1 if any pair moves.
// Other threads concurrently read only the upper bits, which all keys of a run share, so that moves do not
// affect them.
// Launch: blocks of 256 threads, two pairs per thread. Floor: 8 bytes per pair, and 24 more per pair in a
// run.
extern "C" __global__ void __launch_bounds__(RUN_THREADS)
    sort_runs(const __grid_constant__ SortRunsArguments args) {
    unsigned long long* const keys = args.keys;
    unsigned* const rows = args.rows;
    const unsigned long long* __restrict__ const id = args.id;
    const unsigned count = args.count;
    const unsigned shift = args.shift;
    const unsigned first = 2u * static_cast<unsigned>(thread_of_grid()), lane = lane_index();
    // This thread's two keys and the adjacent ones; the bounds checks below exclude missing neighbors.
    unsigned long long own[2] = {0, 0};
    if (first + 1u < count) {
        const ulonglong2 two = *reinterpret_cast<const ulonglong2*>(keys + first);
        own[0] = two.x, own[1] = two.y;
    } else if (first < count) {
        own[0] = keys[first];
    }
    unsigned long long outer = 0;
    if (lane == 0 && first > 0 && first - 1u < count) { outer = keys[first - 1u]; }
    if (lane == WARP - 1u && first + 2u < count) { outer = keys[first + 2u]; }
    const unsigned long long group[2] = {own[0] >> shift, own[1] >> shift};
    unsigned long long before = __shfl_up_sync(FULL, group[1], 1), after = __shfl_down_sync(FULL, group[0], 1);
    if (lane == 0) { before = outer >> shift; }
    if (lane == WARP - 1u) { after = outer >> shift; }
    const bool both = first + 1u < count && group[0] == group[1];
    const bool begins_first = both && (first == 0 || before != group[0]);
    const bool begins_second = first + 2u < count && group[1] == after && group[0] != group[1];

    Run run{keys, rows, id, begins_first ? first : first + 1u, 0};
    if (begins_first || begins_second) {
        const unsigned long long upper = begins_first ? group[0] : group[1];
        run.length = 2;
        while (run.length <= LONGEST_RUN && run.first + run.length < count &&
               keys[run.first + run.length] >> shift == upper) {
            ++run.length;
        }
    }
    bool moves = false;
    if (run.length == 2 && precedes(run, 1, 0, keys[run.first])) {
        const unsigned long long key = keys[run.first];
        const unsigned row = rows[run.first];
        keys[run.first] = keys[run.first + 1u], rows[run.first] = rows[run.first + 1u];
        keys[run.first + 1u] = key, rows[run.first + 1u] = row;
        moves = true;
    }
    if (run.length > LONGEST_RUN) { atomicAdd(args.too_long, 1u); }
    for (unsigned longer = __ballot_sync(FULL, run.length > 2 && run.length <= LONGEST_RUN); longer != 0u;
         longer &= longer - 1u) {
        const int leader = __ffs(static_cast<int>(longer)) - 1;
        const unsigned begin = __shfl_sync(FULL, run.first, leader), length = __shfl_sync(FULL, run.length, leader);
        moves |= sort_run({keys, rows, id, begin, length});
    }
    if (moves) { *args.moved = 1u; }
}
HILBRIUM_EXPORT(sort_runs)

} // namespace hilbrium
