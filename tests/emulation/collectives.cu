// Collectives, barriers, shared memory and atomics, against what plain loops over the threads give.
#include "../device.cuh"
#include "harness.h"

using namespace hilbrium;

constexpr unsigned RESULTS = 28;

// Each lane's number: spread over all bits, negative ones among them.
__host__ __device__ inline unsigned number(unsigned thread) { return (thread + 1u) * 2654435769u; }

extern "C" __global__ void whole_warps(unsigned long long* results) {
    const unsigned lane = lane_index();
    const unsigned x = number(static_cast<unsigned>(thread_of_grid()));
    const double y = static_cast<double>(static_cast<int>(x)) / 3.0;
    unsigned long long* mine = results + thread_of_grid() * RESULTS;
    mine[0] = __shfl_sync(FULL, x, static_cast<int>(lane * 7u + 3u));
    mine[1] = __shfl_sync(FULL, x, static_cast<int>(lane + 5u), 8);
    mine[2] = __shfl_xor_sync(FULL, x, 9);
    mine[3] = __shfl_xor_sync(FULL, x, 12, 8);
    mine[4] = __shfl_up_sync(FULL, x, 3u, 8);
    mine[5] = __shfl_down_sync(FULL, x, 3u, 8);
    mine[6] = __shfl_up_sync(FULL, x, 1u);
    mine[7] = __shfl_down_sync(FULL, x, 17u);
    mine[8] = static_cast<unsigned long long>(__double_as_longlong(__shfl_xor_sync(FULL, y, 16)));
    mine[9] = __ballot_sync(FULL, static_cast<int>(x & 4u));
    mine[10] = static_cast<unsigned>(__any_sync(FULL, (x & 0xfffu) == 0u));
    mine[11] = static_cast<unsigned>(__all_sync(FULL, lane < 32u));
    mine[12] = static_cast<unsigned>(__all_sync(FULL, lane != 31u));
    mine[13] = __match_any_sync(FULL, lane / 5u);
    mine[14] = __match_any_sync(FULL, static_cast<unsigned long long>(lane % 3u) << 40);
    int all = -1;
    mine[15] = __match_all_sync(FULL, warp_of_grid(), &all);
    mine[16] = static_cast<unsigned>(all);
    mine[17] = __match_all_sync(FULL, lane / 31u, &all) + static_cast<unsigned>(all);
    mine[18] = __reduce_add_sync(FULL, x);
    mine[19] = __reduce_min_sync(FULL, x);
    mine[20] = __reduce_max_sync(FULL, x);
    mine[21] = static_cast<unsigned>(__reduce_min_sync(FULL, static_cast<int>(x)));
    mine[22] = static_cast<unsigned>(__reduce_max_sync(FULL, static_cast<int>(x)));
    mine[23] = __reduce_and_sync(FULL, x | 0x00ff0000u);
    mine[24] = __reduce_or_sync(FULL, x & 0x0f0f0f0fu);
    mine[25] = __reduce_xor_sync(FULL, x);
    mine[26] = warp_exclusive_sum(x);
    mine[27] = static_cast<unsigned long long>(__double_as_longlong(warp_smallest(y)));
}
HILBRIUM_EXPORT(whole_warps)

