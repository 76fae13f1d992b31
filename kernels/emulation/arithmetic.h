// CUDA built-in functions on integers and floating-point numbers, and loads and stores with cache hints. Fast
// approximations (__expf, __fdividef, ...) are exact here: a device may differ by a few ulp.
#pragma once

constexpr int warpSize = 32;

// Bits.
inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
inline int __ffs(int x) { return __builtin_ffs(x); }
inline int __ffsll(long long x) { return __builtin_ffsll(x); }
inline int __clz(int x) { return x == 0 ? 32 : __builtin_clz(static_cast<unsigned>(x)); }
inline int __clzll(long long x) { return x == 0 ? 64 : __builtin_clzll(static_cast<unsigned long long>(x)); }
inline unsigned long long __brevll(unsigned long long x) {
    unsigned long long reversed = 0;
    for (int bit = 0; bit < 64; bit++) { reversed |= (x >> bit & 1ull) << (63 - bit); }
    return reversed;
}
inline unsigned __brev(unsigned x) { return static_cast<unsigned>(__brevll(x) >> 32); }
inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
    return static_cast<unsigned>(((static_cast<unsigned long long>(high) << 32 | low) << (shift & 31u)) >> 32);
}
inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
    return static_cast<unsigned>((static_cast<unsigned long long>(high) << 32 | low) >> (shift & 31u));
}
inline unsigned __funnelshift_lc(unsigned low, unsigned high, unsigned shift) {
    return shift >= 32u ? low : __funnelshift_l(low, high, shift);
}
inline unsigned __funnelshift_rc(unsigned low, unsigned high, unsigned shift) {
    return shift >= 32u ? high : __funnelshift_r(low, high, shift);
}
// The low three bits of each selector nibble select a byte of y:x; other bits are ignored.
inline unsigned __byte_perm(unsigned x, unsigned y, unsigned selector) {
    const unsigned long long bytes = static_cast<unsigned long long>(y) << 32 | x;
    unsigned result = 0;
    for (unsigned i = 0; i < 4; i++) {
        const unsigned chosen = selector >> (4 * i) & 7u;
        result |= (static_cast<unsigned>(bytes >> (8 * chosen)) & 255u) << (8 * i);
    }
    return result;
}

// Integers.
inline int __mulhi(int a, int b) { return static_cast<int>(static_cast<long long>(a) * b >> 32); }
inline unsigned __umulhi(unsigned a, unsigned b) {
    return static_cast<unsigned>(static_cast<unsigned long long>(a) * b >> 32);
}
inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
    return static_cast<unsigned long long>(static_cast<unsigned __int128>(a) * b >> 64);
}
inline long long __mul64hi(long long a, long long b) {
    return static_cast<long long>(static_cast<__int128>(a) * b >> 64);
}
inline int __mul24(int a, int b) { return (a << 8 >> 8) * (b << 8 >> 8); }
inline unsigned __umul24(unsigned a, unsigned b) { return (a & 0xffffffu) * (b & 0xffffffu); }

// Bit casts.
inline unsigned __float_as_uint(float x) { return emulation::of_bits<unsigned>(emulation::bits_of(x)); }
inline int __float_as_int(float x) { return emulation::of_bits<int>(emulation::bits_of(x)); }
inline float __uint_as_float(unsigned x) { return emulation::of_bits<float>(x); }
inline float __int_as_float(int x) { return emulation::of_bits<float>(static_cast<unsigned>(x)); }
inline long long __double_as_longlong(double x) { return static_cast<long long>(emulation::bits_of(x)); }
inline double __longlong_as_double(long long x) {
    return emulation::of_bits<double>(static_cast<unsigned long long>(x));
}
inline int __double2hiint(double x) { return static_cast<int>(emulation::bits_of(x) >> 32); }
inline int __double2loint(double x) { return static_cast<int>(emulation::bits_of(x)); }
inline double __hiloint2double(int high, int low) {
    return emulation::of_bits<double>(static_cast<unsigned long long>(static_cast<unsigned>(high)) << 32 |
                                      static_cast<unsigned>(low));
}

