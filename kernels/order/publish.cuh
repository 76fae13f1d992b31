// Words that blocks publish for later ones to look back at: flag and value are in one word, so that nothing else has to
// be ordered with it, and neither loads nor stores need wait for others (load_acquire of device.cuh would).
// Whoever waits for a word must only wait for tiles that have begun: those taken from a counter before its own.
#pragma once

#include "../device.cuh"

namespace hilbrium {

#ifdef HILBRIUM_EMULATED
template <class Word> inline Word load_published(const Word* word) {
    const Word value = __atomic_load_n(word, __ATOMIC_RELAXED);
    emulation::pause();
    return value;
}
template <class Word> inline void publish(Word* word, Word value) { __atomic_store_n(word, value, __ATOMIC_RELAXED); }
#else
__device__ __forceinline__ unsigned load_published(const unsigned* word) {
    unsigned value;
    asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(word));
    return value;
}
__device__ __forceinline__ unsigned long long load_published(const unsigned long long* word) {
    unsigned long long value;
    asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(value) : "l"(word));
    return value;
}
__device__ __forceinline__ void publish(unsigned* word, unsigned value) {
    asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(word), "r"(value));
}
__device__ __forceinline__ void publish(unsigned long long* word, unsigned long long value) {
    asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(word), "l"(value));
}
#endif

} // namespace hilbrium
