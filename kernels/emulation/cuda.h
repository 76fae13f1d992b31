// Kernels on a host without a device: CUDA C++ as far as the kernels of this program use it, one fiber a thread.
// A unit is compiled with this file ahead of it:
//
//     g++ -std=c++17 -O2 -shared -fPIC -pthread -fsanitize=bounds,shift-exponent -fsanitize-undefined-trap-on-error
//         -DHILBRIUM_EMULATED -include kernels/emulation/cuda.h -x c++ unit.cu -o unit.so
//
// For each HILBRIUM_EXPORT(kernel) the library has
//
//     void emulated_<kernel>(const unsigned grid[3], const unsigned block[3], void** arguments);
//     const unsigned* emulated_<kernel>_sizes;   // the number of its arguments, then the bytes of each
//
// the first with the array of pointers to arguments that cuLaunchKernel takes too. It returns when the kernel is done.
// Once a kernel of it has run, a library stays loaded.
//
// What holds as on a device (compute capability 7 and later): collectives of a warp wait for the lanes of their mask,
// barriers for the threads of a block, both without those that have returned. Shared memory is all ones when a block
// starts. Threads and blocks run in an order that nothing may rely on, and that changes with a seed.
//
// What is wrong on a device, or means another thing there, ends in a report and an abort: a deadlock, threads at
// different barriers or collectives, a lane outside of its mask, too large a block, too much local memory, a loop that
// waits for ever, an address that nothing is mapped at, a division of integers by zero, and with the options above an
// index outside of an array and a shift by all bits. Memory that ends where a page does that cannot be touched makes
// each access past its end such an address. A race shows as a wrong result, at some orders.
//
// What does not hold: no two threads of a block run at once, so a loop that waits for another thread's store must
// sleep in between (__nanosleep, or load_acquire of device.cuh); no block waits for one that has not started;
// approximations are exact; no dynamic shared memory, no textures, no cooperative groups, no inline assembly.
//
// Settings, from the environment: HILBRIUM_EMULATION_SEED (1) draws the orders, and 0 makes them ascending;
// HILBRIUM_EMULATION_THREADS (1) is the number of host threads that take blocks: with 1 all sums are repeatable.
#pragma once

#include <dlfcn.h>
#include <link.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <time.h>
#include <ucontext.h>

#include <cassert>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#pragma GCC diagnostic ignored "-Wattributes"

// Two libraries may hold the same function with another type behind its names: nothing but the entry points is shared.
#pragma GCC visibility push(hidden)

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...)
#define __grid_constant__
#define __shared__ static thread_local
#define __constant__ static
#define __align__(bytes) __attribute__((aligned(bytes)))

#include "vectors.h"
#include "fibers.h"
#include "block.h"
#include "warp.h"
#include "atomics.h"
#include "arithmetic.h"
#include "launch.h"

#define threadIdx (::emulation::running_thread().thread)
#define blockIdx (::emulation::running_block().index)
#define blockDim (::emulation::running_block().dimensions)
#define gridDim (::emulation::running_block().grid)

#define HILBRIUM_EXPORT(kernel)                                                                                      \
    extern "C" __attribute__((visibility("default"))) void emulated_##kernel(const unsigned* grid,                   \
                                                                             const unsigned* block,                  \
                                                                             void** arguments) {                     \
        ::emulation::launch(#kernel, ::emulation::Kernel<kernel>::call, grid, block, arguments);                     \
    }                                                                                                                \
    extern "C" __attribute__((visibility("default"))) const unsigned* const emulated_##kernel##_sizes =              \
        ::emulation::Kernel<kernel>::sizes;