static void check_whole_warps() {
    constexpr unsigned BLOCKS = 3, THREADS = 96;
    harness::Column<unsigned long long> results(BLOCKS * THREADS * RESULTS);
    LAUNCH(whole_warps, BLOCKS, THREADS, results.values);
    for (unsigned thread = 0; thread < BLOCKS * THREADS; thread++) {
        const unsigned lane = thread % 32, first = thread - lane;
        const auto at = [&](unsigned of) { return static_cast<unsigned long long>(number(first + of)); };
        const auto real = [&](unsigned of) { return static_cast<double>(static_cast<int>(number(first + of))) / 3.0; };
        unsigned long long wanted[RESULTS] = {};
        wanted[0] = at((lane * 7 + 3) % 32);
        wanted[1] = at(lane / 8 * 8 + (lane + 5) % 8);
        wanted[2] = at(lane ^ 9);
        wanted[3] = (lane ^ 12) < lane / 8 * 8 + 8 ? at(lane ^ 12) : at(lane);
        wanted[4] = lane % 8 >= 3 ? at(lane - 3) : at(lane);
        wanted[5] = lane % 8 < 5 ? at(lane + 3) : at(lane);
        wanted[6] = lane >= 1 ? at(lane - 1) : at(lane);
        wanted[7] = lane < 15 ? at(lane + 17) : at(lane);
        double other = real(lane ^ 16);
        std::memcpy(&wanted[8], &other, 8);
        unsigned sum = 0, smallest = ~0u, largest = 0, conjunction = ~0u, disjunction = 0, parity = 0, below = 0;
        int lowest = std::numeric_limits<int>::max(), highest = std::numeric_limits<int>::min();
        double least = real(0);
        for (unsigned of = 0; of < 32; of++) {
            const unsigned x = number(first + of);
            if ((x & 4) != 0) { wanted[9] |= 1ull << of; }
            if ((x & 0xfff) == 0) { wanted[10] = 1; }
            if (of / 5 == lane / 5) { wanted[13] |= 1ull << of; }
            if (of % 3 == lane % 3) { wanted[14] |= 1ull << of; }
            if (of < lane) { below += x; }
            sum += x;
            smallest = x < smallest ? x : smallest;
            largest = x > largest ? x : largest;
            lowest = static_cast<int>(x) < lowest ? static_cast<int>(x) : lowest;
            highest = static_cast<int>(x) > highest ? static_cast<int>(x) : highest;
            conjunction &= x | 0x00ff0000;
            disjunction |= x & 0x0f0f0f0f;
            parity ^= x;
            least = real(of) < least ? real(of) : least;
        }
        wanted[11] = 1;
        wanted[12] = 0;
        wanted[15] = FULL;
        wanted[16] = 1;
        wanted[17] = 0;
        wanted[18] = sum;
        wanted[19] = smallest;
        wanted[20] = largest;
        wanted[21] = static_cast<unsigned>(lowest);
        wanted[22] = static_cast<unsigned>(highest);
        wanted[23] = conjunction;
        wanted[24] = disjunction;
        wanted[25] = parity;
        wanted[26] = below;
        std::memcpy(&wanted[27], &least, 8);
        for (unsigned k = 0; k < RESULTS; k++) {
            harness::check("whole warps", 100 * thread + k, results[thread * RESULTS + k], wanted[k]);
        }
    }
}

// Lanes in groups that go their own ways, each with collectives of its own; then some return, and the rest goes on.
extern "C" __global__ void divided_warps(unsigned* results) {
    const unsigned lane = lane_index();
    const unsigned thread = static_cast<unsigned>(thread_of_grid());
    const unsigned group = lane % 3u;
    const unsigned mask = group == 0u ? 0x49249249u : (group == 1u ? 0x92492492u : 0x24924924u);
    unsigned found = 0;
    for (unsigned turn = 0; turn <= group; turn++) {
        if (group == 1u) {
            found += __ballot_sync(mask, number(thread) >> turn & 1u);
        } else {
            found += __reduce_add_sync(mask, lane + turn);
        }
    }
    __syncwarp();
    results[4u * thread] = found;
    if (lane % 4u == 3u) { return; }
    results[4u * thread + 1u] = __ballot_sync(0x77777777u, lane > 9u);
    __syncthreads();
    results[4u * thread + 2u] = __shfl_sync(0x77777777u, lane, static_cast<int>(lane & ~1u));
    results[4u * thread + 3u] = static_cast<unsigned>(__syncthreads_count(thread % 5u == 0u));
}
HILBRIUM_EXPORT(divided_warps)

