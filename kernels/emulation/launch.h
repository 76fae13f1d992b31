// Launches: run the blocks of a grid, in sequence or on several host threads, each with poisoned shared
// memory; and report invalid memory accesses of a kernel.
#pragma once

namespace emulation {

// Shared memory is the thread-local storage of this library; this byte locates it.
static thread_local char shared_memory_anchor __attribute__((used));

struct SharedMemory {
    char* begin;
    std::size_t bytes;
};

inline int find_shared_memory(dl_phdr_info* info, std::size_t, void* found) {
    const auto here = reinterpret_cast<std::uintptr_t>(&find_shared_memory);
    std::size_t bytes = 0;
    bool ours = false;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr)& header = info->dlpi_phdr[i];
        const std::uintptr_t begin = info->dlpi_addr + header.p_vaddr;
        if (header.p_type == PT_LOAD && here >= begin && here - begin < header.p_memsz) { ours = true; }
        if (header.p_type == PT_TLS) { bytes = header.p_memsz; }
    }
    if (!ours) { return 0; }
    *static_cast<SharedMemory*>(found) = {static_cast<char*>(info->dlpi_tls_data), bytes};
    return 1;
}

// Largest dynamic shared memory of a block: that of compute capability 9. It lies below a guard page.
constexpr std::size_t MOST_DYNAMIC_SHARED = 227 * 1024;
constexpr std::size_t DYNAMIC_REGION = 228 * 1024, GUARD = 64 * 1024;

// Per-thread state that persists between launches.
struct Worker {
    Block* block;
    SharedMemory shared;
    char* dynamic;
    Worker* next;
};

inline char* new_dynamic_region() {
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    void* memory = mmap(nullptr, DYNAMIC_REGION + GUARD, PROT_READ | PROT_WRITE, flags, -1, 0);
    if (memory == MAP_FAILED ||
        mprotect(static_cast<char*>(memory) + DYNAMIC_REGION, GUARD, PROT_NONE) != 0) {
        std::perror("emulation: no dynamic shared memory");
        std::abort();
    }
    return static_cast<char*>(memory);
}

inline Worker* workers = nullptr;
inline pthread_mutex_t workers_lock = PTHREAD_MUTEX_INITIALIZER;
inline struct sigaction other_handlers[NSIG];

// Signal handler: reports kernel, block and thread, then aborts. It runs on a stack of its own and finds the
// thread from the interrupted stack pointer.
inline void report_signal(int signal, siginfo_t* info, void* context) {
#if defined(__x86_64__)
    const auto stack = static_cast<std::uintptr_t>(static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_RSP]);
#else
    const auto stack = static_cast<std::uintptr_t>(static_cast<ucontext_t*>(context)->uc_mcontext.sp);
#endif
    const char* region = reinterpret_cast<const char*>(stack & ~(REGION - 1));
    for (Worker* worker = workers; worker != nullptr; worker = worker->next) {
        if (reinterpret_cast<const char*>(worker->block) != region) { continue; }
        const Block& block = *worker->block;
        const uint3 thread = block.fiber[(stack & (REGION - 1)) / STACK - STATE_SLOTS].thread;
        const char* what = signal == SIGSEGV || signal == SIGBUS ? "an address outside of all memory"
                         : signal == SIGFPE                      ? "a division of integers by zero"
                                                                 : "an operation that is undefined";
        std::fprintf(stderr,
                     "emulation: kernel %s, block (%u, %u, %u), thread (%u, %u, %u): %s (address %p)\n", block.kernel,
                     block.index.x, block.index.y, block.index.z, thread.x, thread.y, thread.z, what, info->si_addr);
        std::fflush(stderr);
        std::abort();
    }
    const struct sigaction& other = other_handlers[signal];
    if ((other.sa_flags & SA_SIGINFO) != 0) {
        other.sa_sigaction(signal, info, context);
    } else if (other.sa_handler == SIG_DFL || other.sa_handler == SIG_IGN) {
        sigaction(signal, &other, nullptr);
    } else {
        other.sa_handler(signal);
    }
}

