// Reductions over blocks of 256 threads, the same bits in every run: sums in a fixed order, extremes exact.
//
// Sums: every block leaves its own in `partial[k * blocks + block]`, and finish_sums of motion/whole.cu adds those of a
// column. Extremes and first rows are joined in memory by atomics, whose order cannot matter.
#pragma once

#include "../device.cuh"

namespace hilbrium {

// Threads of a block of all kernels over single particles.
constexpr unsigned THREADS = 256u;
constexpr unsigned WARPS = THREADS / WARP;

// Rows that a block sums which only reads them: the pieces of src/pair/pieces.rs.
constexpr unsigned PIECE = 2048u;

// Numbers as whole ones in the same order, for atomic extremes: negative ones with all bits changed, others with the
// sign set. src/device/reduction.rs has the inverse. Zero of either sign comes out alike, as its sign has no meaning here.
__device__ __forceinline__ unsigned long long ordered(double value) {
    const long long bits = __double_as_longlong(value + 0.0);
    return static_cast<unsigned long long>(bits) ^ (static_cast<unsigned long long>(bits >> 63) | (1ull << 63));
}

// Extremes in memory begin as zero bits, which say that there is none yet: a smallest value is kept as the largest
// complement, a first row as the largest complement of a row. Memory is read before: atomics of many blocks on one
// address take their turns, and few of them change it.
__device__ __forceinline__ void raise(unsigned long long* largest, unsigned long long value) {
    if (value > *static_cast<volatile unsigned long long*>(largest)) { atomicMax(largest, value); }
}
__device__ __forceinline__ void note_first(unsigned* first, unsigned long long row) {
    const unsigned value = ~static_cast<unsigned>(row);
    if (value > *static_cast<volatile unsigned*>(first)) { atomicMax(first, value); }
}

// Joins a block's smallest, or largest, with the one in memory; all threads must call, results are complete when the
// kernel ends.
__device__ __forceinline__ void join_smallest(double value, unsigned long long* smallest) {
    __shared__ double of_warp[WARPS];
    value = warp_smallest(value);
    if (lane_index() == 0) { of_warp[warp_of_block()] = value; }
    __syncthreads();
    if (threadIdx.x == 0) {
        for (unsigned warp = 1; warp < WARPS; ++warp) { value = smaller(value, of_warp[warp]); }
        raise(smallest, ~ordered(value));
    }
    __syncthreads();
}
__device__ __forceinline__ void join_largest(double value, unsigned long long* largest) {
    __shared__ double of_warp[WARPS];
    value = warp_largest(value);
    if (lane_index() == 0) { of_warp[warp_of_block()] = value; }
    __syncthreads();
    if (threadIdx.x == 0) {
        for (unsigned warp = 1; warp < WARPS; ++warp) { value = larger(value, of_warp[warp]); }
        raise(largest, ordered(value));
    }
    __syncthreads();
}

// Leaves the block's sums of COUNT values in its place of `partial`; all threads must call.
template <unsigned COUNT> __device__ __forceinline__ void leave_sums(const double (&values)[COUNT], double* partial) {
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

// Adds to counters in memory how many threads of the block say so; all threads must call.
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
