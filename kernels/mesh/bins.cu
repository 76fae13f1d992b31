// Sorts particles into bins (bins.cuh). Two ways: by counting, where the order within a bin differs between
// runs, and from keys sorted stably elsewhere (kernels/order/sort.cu), where it is that of the rows.
#include "../mesh/bins.cuh"
#include "../arguments/mesh_bins.cuh"

namespace hilbrium {
namespace mesh {

constexpr unsigned BIN_THREADS = 256;

// Candidates that a slice of a tile has at least. A warp takes about 1.2 microseconds per 32 of them, and the
// last one of a tile 0.35 per slice to sum up: together least for sqrt(9 candidates).
__device__ __forceinline__ unsigned least_of_slice(unsigned candidates, unsigned limit) {
    const float best = sqrtf(9.0f * static_cast<float>(candidates));
    return best > static_cast<float>(limit) ? static_cast<unsigned>(best) : limit;
}

} // namespace mesh

// Records in the order of rows.
// Launch: blocks of 256 threads, one thread per row. Floor: 24 bytes read and 16 written per row (32 in
// double precision).
extern "C" __global__ void __launch_bounds__(mesh::BIN_THREADS)
    find_records(const __grid_constant__ FindRecordsArguments args) {
    using namespace mesh;
    const auto [begin, end] = args.rows;
    const unsigned long long place = thread_of_grid();
    if (place >= end - begin) { return; }
    args.records[place] = record_of(args.geometry, args.position, begin + static_cast<unsigned>(place));
}
HILBRIUM_EXPORT(find_records)

// Bin of each row and its rank within the bin; counts[bin], initially 0, becomes the number of rows. Lanes of
// a warp with the same bin share an atomic addition.
// Launch: blocks of 256 threads, one thread per row. Floor: 24 bytes read and 8 written per row; rows along
// the Hilbert curve, so that counters stay in the second-level cache.
extern "C" __global__ void __launch_bounds__(mesh::BIN_THREADS)
    count_bins(const __grid_constant__ CountBinsArguments args) {
    using namespace mesh;
    const auto [begin, end] = args.rows;
    const unsigned long long place = thread_of_grid();
    const bool active = place < end - begin;
    unsigned bin = ~0u;
    if (active) {
        const Record record = record_of(args.geometry, args.position, begin + static_cast<unsigned>(place));
        bin = bin_of(args.geometry, record);
    }
    const unsigned same = __match_any_sync(FULL, bin);
    const int leader = __ffs(static_cast<int>(same)) - 1;
    unsigned first = 0;
    if (active && static_cast<int>(lane_index()) == leader) {
        first = atomicAdd(args.counts + bin, static_cast<unsigned>(__popc(same)));
    }
    first = __shfl_sync(FULL, first, leader);
    if (active) {
        args.bins[place] = bin;
        args.ranks[place] = first + static_cast<unsigned>(__popc(same & lanes_below()));
    }
}
HILBRIUM_EXPORT(count_bins)

// Records at their places: starts[bin] + rank.
// Launch: blocks of 256 threads, one thread per row. Floor: 32 bytes read and 20 written per row (36 in
// double precision).
extern "C" __global__ void __launch_bounds__(mesh::BIN_THREADS)
    place_records(const __grid_constant__ PlaceRecordsArguments args) {
    using namespace mesh;
    const auto [begin, end] = args.rows;
    const unsigned long long place = thread_of_grid();
    if (place >= end - begin) { return; }
    const unsigned row = begin + static_cast<unsigned>(place);
    const unsigned long long slot = args.starts[args.bins[place]] + args.ranks[place];
    args.records[slot] = record_of(args.geometry, args.position, row);
    args.rows_of_records[slot] = row;
}
HILBRIUM_EXPORT(place_records)

// Keys of rows for a stable sort: the bin, shifted to the upper bits that the sort inspects.
// Launch: blocks of 256 threads, one thread per row. Floor: 24 bytes read and 8 written per row.
extern "C" __global__ void __launch_bounds__(mesh::BIN_THREADS)
    bin_keys(const __grid_constant__ BinKeysArguments args) {
    using namespace mesh;
    const auto [begin, end] = args.rows;
    const unsigned long long place = thread_of_grid();
    if (place >= end - begin) { return; }
    const Record record = record_of(args.geometry, args.position, begin + static_cast<unsigned>(place));
    args.keys[place] = static_cast<unsigned long long>(bin_of(args.geometry, record)) << args.shift;
}
HILBRIUM_EXPORT(bin_keys)

// Records in the order of sorted keys.
// Launch: blocks of 256 threads, one thread per row. Floor: 28 bytes read and 20 written per row.
extern "C" __global__ void __launch_bounds__(mesh::BIN_THREADS)
    place_sorted(const __grid_constant__ PlaceSortedArguments args) {
    using namespace mesh;
    const auto [begin, end] = args.rows;
    const unsigned long long place = thread_of_grid();
    if (place >= end - begin) { return; }
    const unsigned row = begin + args.order[place];
    args.records[place] = record_of(args.geometry, args.position, row);
    args.rows_of_records[place] = row;
}
HILBRIUM_EXPORT(place_sorted)

// First record of each bin, then the number of records, by binary search in the sorted keys.
// Launch: blocks of 256 threads, one thread per bin and one more. Floor: 8 bytes written per bin; about 20
// dependent reads, most of them from the caches.
extern "C" __global__ void __launch_bounds__(mesh::BIN_THREADS)
    find_starts(const __grid_constant__ FindStartsArguments args) {
    const unsigned long long bin = thread_of_grid();
    if (bin > args.bins) { return; }
    unsigned first = 0, length = args.count;
    while (length > 0) {
        const unsigned half = length / 2u;
        const bool below = args.keys[first + half] >> args.shift < bin;
        first += below ? half + 1u : 0u;
        length = below ? length - half - 1u : half;
    }
    args.starts[bin] = first;
}
HILBRIUM_EXPORT(find_starts)

// Splits tiles with more than about `limit` candidates into slices, so that no warp has much more to do than
// others: slices[tile] is their number, 1 for all others. A split tile has one part per slice from
// first_part[tile] on, and tile_of_part is filled. `parts`, initially 0, becomes their number; `arrived`
// becomes 0 for each tile.
// Launch: blocks of 256 threads, one warp per tile. Floor: 16 bytes per range, up to 18 ranges per tile.
extern "C" __global__ void __launch_bounds__(mesh::BIN_THREADS)
    split_tiles(const __grid_constant__ SplitTilesArguments args) {
    using namespace mesh;
    const unsigned number = warp_of_grid();
    if (number >= args.tiles) { return; }
    const Tile tile = tile_at(args.geometry, number);
    const unsigned candidates = warp_sum(range_of(args.geometry, args.starts, tile, lane_index()).length);
    const unsigned limit = least_of_slice(candidates, args.limit);
    const unsigned slices = candidates <= limit ? 1u : (candidates + limit - 1u) / limit;
    unsigned first = 0;
    if (lane_index() == 0) {
        if (slices > 1u) { first = atomicAdd(args.parts, slices); }
        args.slices[number] = slices;
        args.first_part[number] = first;
        args.arrived[number] = 0;
    }
    first = __shfl_sync(FULL, first, 0);
    if (slices == 1u) { return; }
    for (unsigned slice = lane_index(); slice < slices; slice += WARP) {
        args.tile_of_part[first + slice] = number;
    }
}
HILBRIUM_EXPORT(split_tiles)

} // namespace hilbrium