// Threads and the process keep pointers to functions of this library, so it must not be unloaded.
inline void stay_loaded() {
    Dl_info info;
    if (dladdr(reinterpret_cast<void*>(&find_shared_memory), &info) != 0) {
        dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE);
    }
}

inline bool prepare() {
    stay_loaded();
    struct sigaction action = {};
    action.sa_sigaction = report_signal;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP}) {
        sigaction(signal, &action, &other_handlers[signal]);
    }
    return true;
}

inline void drop_worker(void* dropped) {
    auto* worker = static_cast<Worker*>(dropped);
    pthread_mutex_lock(&workers_lock);
    Worker** link = &workers;
    while (*link != worker) { link = &(*link)->next; }
    *link = worker->next;
    pthread_mutex_unlock(&workers_lock);
    munmap(worker->block, REGION);
    munmap(worker->dynamic, DYNAMIC_REGION + GUARD);
    delete worker;
}

inline pthread_key_t new_key() {
    pthread_key_t key;
    if (pthread_key_create(&key, drop_worker) != 0) {
        std::fprintf(stderr, "emulation: no key left for what a thread keeps\n");
        std::abort();
    }
    return key;
}

// Not thread-local, because thread-local storage is poisoned as shared memory.
inline Worker& this_worker() {
    static const pthread_key_t key = new_key();
    static const bool prepared = prepare();
    static_cast<void>(prepared);
    auto* worker = static_cast<Worker*>(pthread_getspecific(key));
    if (worker == nullptr) {
        shared_memory_anchor = 1;  // allocates the storage on first use
        worker =
            new Worker{reinterpret_cast<Block*>(new_region()), {nullptr, 0}, new_dynamic_region(), nullptr};
        dl_iterate_phdr(find_shared_memory, &worker->shared);
        pthread_setspecific(key, worker);
        pthread_mutex_lock(&workers_lock);
        worker->next = workers;
        workers = worker;
        pthread_mutex_unlock(&workers_lock);
    }
    return *worker;
}

struct Launch {
    const char* kernel;
    void (*call)(void** arguments);
    void** arguments;
    dim3 grid, dimensions;
    std::size_t dynamic_shared;  // bytes, a multiple of 16
    unsigned long long seed;
    unsigned long long blocks;
    unsigned long long taken;  // number of blocks started
    bool alone;                // a single worker runs all blocks
};

// Runs block number `ordinal` in the seed's order.
inline void run_block(Worker& worker, const Launch& launch, unsigned long long ordinal) {
    Block& block = *worker.block;
    // Alternates between both halves, the second one backwards: neither adjacent nor ascending.
    unsigned long long number = ordinal;
    if (launch.seed != 0) { number = ordinal % 2 == 0 ? ordinal / 2 : launch.blocks - 1 - ordinal / 2; }
    block.index.x = static_cast<unsigned>(number % launch.grid.x);
    block.index.y = static_cast<unsigned>(number / launch.grid.x % launch.grid.y);
    block.index.z = static_cast<unsigned>(number / launch.grid.x / launch.grid.y);
    block.random = launch.seed == 0 ? 0 : (launch.seed + number) * 0x9e3779b97f4a7c15ull | 1ull;
    block.patience = 0;
    block.alive = block.threads;
    block.waiting = block.true_count = 0;
    block.cursor = block.warps - 1;
    for (unsigned w = 0; w < block.warps; w++) {
        Warp& warp = block.warp[w];
        const unsigned lanes = block.threads - 32 * w;
        warp.ready = lanes >= 32 ? ~0u : (1u << lanes) - 1u;
        warp.exited = ~warp.ready;
        warp.started = warp.at_barrier = warp.meetings = warp.first = 0;
        warp.step = 1;
        warp.cursor = 31;
        block.order[w] = static_cast<unsigned char>(w);
    }
    std::memset(worker.shared.begin, 0xff, worker.shared.bytes);
    std::memset(block.dynamic_shared, 0xff, launch.dynamic_shared);
    Fiber& first = next_warp(block);
    hilbrium_emulation_switch(&block.launcher.stack, first.stack);
    if (block.alive > 0) { stop(block, "deadlock: every thread waits"); }
}

