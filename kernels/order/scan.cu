// Prefix sums of counts, and compaction of marked rows.
#include "../device.cuh"
#include "../arguments/order_scan.cuh"
#include "../order/scan.cuh"

namespace hilbrium {

// Elements per thread: 16 bytes of either kind.
constexpr unsigned COUNTS_OF_THREAD = 4;
constexpr unsigned COUNTS_OF_TILE = SCAN_THREADS * COUNTS_OF_THREAD;
constexpr unsigned MARKS_OF_THREAD = 16;
constexpr unsigned MARKS_OF_TILE = SCAN_THREADS * MARKS_OF_THREAD;

// sums[k] = counts[0] + ... + counts[k - 1] for k = 0 to `count`; the last one is the total. `published` has
// a zero per tile, `tiles_taken` is zero; counts and sums start at multiples of 16 bytes.
// Launch: one block of 256 threads per tile of 1024 counts, at least one. Floor: 12 bytes per count.
extern "C" __global__ void __launch_bounds__(SCAN_THREADS)
    sum_counts(const __grid_constant__ SumCountsArguments args) {
    const unsigned* __restrict__ const counts = args.counts;
    const unsigned count = args.count;
    unsigned long long* __restrict__ const sums = args.sums;
    const unsigned tile = take_tile(args.tiles_taken);
    const unsigned first = tile * COUNTS_OF_TILE + threadIdx.x * COUNTS_OF_THREAD;
    uint4 own = make_uint4(0, 0, 0, 0);
    if (first + COUNTS_OF_THREAD <= count) {
        own = *reinterpret_cast<const uint4*>(counts + first);
    } else {
        own.x = first < count ? counts[first] : 0u;
        own.y = first + 1 < count ? counts[first + 1] : 0u;
        own.z = first + 2 < count ? counts[first + 2] : 0u;
    }
    const unsigned long long one = own.x, two = one + own.y, three = two + own.z, four = three + own.w;
    unsigned long long total = 0;
    const unsigned long long next = scan_tile(four, tile, args.published, total);
    if (first + COUNTS_OF_THREAD <= count) {
        reinterpret_cast<ulonglong2*>(sums + first)[0] = make_ulonglong2(next, next + one);
        reinterpret_cast<ulonglong2*>(sums + first)[1] = make_ulonglong2(next + two, next + three);
    } else {
        if (first < count) { sums[first] = next; }
        if (first + 1 < count) { sums[first + 1] = next + one; }
        if (first + 2 < count) { sums[first + 2] = next + two; }
    }
    if (count <= (tile + 1u) * COUNTS_OF_TILE && threadIdx.x == 0) { sums[count] = total; }
}
HILBRIUM_EXPORT(sum_counts)

// Finds the marked rows (marks[row] != 0) in ascending order. Sets `found` to their number; rows_of_marks
// must hold all of them. `published` has a zero per tile, `tiles_taken` is zero; marks start at a multiple of
// 16 bytes.
// Launch: one block of 256 threads per tile of 4096 rows, at least one. Floor: 1 byte per row and 4 per
// marked row.
extern "C" __global__ void __launch_bounds__(SCAN_THREADS)
    find_marked(const __grid_constant__ FindMarkedArguments args) {
    const unsigned char* __restrict__ const marks = args.marks;
    const unsigned rows = args.rows;
    unsigned* __restrict__ const rows_of_marks = args.rows_of_marks;
    unsigned* __restrict__ const found = args.found;
    const unsigned tile = take_tile(args.tiles_taken);
    const unsigned first = tile * MARKS_OF_TILE + threadIdx.x * MARKS_OF_THREAD;
    unsigned set = 0;
    if (first + MARKS_OF_THREAD <= rows) {
        const uint4 all = *reinterpret_cast<const uint4*>(marks + first);
        const unsigned words[4] = {all.x, all.y, all.z, all.w};
#pragma unroll
        for (unsigned item = 0; item < MARKS_OF_THREAD; ++item) {
            set |= (words[item / 4] >> (8 * (item % 4)) & 0xffu) != 0u ? 1u << item : 0u;
        }
    } else {
        for (unsigned item = 0; item < MARKS_OF_THREAD; ++item) {
            set |= first + item < rows && marks[first + item] != 0 ? 1u << item : 0u;
        }
    }
    unsigned long long total = 0;
    unsigned next = static_cast<unsigned>(scan_tile(__popc(set), tile, args.published, total));
    while (set != 0u) {
        rows_of_marks[next++] = first + static_cast<unsigned>(__ffs(static_cast<int>(set))) - 1u;
        set &= set - 1u;
    }
    const bool last = rows <= (tile + 1u) * MARKS_OF_TILE;
    if (last && threadIdx.x == 0) { *found = static_cast<unsigned>(total); }
}
HILBRIUM_EXPORT(find_marked)

} // namespace hilbrium
