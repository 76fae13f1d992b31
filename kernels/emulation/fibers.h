// Fibers, one per CUDA thread. The stacks of a host thread are in one region aligned to its own size, so that
// the stack pointer alone identifies the running thread and block, without a thread-local variable.
//
//   region:  | block state (2 slots) | stack of thread 0 | stack of thread 1 | ... | stack of thread 1023 |
#pragma once

namespace emulation {

constexpr std::size_t STACK = 64 * 1024;
constexpr unsigned MOST_THREADS = 1024;
constexpr std::size_t STATE_SLOTS = 2;
constexpr std::size_t REGION = 2048 * STACK;

// Saves the running fiber's stack pointer to *save and switches to the fiber with the stack pointer `load`.
extern "C" void hilbrium_emulation_switch(void** save, void* load);

#if defined(__x86_64__)
asm(R"(
.text
.weak hilbrium_emulation_switch
.hidden hilbrium_emulation_switch
.type hilbrium_emulation_switch,@function
hilbrium_emulation_switch:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
.size hilbrium_emulation_switch,.-hilbrium_emulation_switch
)");

inline char* stack_pointer() {
    char* pointer;
    asm("movq %%rsp, %0" : "=r"(pointer));
    return pointer;
}

// Creates a stack on which a switch enters `entry`: six registers, the return address, and the alignment
// after a call (16 n + 8).
inline void* fresh_stack(char* top, void (*entry)()) {
    void** pointer = reinterpret_cast<void**>(top) - 2;
    *pointer = reinterpret_cast<void*>(entry);
    for (int saved = 0; saved < 6; saved++) { *--pointer = nullptr; }
    return pointer;
}
#elif defined(__aarch64__)
asm(R"(
.text
.weak hilbrium_emulation_switch
.hidden hilbrium_emulation_switch
.type hilbrium_emulation_switch,%function
hilbrium_emulation_switch:
    sub sp, sp, #160
    stp x19, x20, [sp, #0]
    stp x21, x22, [sp, #16]
    stp x23, x24, [sp, #32]
    stp x25, x26, [sp, #48]
    stp x27, x28, [sp, #64]
    stp x29, x30, [sp, #80]
    stp d8, d9, [sp, #96]
    stp d10, d11, [sp, #112]
    stp d12, d13, [sp, #128]
    stp d14, d15, [sp, #144]
    mov x9, sp
    str x9, [x0]
    mov sp, x1
    ldp x19, x20, [sp, #0]
    ldp x21, x22, [sp, #16]
    ldp x23, x24, [sp, #32]
    ldp x25, x26, [sp, #48]
    ldp x27, x28, [sp, #64]
    ldp x29, x30, [sp, #80]
    ldp d8, d9, [sp, #96]
    ldp d10, d11, [sp, #112]
    ldp d12, d13, [sp, #128]
    ldp d14, d15, [sp, #144]
    add sp, sp, #160
    ret
.size hilbrium_emulation_switch,.-hilbrium_emulation_switch
)");

inline char* stack_pointer() {
    char* pointer;
    asm("mov %0, sp" : "=r"(pointer));
    return pointer;
}

// Creates a stack on which a switch enters `entry`: twenty zero registers, except the link register (x30).
inline void* fresh_stack(char* top, void (*entry)()) {
    void** pointer = reinterpret_cast<void**>(top) - 20;
    std::memset(pointer, 0, 160);
    pointer[11] = reinterpret_cast<void*>(entry);
    return pointer;
}
#else
#error "the emulation of kernels knows the context switch of x86_64 and of aarch64"
#endif

// Allocates a region, zero and not yet backed by pages.
inline char* new_region() {
    const int protection = PROT_READ | PROT_WRITE;
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    void* memory = mmap(nullptr, 2 * REGION, protection, flags, -1, 0);
    if (memory == MAP_FAILED) {
        std::perror("emulation: no memory for the stacks of a block");
        std::abort();
    }
    char* begin = static_cast<char*>(memory);
    const std::size_t ahead = (REGION - reinterpret_cast<std::uintptr_t>(begin) % REGION) % REGION;
    if (ahead > 0) { munmap(begin, ahead); }
    munmap(begin + ahead + REGION, REGION - ahead);
    return begin + ahead;
}

// The running region, the index of the running fiber, and stack bounds. The stack tops of a warp are
// staggered within a page to avoid conflicts in the first-level cache.
inline char* running_region() {
    return reinterpret_cast<char*>(reinterpret_cast<std::uintptr_t>(stack_pointer()) & ~(REGION - 1));
}
inline unsigned running_fiber() {
    const std::uintptr_t offset = reinterpret_cast<std::uintptr_t>(stack_pointer()) & (REGION - 1);
    return static_cast<unsigned>(offset / STACK - STATE_SLOTS);
}
inline char* stack_bottom(char* region, unsigned fiber) { return region + (STATE_SLOTS + fiber) * STACK; }
inline char* stack_top(char* region, unsigned fiber) {
    return stack_bottom(region, fiber) + STACK - 128 * (fiber % 32);
}

}  // namespace emulation