static void check_divided_warps() {
    constexpr unsigned THREADS = 128;
    harness::Column<unsigned> results(4 * THREADS);
    LAUNCH(divided_warps, 1u, THREADS, results.values);
    unsigned count = 0;
    for (unsigned thread = 0; thread < THREADS; thread++) { count += thread % 4 != 3 && thread % 5 == 0 ? 1 : 0; }
    for (unsigned thread = 0; thread < THREADS; thread++) {
        const unsigned lane = thread % 32, first = thread - lane, group = lane % 3;
        unsigned found = 0;
        for (unsigned turn = 0; turn <= group; turn++) {
            for (unsigned of = group; of < 32; of += 3) {
                found += group == 1 ? (number(first + of) >> turn & 1) << of : of + turn;
            }
        }
        harness::check("groups", thread, results[4 * thread], found);
        const bool stays = lane % 4 != 3;
        harness::check("without some", thread, results[4 * thread + 1], stays ? 0x77777777u & ~0x3ffu : 0u);
        harness::check("shuffle without some", thread, results[4 * thread + 2], stays ? lane & ~1u : 0u);
        harness::check("count without some", thread, results[4 * thread + 3], stays ? count : 0u);
    }
}

// A block that is no multiple of a warp; shared memory of several kinds; barriers in a loop.
extern "C" __global__ void shared_memory(const double* values, double* reversed, unsigned* both) {
    __shared__ double kept[80];
    __shared__ __align__(16) unsigned char marks[80];
    for (unsigned round = 0; round < 3u; round++) {
        kept[threadIdx.x] = values[blockIdx.x * blockDim.x + threadIdx.x] + round;
        marks[79u - threadIdx.x] = static_cast<unsigned char>(threadIdx.x + round);
        __syncthreads();
        reversed[blockIdx.x * blockDim.x + threadIdx.x] = kept[79u - threadIdx.x] + marks[threadIdx.x];
        __syncthreads();
    }
    const int some = __syncthreads_or(threadIdx.x == 70u);
    const int every = __syncthreads_and(threadIdx.x < 80u);
    const int not_every = __syncthreads_and(threadIdx.x != 41u);
    both[blockIdx.x * blockDim.x + threadIdx.x] = 4u * (some != 0) + 2u * (every != 0) + (not_every != 0);
}
HILBRIUM_EXPORT(shared_memory)

static void check_shared_memory() {
    constexpr unsigned BLOCKS = 5, THREADS = 80;
    harness::Column<double> values(BLOCKS * THREADS), reversed(BLOCKS * THREADS);
    harness::Column<unsigned> both(BLOCKS * THREADS);
    for (unsigned i = 0; i < BLOCKS * THREADS; i++) { values[i] = 0.25 * i; }
    LAUNCH(shared_memory, BLOCKS, THREADS, static_cast<const double*>(values.values), reversed.values, both.values);
    for (unsigned i = 0; i < BLOCKS * THREADS; i++) {
        const unsigned thread = i % THREADS;
        const double wanted = 0.25 * (i - thread + 79 - thread) + 2.0 + (79 - thread) + 2.0;
        harness::check("shared memory", i, reversed[i], wanted);
        harness::check("predicates of a block", i, both[i], 6u);
    }
}

