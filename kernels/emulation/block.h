// A block of threads and its scheduler. A lane runs until it waits; then the next runnable lane of its warp
// continues; if the warp has none, the next warp; if the block has none, the launch. With a seed, the order
// of lanes and warps is random and changes continually; without one it is ascending.
#pragma once

namespace emulation {

enum class Operation : unsigned char {
    SYNC,
    SHUFFLE,
    BALLOT,
    ANY,
    ALL,
    MATCH_ANY,
    MATCH_ALL,
    ADD,
    SMALLEST,
    LARGEST,
    SMALLEST_SIGNED,
    LARGEST_SIGNED,
    AND,
    OR,
    XOR,
};

constexpr const char* NAMES[] = {
    "__syncwarp",        "__shfl_sync",       "__ballot_sync",     "__any_sync",        "__all_sync",
    "__match_any_sync",  "__match_all_sync",  "__reduce_add_sync", "__reduce_min_sync", "__reduce_max_sync",
    "__reduce_min_sync", "__reduce_max_sync", "__reduce_and_sync", "__reduce_or_sync",  "__reduce_xor_sync",
};

// Source location where a thread waits, for reports.
struct Place {
    const char* file;
    int line;
};

// A warp collective that some of its lanes have reached.
struct Meeting {
    unsigned mask;
    unsigned arrived;
    int line;
    Operation operation;
};

struct Warp {
    unsigned ready;        // runnable lanes, including the running one
    unsigned started;      // lanes that have a stack
    unsigned exited;       // lanes that have returned, and lanes beyond the block size
    unsigned at_barrier;   // lanes that wait at a block barrier
    unsigned step, first;  // the order of the lanes: (first + step k) mod 32
    unsigned cursor;       // the last k
    unsigned meetings;     // number of entries of `meeting`; each has a waiting lane, so that 32 suffice
    Meeting meeting[32];
    Place place[32];
    unsigned parameter[32];
    unsigned long long value[32];
    unsigned long long result[32];
};

struct Fiber {
    void* stack;
    uint3 thread;
};

// State behind blockIdx etc., and the state of the scheduler. It is located at the start of a region.
struct Block {
    uint3 index;
    dim3 dimensions, grid;
    const char* kernel;
    void (*call)(void** arguments);
    void** arguments;
    void* dynamic_shared;
    Fiber launcher;
    unsigned threads, warps, alive;
    unsigned cursor;             // position of the running warp in `order`
    unsigned long long random;   // 0: ascending orders
    unsigned long long patience; // number of pauses since a thread last made progress
    bool alone;                  // no other host thread runs blocks
    unsigned waiting;            // number of threads at the barrier
    Place barrier;
    const char* barrier_name;
    unsigned true_count;           // number of true predicates at the current barrier
    unsigned barrier_count, barrier_threads;  // results of the last barrier
    unsigned char order[32];
    Warp warp[32];
    Fiber fiber[MOST_THREADS];
};
static_assert(sizeof(Block) <= STATE_SLOTS * STACK, "the state of a block lies below the stacks");

inline Block& running_block() { return *reinterpret_cast<Block*>(running_region()); }
inline Fiber& running_thread() { return running_block().fiber[running_fiber()]; }

// Dynamic shared memory of the running block.
inline void* dynamic_shared() { return running_block().dynamic_shared; }

inline unsigned random_below(Block& block, unsigned limit) {
    block.random ^= block.random << 13;
    block.random ^= block.random >> 7;
    block.random ^= block.random << 17;
    return static_cast<unsigned>((block.random >> 32) * limit >> 32);
}

// Prints where each thread that has not returned waits, one line per location, and aborts.
[[noreturn]] inline void stop(const Block& block, const char* reason) {
    std::fprintf(stderr, "emulation: kernel %s, block (%u, %u, %u) of %u threads: %s\n", block.kernel, block.index.x,
                 block.index.y, block.index.z, block.threads, reason);
    for (unsigned w = 0; w < block.warps; w++) {
        const Warp& warp = block.warp[w];
        if (~warp.exited == 0) { continue; }
        std::fprintf(stderr, "  warp %u: lanes returned %08x\n", w, warp.exited);
        if (warp.ready != 0) { std::fprintf(stderr, "    lanes %08x can run\n", warp.ready); }
        for (unsigned m = 0; m < warp.meetings; m++) {
            const Meeting& meeting = warp.meeting[m];
            const unsigned missing = meeting.mask & ~meeting.arrived & ~warp.exited;
            const Place& place = warp.place[__builtin_ctz(meeting.arrived)];
            std::fprintf(stderr, "    lanes %08x wait at %s:%d, %s with mask %08x, for lanes %08x\n", meeting.arrived,
                         place.file, place.line, NAMES[static_cast<int>(meeting.operation)], meeting.mask, missing);
        }
        unsigned left = warp.at_barrier;
        while (left != 0) {
            const Place& place = warp.place[__builtin_ctz(left)];
            unsigned same = 0;
            for (unsigned lane = 0; lane < 32; lane++) {
                if ((left >> lane & 1u) != 0 && warp.place[lane].line == place.line) { same |= 1u << lane; }
            }
            std::fprintf(stderr, "    lanes %08x wait at %s:%d, __syncthreads\n", same, place.file, place.line);
            left &= ~same;
        }
    }
    std::fflush(stderr);
    std::abort();
}

inline void draw_lanes(Block& block, Warp& warp) {
    if (block.random == 0) { return; }
    warp.first = random_below(block, 32);
    warp.step = 2 * random_below(block, 16) + 1;
}

inline void draw_warps(Block& block) {
    if (block.random == 0) { return; }
    for (unsigned w = block.warps; w > 1; w--) {
        const unsigned other = random_below(block, w);
        const unsigned char kept = block.order[w - 1];
        block.order[w - 1] = block.order[other];
        block.order[other] = kept;
    }
}

void run_thread();

// The next runnable lane of a warp that has one. Its stack is created on its first run.
inline Fiber& next_lane(Block& block, unsigned w) {
    Warp& warp = block.warp[w];
    unsigned lane;
    do {
        if (++warp.cursor == 32) {
            warp.cursor = 0;
            draw_lanes(block, warp);
        }
        lane = (warp.first + warp.step * warp.cursor) % 32;
    } while ((warp.ready >> lane & 1u) == 0);
    const unsigned index = 32 * w + lane;
    Fiber& fiber = block.fiber[index];
    if ((warp.started >> lane & 1u) == 0) {
        warp.started |= 1u << lane;
        fiber.stack = fresh_stack(stack_top(reinterpret_cast<char*>(&block), index), run_thread);
    }
    return fiber;
}

// The next fiber to run: a thread of another runnable warp, or else the launch, which determines whether the
// block has completed or is deadlocked.
inline Fiber& next_warp(Block& block) {
    for (unsigned tried = 0; tried < block.warps; tried++) {
        if (++block.cursor >= block.warps) {
            block.cursor = 0;
            draw_warps(block);
        }
        const unsigned w = block.order[block.cursor];
        if (block.warp[w].ready != 0) { return next_lane(block, w); }
    }
    // A reshuffle may have moved a runnable warp to a position that this round had already passed.
    for (unsigned w = 0; w < block.warps; w++) {
        if (block.warp[w].ready != 0) { return next_lane(block, w); }
    }
    return block.launcher;
}

inline Fiber& next(Block& block, unsigned w) {
    return block.warp[w].ready != 0 ? next_lane(block, w) : next_warp(block);
}

// Switches from the running thread to another fiber.
inline void go_on_with(Block& block, unsigned index, Fiber& other) {
    const char* bottom = stack_bottom(reinterpret_cast<char*>(&block), index);
    if (stack_pointer() - bottom < 4096) { stop(block, "the local memory of a thread passes its 64 KiB"); }
    hilbrium_emulation_switch(&block.fiber[index].stack, other.stack);
}

inline void open_barrier(Block& block) {
    block.barrier_count = block.true_count;
    block.barrier_threads = block.waiting;
    block.waiting = 0;
    block.true_count = 0;
    block.patience = 0;
    for (unsigned w = 0; w < block.warps; w++) {
        block.warp[w].ready |= block.warp[w].at_barrier;
        block.warp[w].at_barrier = 0;
    }
}

// Block barrier: every thread that has not returned must reach the same one.
inline void barrier(const char* name, bool predicate, const char* file, int line) {
    Block& block = running_block();
    const unsigned index = running_fiber();
    Warp& warp = block.warp[index / 32];
    const unsigned lane = index % 32;
    warp.place[lane] = {file, line};
    warp.at_barrier |= 1u << lane;
    if (block.waiting == 0) {
        block.barrier = {file, line};
        block.barrier_name = name;
    } else if (block.barrier.line != line || block.barrier_name != name) {
        warp.ready &= ~(1u << lane);
        stop(block, "threads wait at different barriers");
    }
    block.waiting++;
    block.true_count += predicate ? 1 : 0;
    if (block.waiting == block.alive) {
        open_barrier(block);
        return;
    }
    warp.ready &= ~(1u << lane);
    go_on_with(block, index, next(block, index / 32));
}

// Lets other warps run, in spin loops on memory that another thread writes. If no other host thread runs
// blocks, a block whose threads only pause never ends.
inline void pause() {
    constexpr unsigned long long MOST = 10'000'000;
    Block& block = running_block();
    const unsigned index = running_fiber();
    if (!block.alone) {
        sched_yield();
    } else if (++block.patience > MOST) {
        stop(block, "its threads only wait for memory that none of them writes (of another block, not yet started?)");
    }
    Fiber& other = next_warp(block);
    if (&other != &block.fiber[index]) { go_on_with(block, index, other); }
}

}  // namespace emulation
