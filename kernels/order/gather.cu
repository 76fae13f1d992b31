// Gathers columns into another order.
#include "../device.cuh"
#include "../arguments/order_gather.cuh"

namespace hilbrium {

// Number of columns per launch; unused ones at the end are null. Each thread reads its row index once and has
// loads of all columns in flight.
constexpr unsigned GATHERED = 8;

// to[c][k] = from[c][rows[k]].
template <class Value>
__device__ __forceinline__ void gather(const Value* const (&from)[GATHERED], Value* const (&to)[GATHERED],
                                       const unsigned* __restrict__ rows, unsigned count) {
    for (unsigned long long place = thread_of_grid(); place < count; place += threads_of_grid()) {
        const unsigned row = rows[place];
        Value values[GATHERED];
#pragma unroll
        for (unsigned column = 0; column < GATHERED; ++column) {
            if (from[column] != nullptr) { values[column] = __ldg(from[column] + row); }
        }
#pragma unroll
        for (unsigned column = 0; column < GATHERED; ++column) {
            if (from[column] != nullptr) { to[column][place] = values[column]; }
        }
    }
}

// Columns of 64 bits: doubles, ids, keys. Source and destination columns must differ.
// Launch: up to one thread per row. Floor: 4 bytes per row and 16 per row and column if the order changes
// little; for an arbitrary order, each value reads a sector of 32 bytes.
extern "C" __global__ void gather_words(const __grid_constant__ GatherWordsArguments args) {
    gather(args.from, args.to, args.rows, args.count);
}
HILBRIUM_EXPORT(gather_words)

// One column of 32 bits. Launch: up to one thread per row. Floor: 12 bytes per row.
extern "C" __global__ void gather_halves(const __grid_constant__ GatherHalvesArguments args) {
    const unsigned* __restrict__ const from = args.from;
    unsigned* __restrict__ const to = args.to;
    const unsigned* __restrict__ const rows = args.rows;
    for (unsigned long long place = thread_of_grid(); place < args.count; place += threads_of_grid()) {
        to[place] = from[rows[place]];
    }
}
HILBRIUM_EXPORT(gather_halves)

// Inverse permutation: places[rows[k]] = k. Launch: up to one thread per row. Floor: 8 bytes per row.
extern "C" __global__ void invert_order(const __grid_constant__ InvertOrderArguments args) {
    const unsigned* __restrict__ const rows = args.rows;
    unsigned* __restrict__ const places = args.places;
    for (unsigned long long place = thread_of_grid(); place < args.count; place += threads_of_grid()) {
        places[rows[place]] = static_cast<unsigned>(place);
    }
}
HILBRIUM_EXPORT(invert_order)

} // namespace hilbrium
