// Built-in functions on bits and numbers: against plain loops over bits, and against the host's own rounding modes.
#include "../device.cuh"
#include "harness.h"

using namespace hilbrium;

constexpr unsigned BITS = 26;
constexpr unsigned FLOATS = 24;
constexpr unsigned DOUBLES = 32;

extern "C" __global__ void bits(const unsigned* x, const unsigned* y, unsigned long long* results, unsigned count) {
    const unsigned i = static_cast<unsigned>(thread_of_grid());
    if (i >= count) { return; }
    const unsigned a = x[i], b = y[i];
    const unsigned long long wide = static_cast<unsigned long long>(a) << 32 | b;
    const long long left = static_cast<long long>(wide), right = static_cast<long long>(wide ^ a);
    const double joined = __hiloint2double(static_cast<int>(a & 0x7fefffffu), static_cast<int>(b));
    unsigned long long* mine = results + static_cast<unsigned long long>(i) * BITS;
    mine[0] = static_cast<unsigned>(__popc(a));
    mine[1] = static_cast<unsigned>(__popcll(wide));
    mine[2] = static_cast<unsigned>(__ffs(static_cast<int>(a)));
    mine[3] = static_cast<unsigned>(__ffsll(static_cast<long long>(wide)));
    mine[4] = static_cast<unsigned>(__clz(static_cast<int>(a)));
    mine[5] = static_cast<unsigned>(__clzll(static_cast<long long>(wide)));
    mine[6] = __brev(a);
    mine[7] = __brevll(wide);
    mine[8] = __funnelshift_l(a, b, b >> 3);
    mine[9] = __funnelshift_r(a, b, b >> 3);
    mine[10] = __funnelshift_lc(a, b, b & 63u);
    mine[11] = __funnelshift_rc(a, b, b & 63u);
    mine[12] = __byte_perm(a, b, a >> 7);
    mine[13] = static_cast<unsigned>(__mulhi(static_cast<int>(a), static_cast<int>(b)));
    mine[14] = __umulhi(a, b);
    mine[15] = __umul64hi(wide, wide ^ a);
    mine[16] = static_cast<unsigned long long>(__mul64hi(left, right));
    mine[17] = __umul24(a, b);
    mine[18] = __float_as_uint(__uint_as_float(a & 0x7f7fffffu));
    mine[19] = static_cast<unsigned>(__float_as_int(__int_as_float(static_cast<int>(b & 0x7f7fffffu))));
    mine[20] = static_cast<unsigned>(__double2hiint(joined));
    mine[21] = static_cast<unsigned>(__double2loint(joined));
    mine[22] = min(a, b);
    mine[23] = max(a, b);
    mine[24] = static_cast<unsigned>(min(static_cast<int>(a), static_cast<int>(b)));
    mine[25] = static_cast<unsigned long long>(max(static_cast<long long>(wide), -static_cast<long long>(a)));
}
HILBRIUM_EXPORT(bits)

// Bit k of the 64 bits high:low, for any k from 0.
static bool bit_of(unsigned high, unsigned low, unsigned k) {
    return k < 32 ? (low >> k & 1u) != 0 : (k < 64 ? (high >> (k - 32) & 1u) != 0 : false);
}

