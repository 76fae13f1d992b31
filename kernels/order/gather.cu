// Columns in another order.
#include "../device.cuh"
#include "../arguments/order_gather.cuh"

namespace hilbrium {

// Columns that a launch takes: all of them, of which unused ones at the end are null. A thread reads its row once, and
// values of all columns are on their way at the same time.
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

// Columns of 64 bits: doubles, identities, keys. No column may be read and written.
// Launch: a thread a row or fewer. Floor: 4 bytes a row and 16 a row and column, where the order changes little; a
// whole sector of 32 bytes is read for each value where it is arbitrary.
extern "C" __global__ void gather_words(const __grid_constant__ GatherWordsArguments args) {
    gather(args.from, args.to, args.rows, args.count);
}
HILBRIUM_EXPORT(gather_words)

// One column of 32 bits. Launch: a thread a row or fewer. Floor: 12 bytes a row.
extern "C" __global__ void gather_halves(const __grid_constant__ GatherHalvesArguments args) {
    const unsigned* __restrict__ const from = args.from;
    unsigned* __restrict__ const to = args.to;
    const unsigned* __restrict__ const rows = args.rows;
    for (unsigned long long place = thread_of_grid(); place < args.count; place += threads_of_grid()) {
        to[place] = from[rows[place]];
    }
}
HILBRIUM_EXPORT(gather_halves)

// Where each row has gone: places[rows[k]] = k. Launch: a thread a row or fewer. Floor: 8 bytes a row.
extern "C" __global__ void invert_order(const __grid_constant__ InvertOrderArguments args) {
    const unsigned* __restrict__ const rows = args.rows;
    unsigned* __restrict__ const places = args.places;
    for (unsigned long long place = thread_of_grid(); place < args.count; place += threads_of_grid()) {
        places[rows[place]] = static_cast<unsigned>(place);
    }
}
HILBRIUM_EXPORT(invert_order)

} // namespace hilbrium
