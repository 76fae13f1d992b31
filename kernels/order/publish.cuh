// Words that blocks publish for the look-back of later blocks. Flag and value share one word, so that relaxed
// loads and stores suffice (load_acquire of device.cuh would order other accesses too). A block may only wait
// for tiles that have started: those taken from the counter before its own.
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
