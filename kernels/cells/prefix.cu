// Prefix sums in shared memory by both ways of prefix.cuh, for tests and `bench cells`. Blocks have numbers
// of their own: block b those from b count on.
#include "../cells/prefix.cuh"
#include "../arguments/cells_prefix.cuh"

// Whether barriers and updates are counted.
#ifndef HILBRIUM_COUNTED
#define HILBRIUM_COUNTED 0
#endif

namespace hilbrium {
namespace cells {

#if HILBRIUM_COUNTED
struct Counter {
    unsigned barriers = 0, updates = 0;
    __device__ __forceinline__ void barrier() { ++barriers; }
    __device__ __forceinline__ void update() { ++updates; }
};
#else
using Counter = Uncounted;
#endif

}  // namespace cells

using namespace cells;

// Launch: blocks of any size; dynamic shared memory for `count` numbers. Floor: barriers.
extern "C" __global__ void prefix_in_place(const __grid_constant__ PrefixInPlaceArguments args) {
    HILBRIUM_DYNAMIC_SHARED(unsigned, numbers);
    const unsigned long long first = static_cast<unsigned long long>(blockIdx.x) * args.count;
    for (unsigned k = threadIdx.x; k < args.count; k += blockDim.x) { numbers[k] = args.numbers[first + k]; }
    __syncthreads();
    Counter counter;
#pragma unroll 1
    for (unsigned repeat = 0; repeat < args.repeats; ++repeat) { sum_in_place(numbers, args.count, counter); }
    for (unsigned k = threadIdx.x; k < args.count; k += blockDim.x) { args.sums[first + k] = numbers[k]; }
#if HILBRIUM_COUNTED
    if (blockIdx.x == 0 && threadIdx.x == 0) { args.counted[0] = counter.barriers; }
    atomicAdd(args.counted + 1, counter.updates);
#endif
}
HILBRIUM_EXPORT(prefix_in_place)

// Launch: blocks of whole warps; dynamic shared memory for `count` numbers. Floor: barriers.
extern "C" __global__ void prefix_by_warps(const __grid_constant__ PrefixByWarpsArguments args) {
    HILBRIUM_DYNAMIC_SHARED(unsigned, numbers);
    __shared__ unsigned of_warps[WARP];
    const unsigned long long first = static_cast<unsigned long long>(blockIdx.x) * args.count;
    for (unsigned k = threadIdx.x; k < args.count; k += blockDim.x) { numbers[k] = args.numbers[first + k]; }
    __syncthreads();
#pragma unroll 1
    for (unsigned repeat = 0; repeat < args.repeats; ++repeat) {
        sum_by_warps(numbers, args.count, of_warps);
    }
    for (unsigned k = threadIdx.x; k < args.count; k += blockDim.x) { args.sums[first + k] = numbers[k]; }
}
HILBRIUM_EXPORT(prefix_by_warps)

}  // namespace hilbrium
