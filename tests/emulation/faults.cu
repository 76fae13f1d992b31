// Kernels with a fault each, named by the argument: what the emulation must report, or what must come out wrong.
#include "../device.cuh"
#include "harness.h"

using namespace hilbrium;

extern "C" __global__ void missing_syncwarp(unsigned* results) {
    __shared__ unsigned kept[32];
    kept[threadIdx.x] = threadIdx.x;
    results[threadIdx.x] = kept[31u - threadIdx.x];
}
HILBRIUM_EXPORT(missing_syncwarp)

extern "C" __global__ void missing_syncthreads(unsigned* results) {
    __shared__ unsigned kept[4];
    if (lane_index() == 0u) { kept[warp_of_block()] = warp_of_block(); }
    __syncwarp();
    results[threadIdx.x] = kept[3u - warp_of_block()];
}
HILBRIUM_EXPORT(missing_syncthreads)

// The second barrier of the loop is missing: a warp that is ahead overwrites what others still read.
extern "C" __global__ void missing_second_barrier(unsigned* results) {
    __shared__ unsigned kept[128];
    unsigned sum = 0;
    for (unsigned round = 0; round < 4u; round++) {
        kept[threadIdx.x] = round;
        __syncthreads();
        sum += kept[127u - threadIdx.x];
    }
    results[threadIdx.x] = sum;
}
HILBRIUM_EXPORT(missing_second_barrier)

extern "C" __global__ void unwritten_shared_memory(unsigned* results) {
    __shared__ unsigned kept[32];
    if (blockIdx.x == 0u) { kept[threadIdx.x] = 5u; }
    results[blockIdx.x * 32u + threadIdx.x] = kept[threadIdx.x];
}
HILBRIUM_EXPORT(unwritten_shared_memory)

extern "C" __global__ void divergent_barrier(unsigned* results) {
    if (threadIdx.x < 7u) { __syncthreads(); }
    results[threadIdx.x] = __ballot_sync(FULL, 1);
}
HILBRIUM_EXPORT(divergent_barrier)

extern "C" __global__ void two_barriers(unsigned* results) {
    if (threadIdx.x < 32u) {
        __syncthreads();
    } else {
        __syncthreads();
    }
    results[threadIdx.x] = 1u;
}
HILBRIUM_EXPORT(two_barriers)

extern "C" __global__ void outside_of_mask(unsigned* results) {
    results[threadIdx.x] = __ballot_sync(0xffffu, 1);
}
HILBRIUM_EXPORT(outside_of_mask)

extern "C" __global__ void different_masks(unsigned* results) {
    results[threadIdx.x] = __shfl_sync(threadIdx.x < 16u ? FULL : 0xfffffffeu, threadIdx.x, 1);
}
HILBRIUM_EXPORT(different_masks)

extern "C" __global__ void past_the_end(unsigned* results) { results[4u * threadIdx.x] = 1u; }
HILBRIUM_EXPORT(past_the_end)

extern "C" __global__ void divided_by_zero(unsigned* results) { results[threadIdx.x] = 64u / (threadIdx.x % 5u); }
HILBRIUM_EXPORT(divided_by_zero)

extern "C" __global__ void outside_of_array(unsigned* results) {
    __shared__ unsigned kept[32];
    __shared__ unsigned others[32];
    others[threadIdx.x] = 7u;
    kept[threadIdx.x + (threadIdx.x == 21u ? 12u : 0u)] = threadIdx.x;
    __syncwarp();
    results[threadIdx.x] = kept[threadIdx.x] + others[threadIdx.x];
}
HILBRIUM_EXPORT(outside_of_array)

// Zero on a device, one on a processor.
extern "C" __global__ void shifted_too_far(unsigned* results) { results[threadIdx.x] = 1u << (threadIdx.x + 20u); }
HILBRIUM_EXPORT(shifted_too_far)

extern "C" __global__ void waits_for_ever(unsigned* results) {
    while (load_acquire(&results[blockIdx.x + 1u]) == 0u) {}
}
HILBRIUM_EXPORT(waits_for_ever)

extern "C" __global__ void much_local_memory(unsigned* results) {
    volatile unsigned kept[16000];
    for (unsigned i = 0; i < 16000u; i++) { kept[i] = i * threadIdx.x; }
    __syncwarp();
    results[threadIdx.x] = kept[(threadIdx.x * 977u) % 16000u];
}
HILBRIUM_EXPORT(much_local_memory)

extern "C" __global__ void innocent(unsigned* results) { results[threadIdx.x] = 1u; }
HILBRIUM_EXPORT(innocent)

int main(int count, char** arguments) {
    const auto is = [&](const char* name) { return count > 1 && std::strcmp(arguments[1], name) == 0; };
    harness::Column<unsigned> results(128);
    if (is("missing_syncwarp")) {
        LAUNCH(missing_syncwarp, 1u, 32u, results.values);
        for (unsigned i = 0; i < 32; i++) { harness::check("found", i, results[i], 31 - i); }
    } else if (is("missing_syncthreads")) {
        LAUNCH(missing_syncthreads, 1u, 128u, results.values);
        for (unsigned i = 0; i < 128; i++) { harness::check("found", i, results[i], 3 - i / 32); }
    } else if (is("missing_second_barrier")) {
        LAUNCH(missing_second_barrier, 1u, 128u, results.values);
        for (unsigned i = 0; i < 128; i++) { harness::check("found", i, results[i], 6u); }
    } else if (is("unwritten_shared_memory")) {
        LAUNCH(unwritten_shared_memory, 2u, 32u, results.values);
        for (unsigned i = 0; i < 64; i++) { harness::check("found", i, results[i], 5u); }
    } else if (is("divergent_barrier")) {
        LAUNCH(divergent_barrier, 1u, 32u, results.values);
    } else if (is("two_barriers")) {
        LAUNCH(two_barriers, 1u, 64u, results.values);
    } else if (is("outside_of_mask")) {
        LAUNCH(outside_of_mask, 1u, 32u, results.values);
    } else if (is("different_masks")) {
        LAUNCH(different_masks, 1u, 32u, results.values);
    } else if (is("past_the_end")) {
        LAUNCH(past_the_end, 1u, 64u, results.values);
    } else if (is("divided_by_zero")) {
        LAUNCH(divided_by_zero, 1u, 32u, results.values);
    } else if (is("outside_of_array")) {
        LAUNCH(outside_of_array, 1u, 32u, results.values);
    } else if (is("shifted_too_far")) {
        LAUNCH(shifted_too_far, 1u, 32u, results.values);
    } else if (is("waits_for_ever")) {
        LAUNCH(waits_for_ever, 1u, 32u, results.values);
    } else if (is("much_local_memory")) {
        LAUNCH(much_local_memory, 1u, 32u, results.values);
    } else if (is("large_block")) {
        LAUNCH(innocent, 1u, 1056u, results.values);
    } else if (is("innocent")) {
        LAUNCH(innocent, 1u, 128u, results.values);
        for (unsigned i = 0; i < 128; i++) { harness::check("found", i, results[i], 1u); }
    } else {
        std::printf("no such fault\n");
        return 2;
    }
    return harness::verdict();
}