static void check_bits(unsigned a, unsigned b, const unsigned long long* found, unsigned place) {
    unsigned long long wanted[BITS] = {};
    wanted[4] = 32;
    wanted[5] = 64;
    for (unsigned k = 0; k < 64; k++) {
        if (!bit_of(a, b, k)) { continue; }
        wanted[1]++;
        if (wanted[3] == 0) { wanted[3] = k + 1; }
        wanted[5] = 63 - k;
        wanted[7] += 1ull << (63 - k);
        if (k < 32) { continue; }
        wanted[0]++;
        if (wanted[2] == 0) { wanted[2] = k - 31; }
        wanted[4] = 63 - k;
        wanted[6] += 1ull << (63 - k);
    }
    const unsigned wrapped = b >> 3 & 31, clamped = (b & 63) < 32 ? (b & 63) : 32;
    for (unsigned k = 0; k < 32; k++) {
        if (bit_of(b, a, 32 + k - wrapped)) { wanted[8] |= 1ull << k; }
        if (bit_of(b, a, k + wrapped)) { wanted[9] |= 1ull << k; }
        if (bit_of(b, a, 32 + k - clamped)) { wanted[10] |= 1ull << k; }
        if (bit_of(b, a, k + clamped)) { wanted[11] |= 1ull << k; }
        const unsigned selected = a >> 7 >> (k / 8 * 4) & 7;
        if (bit_of(b, a, selected * 8 + k % 8)) { wanted[12] |= 1ull << k; }
    }
    const unsigned long long wide = static_cast<unsigned long long>(a) << 32 | b, other = wide ^ a;
    const auto low = [](unsigned long long x) { return x & 0xffffffffull; };
    const long long product = static_cast<long long>(static_cast<int>(a)) * static_cast<int>(b);
    wanted[13] = low(static_cast<unsigned long long>(product) >> 32);
    wanted[14] = static_cast<unsigned long long>(a) * b >> 32;
    const unsigned long long falling = (wide >> 32) * low(other), rising = low(wide) * (other >> 32);
    const unsigned long long middle = (low(wide) * low(other) >> 32) + low(falling) + low(rising);
    wanted[15] = (wide >> 32) * (other >> 32) + (falling >> 32) + (rising >> 32) + (middle >> 32);
    wanted[16] = wanted[15] - (wide >> 63 != 0 ? other : 0) - (other >> 63 != 0 ? wide : 0);
    wanted[17] = low(static_cast<unsigned long long>(a % (1u << 24)) * (b % (1u << 24)));
    wanted[18] = a & 0x7f7fffffu;
    wanted[19] = b & 0x7f7fffffu;
    wanted[20] = a & 0x7fefffffu;
    wanted[21] = b;
    wanted[22] = a < b ? a : b;
    wanted[23] = a < b ? b : a;
    wanted[24] = static_cast<int>(a) < static_cast<int>(b) ? a : b;
    const long long left = static_cast<long long>(wide), right = -static_cast<long long>(a);
    wanted[25] = static_cast<unsigned long long>(left > right ? left : right);
    for (unsigned k = 0; k < BITS; k++) { harness::check("bits", 100 * place + k, found[k], wanted[k]); }
}

#define ROUNDED_OF_FLOATS(at, suffix)               \
    mine[at + 0] = __fadd_##suffix(a, b);           \
    mine[at + 1] = __fsub_##suffix(a, b);           \
    mine[at + 2] = __fmul_##suffix(a, b);           \
    mine[at + 3] = __fdiv_##suffix(a, b);           \
    mine[at + 4] = __fsqrt_##suffix(fabsf(a));      \
    mine[at + 5] = __frcp_##suffix(b);

extern "C" __global__ void floats(const double* x, const double* y, float* results, unsigned count) {
    const unsigned i = static_cast<unsigned>(thread_of_grid());
    if (i >= count) { return; }
    const float a = static_cast<float>(x[i]), b = static_cast<float>(y[i]);
    float* mine = results + static_cast<unsigned long long>(i) * FLOATS;
    ROUNDED_OF_FLOATS(0, rn)
    ROUNDED_OF_FLOATS(6, ru)
    ROUNDED_OF_FLOATS(12, rd)
    ROUNDED_OF_FLOATS(18, rz)
}
HILBRIUM_EXPORT(floats)