// Every atomic operation, from several blocks into the same few places.
extern "C" __global__ void atomics(int* whole, unsigned* natural, unsigned long long* wide, long long* signed_wide,
                                   float* single, double* real) {
    const unsigned thread = static_cast<unsigned>(thread_of_grid());
    const int value = static_cast<int>(thread) - 200;
    atomicAdd(&whole[0], value);
    atomicSub(&whole[1], value);
    atomicMin(&whole[2], value);
    atomicMax(&whole[3], value);
    atomicAnd(&whole[4], ~(1 << (thread % 30u)));
    atomicOr(&whole[5], 1 << (thread % 7u));
    atomicXor(&whole[6], value);
    atomicAdd(&natural[0], thread);
    atomicSub(&natural[1], thread);
    atomicMin(&natural[2], 1000u + thread);
    atomicMax(&natural[3], thread);
    atomicAnd(&natural[4], ~(1u << (thread % 30u)));
    atomicOr(&natural[5], 1u << (thread % 32u));
    atomicXor(&natural[6], number(thread));
    atomicInc(&natural[7], 6u);
    atomicDec(&natural[8], 6u);
    atomicAdd(&wide[0], static_cast<unsigned long long>(thread) << 30);
    atomicMin(&wide[1], (1ull << 50) + thread);
    atomicMax(&wide[2], (1ull << 50) + thread);
    atomicOr(&wide[3], 1ull << (thread % 64u));
    atomicAnd(&wide[4], ~(1ull << (thread % 60u)));
    atomicXor(&wide[5], static_cast<unsigned long long>(number(thread)) << 20);
    atomicMin(&signed_wide[0], static_cast<long long>(value) << 33);
    atomicMax(&signed_wide[1], -(static_cast<long long>(thread) << 33) - 1);
    atomicAdd(&single[0], 0.5f);
    atomicAdd(&real[0], 0.25);
    // exchanges hand the old value on: the sum over all of what is found and what stays is that of what is given
    atomicAdd(&wide[6], static_cast<unsigned long long>(atomicExch(&natural[9], thread)));
    atomicAdd(&wide[7], atomicExch(&wide[8], static_cast<unsigned long long>(thread)));
    atomicAdd(&whole[7], atomicExch(&whole[8], value));
    atomicAdd(&real[1], static_cast<double>(atomicExch(&single[1], static_cast<float>(thread))));
    // a sum by compare and swap
    unsigned seen = natural[10], expected;
    do {
        expected = seen;
        seen = atomicCAS(&natural[10], expected, expected + thread);
    } while (seen != expected);
    unsigned long long large = wide[9], guess;
    do {
        guess = large;
        large = atomicCAS(&wide[9], guess, guess + (1ull << 33));
    } while (large != guess);
}
HILBRIUM_EXPORT(atomics)

static void check_atomics() {
    constexpr unsigned BLOCKS = 4, THREADS = 128, COUNT = BLOCKS * THREADS;
    harness::Column<int> whole(16);
    harness::Column<unsigned> natural(16);
    harness::Column<unsigned long long> wide(16);
    harness::Column<long long> signed_wide(2);
    harness::Column<float> single(2);
    harness::Column<double> real(2);
    whole[2] = 1 << 20;
    whole[3] = -(1 << 20);
    whole[4] = -1;
    natural[4] = ~0u;
    natural[2] = ~0u;
    wide[1] = wide[4] = ~0ull;
    signed_wide[1] = -(1ll << 60);
    LAUNCH(atomics, BLOCKS, THREADS, whole.values, natural.values, wide.values, signed_wide.values, single.values,
           real.values);
    int sum = 0, parity = 0;
    unsigned natural_sum = 0, natural_parity = 0;
    unsigned long long wide_sum = 0, wide_parity = 0;
    for (unsigned thread = 0; thread < COUNT; thread++) {
        sum += static_cast<int>(thread) - 200;
        parity ^= static_cast<int>(thread) - 200;
        natural_sum += thread;
        natural_parity ^= number(thread);
        wide_sum += static_cast<unsigned long long>(thread) << 30;
        wide_parity ^= static_cast<unsigned long long>(number(thread)) << 20;
    }
    const int wanted_whole[] = {sum, -sum, -200, static_cast<int>(COUNT) - 201, ~0x3fffffff, 127, parity};
    for (unsigned k = 0; k < 7; k++) { harness::check("atomics of int", k, whole[k], wanted_whole[k]); }
    const unsigned wanted_natural[] = {natural_sum, 0u - natural_sum, 1000u,      COUNT - 1u, ~0x3fffffffu,
                                       FULL,        natural_parity,   COUNT % 7u, 0u};
    for (unsigned k = 0; k < 8; k++) { harness::check("atomics of unsigned", k, natural[k], wanted_natural[k]); }
    harness::check("atomicDec", 0, natural[8], (7u - COUNT % 7u) % 7u);
    const unsigned long long wanted_wide[] = {
        wide_sum, 1ull << 50, (1ull << 50) + COUNT - 1, ~0ull, 0xf000000000000000ull, wide_parity,
    };
    for (unsigned k = 0; k < 6; k++) { harness::check("atomics of 64 bits", k, wide[k], wanted_wide[k]); }
    harness::check("signed minimum", 0, signed_wide[0], -(200ll << 33));
    harness::check("signed maximum", 0, signed_wide[1], -1ll);
    harness::check("single sum", 0, single[0], 0.5f * COUNT);
    harness::check("double sum", 0, real[0], 0.25 * COUNT);
    harness::check("exchange of unsigned", 0, wide[6] + natural[9], static_cast<unsigned long long>(natural_sum));
    harness::check("exchange of 64 bits", 0, wide[7] + wide[8], static_cast<unsigned long long>(natural_sum));
    harness::check("exchange of int", 0, whole[7] + whole[8], sum);
    harness::check("exchange of float", 0, real[1] + static_cast<double>(single[1]), static_cast<double>(natural_sum));
    harness::check("compare and swap", 0, natural[10], natural_sum);
    harness::check("compare and swap of 64 bits", 0, wide[9], static_cast<unsigned long long>(COUNT) << 33);
}

