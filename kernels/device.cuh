// Common header of all kernel files: kernel export, constants, indices and warp reductions. Include it first,
// as "../device.cuh" from a kernel folder.
#pragma once

// Registers a kernel's entry point with a host. The emulation (kernels/emulation/cuda.h, included ahead of
// the unit by the compiler's command line) defines it; on a device, `extern "C" __global__` suffices.
#ifndef HILBRIUM_EMULATED
#define HILBRIUM_EXPORT(kernel)
#endif

// Declares `name`, a pointer to the shared memory that the launch asks for beyond the kernel's own.
#ifdef HILBRIUM_EMULATED
#define HILBRIUM_DYNAMIC_SHARED(Type, name)                                                                  \
    Type* const name = static_cast<Type*>(::emulation::dynamic_shared())
#else
#define HILBRIUM_DYNAMIC_SHARED(Type, name)                       \
    extern __shared__ __align__(16) unsigned char name##_bytes[]; \
    Type* const name = reinterpret_cast<Type*>(name##_bytes)
#endif

namespace hilbrium {

// Lanes per warp, and the full mask of warp collectives.
constexpr unsigned WARP = 32u;
constexpr unsigned FULL = 0xffffffffu;

// Particles per cluster and super-cluster, clusters per super-cluster (src/neighbors).
constexpr unsigned CLUSTER = 8u;
constexpr unsigned SUPER_CLUSTER = 64u;
constexpr unsigned CLUSTERS = SUPER_CLUSTER / CLUSTER;

// Particle lists have the neighbors of this many clusters in a row: a sweep that stages no more at once reads
// each number in one round.
constexpr unsigned ENTRIES_OF_ROUND = 128u;

// This bit of an entry of a particle list is set if the images of its cluster differ from particle to
// particle.
constexpr unsigned WIDE_ENTRY = 1u << 31;

// Id of ghost rows: padding at the end of the columns that must not interact.
constexpr unsigned long long GHOST = 0xffffffffffffffffull;

// Lane of this thread, and index of this warp within its block, for one-dimensional blocks.
__device__ __forceinline__ unsigned lane_index() { return threadIdx.x & (WARP - 1u); }
__device__ __forceinline__ unsigned warp_of_block() { return threadIdx.x / WARP; }

// Index of this thread and warp within a one-dimensional grid. Threads are counted in 64 bits: a grid of
// blocks of 1024 threads exceeds 2^32 threads at 4.2 million blocks.
__device__ __forceinline__ unsigned long long thread_of_grid() {
    return static_cast<unsigned long long>(blockIdx.x) * blockDim.x + threadIdx.x;
}
__device__ __forceinline__ unsigned long long threads_of_grid() {
    return static_cast<unsigned long long>(gridDim.x) * blockDim.x;
}
__device__ __forceinline__ unsigned warp_of_grid() { return blockIdx.x * (blockDim.x / WARP) + warp_of_block(); }
__device__ __forceinline__ unsigned warps_of_grid() { return gridDim.x * (blockDim.x / WARP); }

// Mask of the lanes below this one, for ranks within a warp: popcount(ballot & lanes_below()).
__device__ __forceinline__ unsigned lanes_below() { return (1u << lane_index()) - 1u; }

template <class Value> __device__ __forceinline__ Value smaller(Value a, Value b) { return b < a ? b : a; }
template <class Value> __device__ __forceinline__ Value larger(Value a, Value b) { return a < b ? b : a; }

// Sum, minimum and maximum over the warp, in every lane; all 32 lanes must call. The order of additions is
// that of the butterfly, the same in every run. Floor: 5 exchanges of 32 bits, 10 of 64 bits.
template <class Value> __device__ __forceinline__ Value warp_sum(Value value) {
#pragma unroll
    for (unsigned distance = WARP / 2u; distance > 0u; distance /= 2u) {
        value += __shfl_xor_sync(FULL, value, distance);
    }
    return value;
}
template <class Value> __device__ __forceinline__ Value warp_smallest(Value value) {
#pragma unroll
    for (unsigned distance = WARP / 2u; distance > 0u; distance /= 2u) {
        value = smaller(value, __shfl_xor_sync(FULL, value, distance));
    }
    return value;
}
template <class Value> __device__ __forceinline__ Value warp_largest(Value value) {
#pragma unroll
    for (unsigned distance = WARP / 2u; distance > 0u; distance /= 2u) {
        value = larger(value, __shfl_xor_sync(FULL, value, distance));
    }
    return value;
}

// Inclusive prefix sum over the lanes, and exclusive prefix sum below; all 32 lanes must call.
template <class Value> __device__ __forceinline__ Value warp_inclusive_sum(Value value) {
#pragma unroll
    for (unsigned distance = 1u; distance < WARP; distance *= 2u) {
        const Value below = __shfl_up_sync(FULL, value, distance);
        if (lane_index() >= distance) { value += below; }
    }
    return value;
}
template <class Value> __device__ __forceinline__ Value warp_exclusive_sum(Value value) {
    return warp_inclusive_sum(value) - value;
}

// Flags between blocks: stores before store_release are visible after the load_acquire that reads the flag. A
// spin loop must load the flag this way, and may only wait for blocks that have certainly started: those with
// a smaller number taken from a counter by atomicAdd.
#ifdef HILBRIUM_EMULATED
template <class Value> inline Value load_acquire(const Value* address) {
    const Value value = __atomic_load_n(address, __ATOMIC_ACQUIRE);
    emulation::pause();
    return value;
}
template <class Value> inline void store_release(Value* address, Value value) {
    __atomic_store_n(address, value, __ATOMIC_RELEASE);
}
#else
__device__ __forceinline__ unsigned load_acquire(const unsigned* address) {
    unsigned value;
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(address) : "memory");
    return value;
}
__device__ __forceinline__ unsigned long long load_acquire(const unsigned long long* address) {
    unsigned long long value;
    asm volatile("ld.acquire.gpu.global.u64 %0, [%1];" : "=l"(value) : "l"(address) : "memory");
    return value;
}
__device__ __forceinline__ void store_release(unsigned* address, unsigned value) {
    asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(address), "r"(value) : "memory");
}
__device__ __forceinline__ void store_release(unsigned long long* address, unsigned long long value) {
    asm volatile("st.release.gpu.global.u64 [%0], %1;" ::"l"(address), "l"(value) : "memory");
}
#endif

}  // namespace hilbrium