#define ROUNDED_OF_DOUBLES(at, suffix)                                                               \
    mine[at + 0] = __dadd_##suffix(a, b);                                                            \
    mine[at + 1] = __dmul_##suffix(a, b);                                                            \
    mine[at + 2] = __ddiv_##suffix(a, b);                                                            \
    mine[at + 3] = __dsqrt_##suffix(fabs(a));                                                        \
    mine[at + 4] = __double2float_##suffix(a);                                                       \
    mine[at + 5] = __ll2float_##suffix(__double_as_longlong(a));                                     \
    mine[at + 6] = __uint2float_##suffix(static_cast<unsigned>(__double_as_longlong(a)));            \
    mine[at + 7] = static_cast<double>(__double2int_##suffix(a));

extern "C" __global__ void doubles(const double* x, const double* y, double* results, unsigned count) {
    const unsigned i = static_cast<unsigned>(thread_of_grid());
    if (i >= count) { return; }
    const double a = x[i], b = y[i];
    double* mine = results + static_cast<unsigned long long>(i) * DOUBLES;
    ROUNDED_OF_DOUBLES(0, rn)
    ROUNDED_OF_DOUBLES(8, ru)
    ROUNDED_OF_DOUBLES(16, rd)
    ROUNDED_OF_DOUBLES(24, rz)
}
HILBRIUM_EXPORT(doubles)

constexpr int MODES[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};

static void check_rounding(double x, double y, const float* floats, const double* doubles, unsigned place) {
    // volatile: nothing may be worked out before the mode is set
    volatile float a = static_cast<float>(x), b = static_cast<float>(y), zero = 0.0f, one = 1.0f;
    volatile double c = x, d = y;
    long long word = 0;
    std::memcpy(&word, &x, 8);
    volatile long long whole = word;
    for (unsigned mode = 0; mode < 4; mode++) {
        std::fesetround(MODES[mode]);
        volatile float of_floats[6] = {};
        of_floats[0] = a + b;
        of_floats[1] = a - b;
        of_floats[2] = a * b;
        of_floats[3] = a / b;
        of_floats[4] = std::sqrt(a < zero ? -a : a);
        of_floats[5] = one / b;
        volatile double of_doubles[8] = {};
        of_doubles[0] = c + d;
        of_doubles[1] = c * d;
        of_doubles[2] = c / d;
        of_doubles[3] = std::sqrt(c < 0 ? -c : c);
        of_doubles[4] = static_cast<float>(c);
        of_doubles[5] = static_cast<float>(whole);
        of_doubles[6] = static_cast<float>(static_cast<long long>(static_cast<unsigned>(whole)));
        const double rounded = std::nearbyint(c);
        std::fesetround(FE_TONEAREST);
        const double least = -2147483648.0, most = 2147483647.0;
        of_doubles[7] = rounded < least ? least : (rounded > most ? most : rounded + 0.0);
        for (unsigned k = 0; k < 6; k++) {
            harness::check("rounding of single precision", 100 * place + 6 * mode + k, floats[6 * mode + k],
                           static_cast<float>(of_floats[k]));
        }
        for (unsigned k = 0; k < 8; k++) {
            harness::check("rounding of double precision", 100 * place + 8 * mode + k, doubles[8 * mode + k],
                           static_cast<double>(of_doubles[k]));
        }
    }
}

int main() {
    constexpr unsigned COUNT = 500, THREADS = 64;
    harness::Column<unsigned> x(COUNT), y(COUNT);
    harness::Column<unsigned long long> of_bits(COUNT * BITS);
    harness::Column<double> a(COUNT), b(COUNT), of_doubles(COUNT * DOUBLES);
    harness::Column<float> of_floats(COUNT * FLOATS);
    unsigned long long state = 88172645463325252ull;
    const auto random = [&state] {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        return state;
    };
    const auto number = [&random](int lowest, int highest) {
        const double mantissa = 1.0 + static_cast<double>(random() >> 11) * 0x1p-53;
        const int exponent = lowest + static_cast<int>(random() % static_cast<unsigned>(highest - lowest));
        return std::ldexp((random() & 1) != 0 ? -mantissa : mantissa, exponent);
    };
    for (unsigned i = 0; i < COUNT; i++) {
        x[i] = static_cast<unsigned>(random()) >> (i % 40 < 32 ? i % 40 : 0);
        y[i] = i % 17 == 0 ? 0u : static_cast<unsigned>(random());
        a[i] = number(i % 2 == 0 ? -3 : -20, i % 2 == 0 ? 3 : 36);
        b[i] = number(i % 2 == 0 ? -3 : -20, i % 2 == 0 ? 3 : 20);
    }
    const unsigned blocks = (COUNT + THREADS - 1) / THREADS;
    const auto fixed = [](auto* column) { return const_cast<const std::remove_pointer_t<decltype(column)>*>(column); };
    LAUNCH(bits, blocks, THREADS, fixed(x.values), fixed(y.values), of_bits.values, COUNT);
    LAUNCH(floats, blocks, THREADS, fixed(a.values), fixed(b.values), of_floats.values, COUNT);
    LAUNCH(doubles, blocks, THREADS, fixed(a.values), fixed(b.values), of_doubles.values, COUNT);
    for (unsigned i = 0; i < COUNT; i++) {
        check_bits(x[i], y[i], &of_bits[i * BITS], i);
        check_rounding(a[i], b[i], &of_floats[i * FLOATS], &of_doubles[i * DOUBLES], i);
    }
    return harness::verdict();
}