// Blocks that hand a sum on, each waiting for the one before it: numbers are drawn, so that it has started.
extern "C" __global__ void handed_on(unsigned* counter, unsigned* flags, unsigned* sums) {
    __shared__ unsigned drawn;
    __shared__ unsigned before;
    if (threadIdx.x == 0u) {
        drawn = atomicAdd(counter, 1u);
        if (drawn > 0u) {
            while (load_acquire(&flags[drawn - 1u]) == 0u) {}
            before = sums[drawn - 1u];
        } else {
            before = 0u;
        }
    }
    __syncthreads();
    const unsigned own = static_cast<unsigned>(__syncthreads_count(threadIdx.x <= drawn));
    if (threadIdx.x == 0u) {
        sums[drawn] = before + own;
        store_release(&flags[drawn], 1u);
    }
}
HILBRIUM_EXPORT(handed_on)

// A warp that waits for another one of its block, asleep in between.
extern "C" __global__ void awaited(volatile unsigned* flag, unsigned* result) {
    if (threadIdx.x / 32u == 0u) {
        while (*flag == 0u) { __nanosleep(20u); }
        __threadfence();
        result[threadIdx.x] = *flag;
    } else if (threadIdx.x == 63u) {
        __threadfence();
        *flag = 17u;
    }
}
HILBRIUM_EXPORT(awaited)

static void check_waiting() {
    constexpr unsigned BLOCKS = 40;
    harness::Column<unsigned> counter(1), flags(BLOCKS), sums(BLOCKS), flag(1), result(32);
    LAUNCH(handed_on, BLOCKS, 64u, counter.values, flags.values, sums.values);
    unsigned sum = 0;
    for (unsigned block = 0; block < BLOCKS; block++) {
        sum += block + 1;
        harness::check("handed on", block, sums[block], sum);
    }
    LAUNCH(awaited, 1u, 64u, static_cast<volatile unsigned*>(flag.values), result.values);
    for (unsigned lane = 0; lane < 32; lane++) { harness::check("awaited", lane, result[lane], 17u); }
}

int main() {
    check_whole_warps();
    check_divided_warps();
    check_shared_memory();
    check_atomics();
    check_waiting();
    return harness::verdict();
}
