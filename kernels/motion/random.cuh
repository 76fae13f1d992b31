// Counter-based random numbers: functions of a seed, a particle's id and a step. Bitwise equal to
// src/motion/random.rs on CPUs with fused multiply-add (which its polynomials request).
//
// Philox4x32-10 (Salmon, Moraes, Dror & Shaw 2011) and the transformation of Box & Muller (1958).
#pragma once

#include "../motion/rounded.cuh"

namespace hilbrium {

// Purposes of random numbers, which have independent streams.
constexpr unsigned NOISE = 1u, PARTING = 2u;

struct Words {
    unsigned word[4];
};

// Four random words for a counter. Floor: 40 32-bit multiplications.
__device__ __forceinline__ Words philox(Words counter, unsigned key_low, unsigned key_high) {
    unsigned(&c)[4] = counter.word;
#pragma unroll
    for (int round = 0; round < 10; ++round) {
        const unsigned long long first = 0xd2511f53ull * c[0], second = 0xcd9e8d57ull * c[2];
        c[0] = static_cast<unsigned>(second >> 32) ^ c[1] ^ key_low;
        c[1] = static_cast<unsigned>(second);
        c[2] = static_cast<unsigned>(first >> 32) ^ c[3] ^ key_high;
        c[3] = static_cast<unsigned>(first);
        key_low += 0x9e3779b9u;
        key_high += 0xbb67ae85u;
    }
    return counter;
}

// Maps a word to (0, 1), both ends excluded.
__device__ __forceinline__ double fraction(unsigned word) {
    return rounded_product(rounded_sum(static_cast<double>(word), 0.5), 1.0 / 4294967296.0);
}

// Horner evaluation of a polynomial with COUNT coefficients, highest power first, starting with a
// multiply-add to 0.
template <int COUNT> __device__ __forceinline__ double polynomial(double x, const double (&coefficients)[COUNT]) {
    double sum = 0.0;
#pragma unroll
    for (int k = 0; k < COUNT; ++k) { sum = ::fma(sum, x, coefficients[k]); }
    return sum;
}

// Natural logarithm of a positive normal number, as Real::ln of src/simd/real.rs.
__device__ __forceinline__ double logarithm(double x) {
    const long long bits = __double_as_longlong(x);
    const double exponent = static_cast<double>(static_cast<int>(bits >> 52)) - 1023.0;
    const double mantissa = __longlong_as_double((bits & 0xfffffffffffffll) | 0x3ff0000000000000ll);
    const bool large = 1.4142135623730951 < mantissa;
    const double m = large ? 0.5 * mantissa : mantissa, k = large ? exponent + 1.0 : exponent;
    const double z = rounded_sum(m, -1.0) / rounded_sum(m, 1.0);
    const double terms[11] = {1.0 / 21.0, 1.0 / 19.0, 1.0 / 17.0, 1.0 / 15.0, 1.0 / 13.0, 1.0 / 11.0,
                              1.0 / 9.0,  1.0 / 7.0,  1.0 / 5.0,  1.0 / 3.0,  1.0};
    const double series = rounded_product(z + z, polynomial(rounded_product(z, z), terms));
    // ln 2 in two parts, the first with trailing zeros, so that its product with k is exact
    return ::fma(k, 6.931471803691238e-1, ::fma(k, 1.9082149292705877e-10, series));
}

// Two normal deviates from two words.
__device__ __forceinline__ void normal_pair(unsigned first, unsigned second, double& x, double& y) {
    const double turn = rounded_sum(fraction(second), -0.5);
    const double radius = ::sqrt(rounded_product(-2.0, logarithm(fraction(first))));
    // Argument reduction to the nearest quarter turn, at most an eighth away.
    const double quarter = ::rint(rounded_product(turn, 4.0));
    const double angle = rounded_product(rounded_sum(turn, -rounded_product(quarter, 0.25)), 6.283185307179586);
    const double square = rounded_product(angle, angle);
    // (-1)^k / (2 k + 1)! and (-1)^k / (2 k)!, each from the previous one
    constexpr double s1 = -1.0 / 6.0, s2 = -s1 / 20.0, s3 = -s2 / 42.0, s4 = -s3 / 72.0, s5 = -s4 / 110.0,
                     s6 = -s5 / 156.0;
    constexpr double c1 = -1.0 / 2.0, c2 = -c1 / 12.0, c3 = -c2 / 30.0, c4 = -c3 / 56.0, c5 = -c4 / 90.0,
                     c6 = -c5 / 132.0, c7 = -c6 / 182.0;
    const double sines[7] = {s6, s5, s4, s3, s2, s1, 1.0};
    const double cosines[8] = {c7, c6, c5, c4, c3, c2, c1, 1.0};
    const double sine = rounded_product(angle, polynomial(square, sines)), cosine = polynomial(square, cosines);
    const double size = ::fabs(quarter);
    const bool odd = 0.5 < size && size < 1.5;
    const double even_sign = rounded_sum(1.0, -size);
    x = rounded_product(radius, odd ? -rounded_product(quarter, sine) : rounded_product(even_sign, cosine));
    y = rounded_product(radius, odd ? rounded_product(quarter, cosine) : rounded_product(even_sign, sine));
}

// Three independent normal deviates of unit variance for a particle.
__device__ __forceinline__ void normals(unsigned purpose, unsigned long long seed, unsigned long long step,
                                        unsigned long long id, double (&deviates)[3]) {
    const Words counter = {static_cast<unsigned>(id), static_cast<unsigned>(id >> 32), static_cast<unsigned>(step),
                           static_cast<unsigned>(step >> 32) | purpose << 24};
    const Words words = philox(counter, static_cast<unsigned>(seed), static_cast<unsigned>(seed >> 32));
    double unused;
    normal_pair(words.word[0], words.word[1], deviates[0], deviates[1]);
    normal_pair(words.word[2], words.word[3], deviates[2], unused);
}

}  // namespace hilbrium
