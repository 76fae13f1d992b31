// Reductions over blocks of 256 threads, bitwise reproducible: sums in a fixed order, extremes exact.
//
// Each block writes its sums to `partial[k * blocks + block]`, and finish_sums of motion/whole.cu adds up
// each column. Extremes and first rows are combined by atomics, whose order does not affect the result.
#pragma once

#include "../device.cuh"

namespace hilbrium {

// Threads per block of all kernels over single particles.
constexpr unsigned THREADS = 256u;
constexpr unsigned WARPS = THREADS / WARP;

// Rows per block of read-only reductions: the same blocks as in src/particles/blocks.rs.
constexpr unsigned ROWS_PER_BLOCK = 2048u;

// Order-preserving map of doubles to unsigned integers, for atomic extremes: inverts all bits of negative
// values and sets the sign bit of others. src/device/reduction.rs has the inverse. Zeros of either sign map
// to the same value.
__device__ __forceinline__ unsigned long long ordered(double value) {
    const long long bits = __double_as_longlong(value + 0.0);
    return static_cast<unsigned long long>(bits) ^ (static_cast<unsigned long long>(bits >> 63) | (1ull << 63));
}

// The value of such an integer that is a maximum, 0 for "none yet".
__device__ __forceinline__ double decoded(unsigned long long word) {
    const unsigned long long sign = 1ull << 63;
    const unsigned long long bits = (word & sign) != 0 ? word ^ sign : ~word;
    return word == 0 ? 0.0 : __longlong_as_double(static_cast<long long>(bits));
}

// Extremes are initialized to zero bits, which mean "none yet": a minimum is stored as the maximum
// complement, a first row as the maximum complement of a row. A plain read first avoids most atomics, which
// serialize on the same address.
__device__ __forceinline__ void raise_maximum(unsigned long long* largest, unsigned long long value) {
    if (value > *static_cast<volatile unsigned long long*>(largest)) { atomicMax(largest, value); }
}
__device__ __forceinline__ void record_first(unsigned* first, unsigned long long row) {
    const unsigned value = ~static_cast<unsigned>(row);
    if (value > *static_cast<volatile unsigned*>(first)) { atomicMax(first, value); }
}

// Combines a block's minimum or maximum with the one in memory. All threads must call; results are complete
// when the kernel ends.
__device__ __forceinline__ void reduce_min(double value, unsigned long long* smallest) {
    __shared__ double of_warp[WARPS];
    value = warp_smallest(value);
    if (lane_index() == 0) { of_warp[warp_of_block()] = value; }
    __syncthreads();
    if (threadIdx.x == 0) {
        for (unsigned warp = 1; warp < WARPS; ++warp) { value = smaller(value, of_warp[warp]); }
        raise_maximum(smallest, ~ordered(value));
    }
    __syncthreads();
}
__device__ __forceinline__ void reduce_max(double value, unsigned long long* largest) {
    __shared__ double of_warp[WARPS];
    value = warp_largest(value);
    if (lane_index() == 0) { of_warp[warp_of_block()] = value; }
    __syncthreads();
    if (threadIdx.x == 0) {
        for (unsigned warp = 1; warp < WARPS; ++warp) { value = larger(value, of_warp[warp]); }
        raise_maximum(largest, ordered(value));
    }
    __syncthreads();
}

// Writes the block's sums of COUNT values to its place in `partial`. All threads must call.
template <unsigned COUNT>
__device__ __forceinline__ void store_partial_sums(const double (&values)[COUNT], double* partial) {
    __shared__ double of_warp[COUNT][WARPS];
#pragma unroll
    for (unsigned k = 0; k < COUNT; ++k) {
        const double sum = warp_sum(values[k]);
        if (lane_index() == 0) { of_warp[k][warp_of_block()] = sum; }
    }
    __syncthreads();
    if (threadIdx.x < COUNT) {
        double sum = 0.0;
        for (unsigned warp = 0; warp < WARPS; ++warp) { sum += of_warp[threadIdx.x][warp]; }
        partial[static_cast<unsigned long long>(threadIdx.x) * gridDim.x + blockIdx.x] = sum;
    }
    __syncthreads();
}

// Adds the numbers of threads with each flag set to counters in memory. All threads must call.
template <unsigned COUNT> __device__ __forceinline__ void count(const bool (&says)[COUNT], unsigned* counters) {
    __shared__ unsigned of_block[COUNT];
    if (threadIdx.x < COUNT) { of_block[threadIdx.x] = 0; }
    __syncthreads();
#pragma unroll
    for (unsigned k = 0; k < COUNT; ++k) {
        const unsigned found = __popc(__ballot_sync(FULL, says[k]));
        if (lane_index() == 0 && found > 0) { atomicAdd(&of_block[k], found); }
    }
    __syncthreads();
    if (threadIdx.x < COUNT && of_block[threadIdx.x] > 0) { atomicAdd(&counters[threadIdx.x], of_block[threadIdx.x]); }
    __syncthreads();
}

}  // namespace hilbrium
