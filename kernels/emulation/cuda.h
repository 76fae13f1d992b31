// Emulation of kernels on a host without a device: the subset of CUDA C++ used by this program, one fiber per
// thread. A unit is compiled with this header included first:
//
//     g++ -std=c++17 -O2 -shared -fPIC -pthread
//         -fsanitize=bounds,shift-exponent -fsanitize-undefined-trap-on-error
//         -DHILBRIUM_EMULATED -include kernels/emulation/cuda.h -x c++ unit.cu -o unit.so
//
// For each HILBRIUM_EXPORT(kernel) the library exports
//
//     void emulated_<kernel>(const unsigned grid[3], const unsigned block[4], void** arguments);
//     const unsigned* emulated_<kernel>_sizes;   // the number of arguments, then the size of each in bytes
//
// The first one takes the same array of pointers to arguments as cuLaunchKernel, and returns when the kernel
// has completed; block[3] is the number of bytes of dynamic shared memory. A library stays loaded after a
// kernel of it has run.
//
// Like on a device (compute capability 7 and later): warp collectives wait for the lanes of their mask,
// barriers for the threads of the block, both without those that have returned. Shared memory is filled with
// ones when a block starts; dynamic shared memory (HILBRIUM_DYNAMIC_SHARED of device.cuh) ends at a guard
// page. Threads and blocks run in an unspecified order that changes with the seed.
//
// Errors or undefined behavior on a device are reported and abort: a deadlock, threads at different barriers
// or collectives, a lane outside of its mask, too large a block, too much local memory, an endless spin loop,
// an access to unmapped memory, an integer division by zero, and, with the options above, an index outside of
// an array or a shift by the full width. If allocations end at a guard page, each access past their end is
// detected. A race shows as a wrong result in some orders.
//
// Unlike on a device: threads of a block do not run in parallel, so that spin loops must yield (__nanosleep,
// or load_acquire of device.cuh); a block cannot wait for one that has not started; approximations are exact;
// there are no textures, cooperative groups or inline assembly.
//
// Environment variables: HILBRIUM_EMULATION_SEED (1) seeds the orders, 0 makes them ascending.
// HILBRIUM_EMULATION_THREADS (1) is the number of host threads that run blocks; with 1, all sums are
// reproducible.
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

// Two libraries may define the same function on different types of the same name: export the entry points
// only.
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