inline void* run_blocks(void* launched) {
    Launch& launch = *static_cast<Launch*>(launched);
    Worker& worker = this_worker();
    Block& block = *worker.block;
    block.kernel = launch.kernel;
    block.call = launch.call;
    block.arguments = launch.arguments;
    block.grid = launch.grid;
    block.dynamic_shared = worker.dynamic + DYNAMIC_REGION - launch.dynamic_shared;
    block.alone = launch.alone;
    block.dimensions = launch.dimensions;
    block.threads = launch.dimensions.x * launch.dimensions.y * launch.dimensions.z;
    block.warps = (block.threads + 31) / 32;
    for (unsigned i = 0; i < block.threads; i++) {
        const unsigned across = launch.dimensions.x;
        block.fiber[i].thread = {i % across, i / across % launch.dimensions.y, i / across / launch.dimensions.y};
    }
    for (;;) {
        const unsigned long long ordinal = __atomic_fetch_add(&launch.taken, 1, __ATOMIC_RELAXED);
        if (ordinal >= launch.blocks) { return nullptr; }
        run_block(worker, launch, ordinal);
    }
}

inline unsigned long long setting(const char* name, unsigned long long otherwise) {
    const char* text = std::getenv(name);
    return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

inline void launch(const char* kernel, void (*call)(void**), const unsigned* grid, const unsigned* block,
                   void** arguments) {
    const unsigned long long threads = 1ull * block[0] * block[1] * block[2];
    const unsigned long long blocks = 1ull * grid[0] * grid[1] * grid[2];
    if (threads == 0 || threads > MOST_THREADS || block[2] > 64 || blocks == 0 || grid[0] > 0x7fffffffu ||
        grid[1] > 65535 || grid[2] > 65535 || block[3] > MOST_DYNAMIC_SHARED) {
        std::fprintf(stderr,
            "emulation: kernel %s: no device takes a grid of (%u, %u, %u) blocks of (%u, %u, %u) "
            "with %u bytes of dynamic shared memory\n",
            kernel, grid[0], grid[1], grid[2], block[0], block[1], block[2], block[3]);
        std::abort();
    }
    Launch wanted = {kernel,
                     call,
                     arguments,
                     dim3(grid[0], grid[1], grid[2]),
                     dim3(block[0], block[1], block[2]),
                     (block[3] + 15u) / 16u * 16u,
                     setting("HILBRIUM_EMULATION_SEED", 1),
                     blocks,
                     0,
                     false};
    constexpr unsigned MOST_HELPERS = 256;
    pthread_t helpers[MOST_HELPERS];
    unsigned long long wished = setting("HILBRIUM_EMULATION_THREADS", 1);
    if (wished > blocks) { wished = blocks; }
    wanted.alone = wished <= 1;
    unsigned helping = 0;
    while (helping < MOST_HELPERS && helping + 1ull < wished &&
           pthread_create(&helpers[helping], nullptr, run_blocks, &wanted) == 0) {
        helping++;
    }
    run_blocks(&wanted);
    while (helping > 0) { pthread_join(helpers[--helping], nullptr); }
}

// Calls a kernel with an array of pointers to its arguments, like a launch on a device.
template <auto kernel> struct Kernel;
template <class... Arguments, void (*kernel)(Arguments...)> struct Kernel<kernel> {
    static constexpr unsigned sizes[] = {sizeof...(Arguments), sizeof(Arguments)...};
    static void call(void** arguments) { spread(arguments, std::index_sequence_for<Arguments...>{}); }
    template <std::size_t... index> static void spread(void** arguments, std::index_sequence<index...>) {
        static_cast<void>(arguments);
        kernel(*static_cast<std::remove_const_t<Arguments>*>(arguments[index])...);
    }
};

}  // namespace emulation
