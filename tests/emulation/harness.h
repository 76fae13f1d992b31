// The same kernels on the emulation and, compiled by nvcc, on a device: memory that both sides see, launches, checks.
#pragma once

#ifdef HILBRIUM_EMULATED
#include <cfenv>
#include <tuple>
#define DEVICE_MEMORY(bytes) ::harness::emulated_memory(bytes)
#define LAUNCH(kernel, blocks, threads, ...)                       \
    do {                                                           \
        const unsigned grid_of_launch[3] = {(blocks), 1, 1};       \
        const unsigned block_of_launch[4] = {(threads), 1, 1, 0};  \
        ::harness::Arguments arguments_of_launch(__VA_ARGS__);     \
        emulated_##kernel(grid_of_launch, block_of_launch, arguments_of_launch.pointers); \
    } while (false)
#else
#include <cuda_runtime.h>

#include <cassert>
#include <cfenv>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#define DEVICE_MEMORY(bytes) ::harness::device_memory(bytes)
#define LAUNCH(kernel, blocks, threads, ...)                                                   \
    do {                                                                                       \
        kernel<<<(blocks), (threads)>>>(__VA_ARGS__);                                          \
        if (cudaDeviceSynchronize() != cudaSuccess) {                                          \
            std::printf("%s: %s\n", #kernel, cudaGetErrorString(cudaGetLastError()));          \
            std::exit(3);                                                                      \
        }                                                                                      \
    } while (false)
#endif

namespace harness {

inline int wrong = 0;
inline int checked = 0;

template <class Value> void check(const char* what, unsigned place, Value found, Value wanted) {
    checked++;
    if (std::memcmp(&found, &wanted, sizeof(Value)) == 0) { return; }
    if (wrong++ < 20) {
        std::printf("WRONG: %s, place %u: %.17g instead of %.17g\n", what, place, static_cast<double>(found),
                    static_cast<double>(wanted));
    }
}

inline int verdict() {
    std::printf("%d checked, %d wrong\n", checked, wrong);
    return wrong == 0 && checked > 0 ? 0 : 1;
}

#ifdef HILBRIUM_EMULATED
// Memory that ends where a page does that can be touched, but for the last bytes that alignment takes.
inline void* emulated_memory(std::size_t bytes) {
    const std::size_t page = 4096;
    const std::size_t wanted = (bytes + 15) / 16 * 16;
    const std::size_t whole = (wanted + page - 1) / page * page;
    void* memory = mmap(nullptr, whole + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) { std::abort(); }
    char* begin = static_cast<char*>(memory);
    mprotect(begin + whole, page, PROT_NONE);
    return begin + whole - wanted;
}

template <class... Values> struct Arguments {
    std::tuple<Values...> values;
    void* pointers[sizeof...(Values)];
    explicit Arguments(Values... given) : values(given...) { point(std::index_sequence_for<Values...>{}); }
    template <std::size_t... index> void point(std::index_sequence<index...>) {
        ((pointers[index] = &std::get<index>(values)), ...);
    }
};
#else
inline void* device_memory(std::size_t bytes) {
    void* memory = nullptr;
    if (cudaMallocManaged(&memory, bytes) != cudaSuccess) { std::exit(3); }
    return memory;
}
#endif

template <class Value> struct Column {
    Value* values;
    explicit Column(std::size_t count) : values(static_cast<Value*>(DEVICE_MEMORY(count * sizeof(Value)))) {
        std::memset(static_cast<void*>(values), 0, count * sizeof(Value));
    }
    Value& operator[](std::size_t place) { return values[place]; }
};

}  // namespace harness
