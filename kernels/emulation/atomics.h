// Relaxed atomic operations, and fences. Blocks may run on several host threads.
#pragma once

namespace emulation {

// Atomically replaces `old` by change(old) and returns `old`.
template <class Value, class Change> inline Value exchanged(Value* address, Change change) {
    Value old;
    __atomic_load(address, &old, __ATOMIC_RELAXED);
    for (;;) {
        Value wanted = change(old);
        const bool done =
            __atomic_compare_exchange(address, &old, &wanted, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
        if (done) { return old; }
    }
}

}  // namespace emulation

#define EMULATION_ATOMIC(name, Value, result)                                                      \
    inline Value name(Value* address, Value value) {                                               \
        return emulation::exchanged(address, [value](Value old) -> Value {                         \
            static_cast<void>(old);                                                                \
            return result;                                                                         \
        });                                                                                        \
    }

EMULATION_ATOMIC(atomicAdd, int, static_cast<int>(static_cast<unsigned>(old) + static_cast<unsigned>(value)))
EMULATION_ATOMIC(atomicAdd, unsigned, old + value)
EMULATION_ATOMIC(atomicAdd, unsigned long long, old + value)
EMULATION_ATOMIC(atomicAdd, float, old + value)
EMULATION_ATOMIC(atomicAdd, double, old + value)
EMULATION_ATOMIC(atomicSub, int, static_cast<int>(static_cast<unsigned>(old) - static_cast<unsigned>(value)))
EMULATION_ATOMIC(atomicSub, unsigned, old - value)
EMULATION_ATOMIC(atomicMin, int, value < old ? value : old)
EMULATION_ATOMIC(atomicMin, unsigned, value < old ? value : old)
EMULATION_ATOMIC(atomicMin, long long, value < old ? value : old)
EMULATION_ATOMIC(atomicMin, unsigned long long, value < old ? value : old)
EMULATION_ATOMIC(atomicMax, int, value > old ? value : old)
EMULATION_ATOMIC(atomicMax, unsigned, value > old ? value : old)
EMULATION_ATOMIC(atomicMax, long long, value > old ? value : old)
EMULATION_ATOMIC(atomicMax, unsigned long long, value > old ? value : old)
EMULATION_ATOMIC(atomicAnd, int, old & value)
EMULATION_ATOMIC(atomicAnd, unsigned, old & value)
EMULATION_ATOMIC(atomicAnd, unsigned long long, old & value)
EMULATION_ATOMIC(atomicOr, int, old | value)
EMULATION_ATOMIC(atomicOr, unsigned, old | value)
EMULATION_ATOMIC(atomicOr, unsigned long long, old | value)
EMULATION_ATOMIC(atomicXor, int, old ^ value)
EMULATION_ATOMIC(atomicXor, unsigned, old ^ value)
EMULATION_ATOMIC(atomicXor, unsigned long long, old ^ value)
EMULATION_ATOMIC(atomicExch, int, value)
EMULATION_ATOMIC(atomicExch, unsigned, value)
EMULATION_ATOMIC(atomicExch, unsigned long long, value)
EMULATION_ATOMIC(atomicExch, float, value)
EMULATION_ATOMIC(atomicInc, unsigned, old >= value ? 0u : old + 1u)
EMULATION_ATOMIC(atomicDec, unsigned, old == 0u || old > value ? value : old - 1u)

#undef EMULATION_ATOMIC

#define EMULATION_SWAP(Value)                                                                                \
    inline Value atomicCAS(Value* address, Value compare, Value value) {                                     \
        __atomic_compare_exchange_n(address, &compare, value, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);    \
        return compare;                                                                                      \
    }
EMULATION_SWAP(unsigned short)
EMULATION_SWAP(int)
EMULATION_SWAP(unsigned)
EMULATION_SWAP(unsigned long long)
#undef EMULATION_SWAP

inline void __threadfence_block() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
inline void __threadfence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
inline void __threadfence_system() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }

// A sleeping thread waits for another thread's store: let the others run.
inline void __nanosleep(unsigned) { emulation::pause(); }