namespace emulation {

enum class Toward { NEAREST, UP, DOWN, ZERO };

// Directed rounding: the nearest result, moved by one ulp if the exact one lies on the other side; `missing`
// has the sign of the exact result minus the nearest one.
template <class Value> inline Value directed(Toward toward, Value nearest, double missing) {
    const bool up = toward == Toward::UP || (toward == Toward::ZERO && nearest < 0);
    const bool down = toward == Toward::DOWN || (toward == Toward::ZERO && nearest > 0);
    const Value infinity = std::numeric_limits<Value>::infinity();
    if (up && missing > 0) { return std::nextafter(nearest, infinity); }
    if (down && missing < 0) { return std::nextafter(nearest, -infinity); }
    return nearest;
}

template <class Value> inline Value sum(Toward toward, Value a, Value b) {
    const Value nearest = a + b;
    const Value kept = nearest - a;  // error-free transformation: both parts of the rounding error are exact
    return directed(toward, nearest, static_cast<double>((a - (nearest - kept)) + (b - kept)));
}
template <class Value> inline Value product(Toward toward, Value a, Value b) {
    const Value nearest = a * b;
    return directed(toward, nearest, static_cast<double>(std::fma(a, b, -nearest)));
}
template <class Value> inline Value quotient(Toward toward, Value a, Value b) {
    const Value nearest = a / b;
    const Value rest = std::fma(-nearest, b, a);
    return directed(toward, nearest, static_cast<double>(b < 0 ? -rest : rest));
}
template <class Value> inline Value root(Toward toward, Value a) {
    const Value nearest = std::sqrt(a);
    return directed(toward, nearest, static_cast<double>(std::fma(-nearest, nearest, a)));
}
inline float narrowed(Toward toward, double x) {
    const float nearest = static_cast<float>(x);
    return directed(toward, nearest, x - static_cast<double>(nearest));
}
template <class Value> inline float converted(Toward toward, Value x) {
    const float nearest = static_cast<float>(x);
    return directed(toward, nearest, static_cast<double>(static_cast<__int128>(x) - static_cast<__int128>(nearest)));
}
template <class Value> inline Value whole(Toward toward, Value x) {
    switch (toward) {
        case Toward::NEAREST: return std::nearbyint(x);
        case Toward::UP: return std::ceil(x);
        case Toward::DOWN: return std::floor(x);
        default: return std::trunc(x);
    }
}
// Conversions to integers saturate on a device, and NaN becomes zero.
template <class Whole, class Value> inline Whole integer(Toward toward, Value x) {
    if (!(x == x)) { return 0; }
    constexpr Whole LEAST = std::numeric_limits<Whole>::min();
    constexpr Whole MOST = std::numeric_limits<Whole>::max();
    const long double rounded = whole(toward, x);
    if (rounded <= static_cast<long double>(LEAST)) { return LEAST; }
    if (rounded >= static_cast<long double>(MOST)) { return MOST; }
    return static_cast<Whole>(rounded);
}

}  // namespace emulation

// All rounding modes by suffix: rn nearest, ru up, rd down, rz toward zero.
#define EMULATION_ROUNDED(suffix, toward)                                                                     \
    inline float __fadd_##suffix(float a, float b) { return emulation::sum(toward, a, b); }                   \
    inline float __fsub_##suffix(float a, float b) { return emulation::sum(toward, a, -b); }                  \
    inline float __fmul_##suffix(float a, float b) { return emulation::product(toward, a, b); }               \
    inline float __fdiv_##suffix(float a, float b) { return emulation::quotient(toward, a, b); }              \
    inline float __frcp_##suffix(float a) { return emulation::quotient(toward, 1.0f, a); }                    \
    inline float __fsqrt_##suffix(float a) { return emulation::root(toward, a); }                             \
    inline double __dadd_##suffix(double a, double b) { return emulation::sum(toward, a, b); }                \
    inline double __dsub_##suffix(double a, double b) { return emulation::sum(toward, a, -b); }               \
    inline double __dmul_##suffix(double a, double b) { return emulation::product(toward, a, b); }            \
    inline double __ddiv_##suffix(double a, double b) { return emulation::quotient(toward, a, b); }           \
    inline double __drcp_##suffix(double a) { return emulation::quotient(toward, 1.0, a); }                   \
    inline double __dsqrt_##suffix(double a) { return emulation::root(toward, a); }                           \
    inline float __double2float_##suffix(double x) { return emulation::narrowed(toward, x); }                 \
    inline float __int2float_##suffix(int x) { return emulation::converted(toward, x); }                      \
    inline float __uint2float_##suffix(unsigned x) { return emulation::converted(toward, x); }                \
    inline float __ll2float_##suffix(long long x) { return emulation::converted(toward, x); }                 \
    inline float __ull2float_##suffix(unsigned long long x) { return emulation::converted(toward, x); }       \
    inline int __float2int_##suffix(float x) { return emulation::integer<int>(toward, x); }                   \
    inline unsigned __float2uint_##suffix(float x) { return emulation::integer<unsigned>(toward, x); }        \
    inline long long __float2ll_##suffix(float x) { return emulation::integer<long long>(toward, x); }        \
    inline int __double2int_##suffix(double x) { return emulation::integer<int>(toward, x); }                 \
    inline unsigned __double2uint_##suffix(double x) { return emulation::integer<unsigned>(toward, x); }      \
    inline long long __double2ll_##suffix(double x) { return emulation::integer<long long>(toward, x); }      \
    inline unsigned long long __double2ull_##suffix(double x) {                                               \
        return emulation::integer<unsigned long long>(toward, x);                                             \
    }
EMULATION_ROUNDED(rn, emulation::Toward::NEAREST)
EMULATION_ROUNDED(ru, emulation::Toward::UP)
EMULATION_ROUNDED(rd, emulation::Toward::DOWN)
EMULATION_ROUNDED(rz, emulation::Toward::ZERO)
#undef EMULATION_ROUNDED

inline float __fmaf_rn(float a, float b, float c) { return std::fma(a, b, c); }
inline double __fma_rn(double a, double b, double c) { return std::fma(a, b, c); }
inline double __int2double_rn(int x) { return x; }
inline double __uint2double_rn(unsigned x) { return x; }
inline double __ll2double_rn(long long x) { return static_cast<double>(x); }
inline double __ull2double_rn(unsigned long long x) { return static_cast<double>(x); }

// Functions that the host's library does not have, or does not overload in the global namespace.
inline double rsqrt(double x) { return 1.0 / std::sqrt(x); }
inline float rsqrt(float x) { return static_cast<float>(1.0 / std::sqrt(static_cast<double>(x))); }
inline float rsqrtf(float x) { return rsqrt(x); }
inline float __frsqrt_rn(float x) { return rsqrt(x); }
inline double rcbrt(double x) { return 1.0 / std::cbrt(x); }
inline float rcbrtf(float x) { return static_cast<float>(1.0 / std::cbrt(static_cast<double>(x))); }
inline double norm3d(double x, double y, double z) { return std::sqrt(x * x + y * y + z * z); }
inline double rnorm3d(double x, double y, double z) { return 1.0 / norm3d(x, y, z); }
inline float norm3df(float x, float y, float z) { return static_cast<float>(norm3d(x, y, z)); }
inline float rnorm3df(float x, float y, float z) { return static_cast<float>(rnorm3d(x, y, z)); }
inline double sinpi(double x) { return std::sin(M_PI * std::fmod(x, 2.0)); }
inline double cospi(double x) { return std::cos(M_PI * std::fmod(x, 2.0)); }
inline float sinpif(float x) { return static_cast<float>(sinpi(static_cast<double>(x))); }
inline float cospif(float x) { return static_cast<float>(cospi(static_cast<double>(x))); }
inline void sincospi(double x, double* sine, double* cosine) {
    *sine = sinpi(x);
    *cosine = cospi(x);
}
inline void sincospif(float x, float* sine, float* cosine) {
    *sine = sinpif(x);
    *cosine = cospif(x);
}
inline float __saturatef(float x) { return x > 0.0f ? (x < 1.0f ? x : 1.0f) : 0.0f; }
inline float __fdividef(float a, float b) { return a / b; }
inline float __expf(float x) { return std::exp(x); }
inline float __exp10f(float x) { return std::pow(10.0f, x); }
inline float __logf(float x) { return std::log(x); }
inline float __log2f(float x) { return std::log2(x); }
inline float __log10f(float x) { return std::log10(x); }
inline float __powf(float x, float y) { return std::pow(x, y); }
inline float __sinf(float x) { return std::sin(x); }
inline float __cosf(float x) { return std::cos(x); }
inline float __tanf(float x) { return std::tan(x); }
inline void __sincosf(float x, float* sine, float* cosine) {
    *sine = std::sin(x);
    *cosine = std::cos(x);
}

#define EMULATION_SMALLER_LARGER(Value)                              \
    inline Value min(Value a, Value b) { return b < a ? b : a; }     \
    inline Value max(Value a, Value b) { return a < b ? b : a; }
EMULATION_SMALLER_LARGER(int)
EMULATION_SMALLER_LARGER(unsigned)
EMULATION_SMALLER_LARGER(long)
EMULATION_SMALLER_LARGER(unsigned long)
EMULATION_SMALLER_LARGER(long long)
EMULATION_SMALLER_LARGER(unsigned long long)
#undef EMULATION_SMALLER_LARGER
inline float min(float a, float b) { return std::fmin(a, b); }
inline float max(float a, float b) { return std::fmax(a, b); }
inline double min(double a, double b) { return std::fmin(a, b); }
inline double max(double a, double b) { return std::fmax(a, b); }

// Loads and stores with cache hints.
#define EMULATION_LOAD(name) \
    template <class Value> inline Value name(const Value* address) { return *address; }
EMULATION_LOAD(__ldg)
EMULATION_LOAD(__ldca)
EMULATION_LOAD(__ldcg)
EMULATION_LOAD(__ldcs)
EMULATION_LOAD(__ldlu)
EMULATION_LOAD(__ldcv)
#undef EMULATION_LOAD
#define EMULATION_STORE(name) \
    template <class Value> inline void name(Value* address, Value value) { *address = value; }
EMULATION_STORE(__stwb)
EMULATION_STORE(__stcg)
EMULATION_STORE(__stcs)
EMULATION_STORE(__stwt)
#undef EMULATION_STORE

inline long long clock64() {
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<long long>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}
[[noreturn]] inline void __trap() { emulation::stop(emulation::running_block(), "__trap"); }
