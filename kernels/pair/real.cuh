// Arithmetic of the printed laws: mirrors src/simd/real.rs and vec3.rs, src/pair/kernel.rs and table.rs,
// function by function. Also compiles as host C++17. Real is float unless HILBRIUM_REAL is defined otherwise.
#pragma once

#if defined(__CUDACC__) || defined(__CUDACC_RTC__)
#define HILBRIUM_MATH(name) ::name
#else
#include <cmath>
#define HILBRIUM_MATH(name) std::name
#define __device__
#endif

#ifndef HILBRIUM_REAL
#define HILBRIUM_REAL float
#endif

namespace hilbrium {

using Real = HILBRIUM_REAL;

__device__ inline Real sqrt(Real x) { return HILBRIUM_MATH(sqrt)(x); }
__device__ inline Real abs(Real x) { return HILBRIUM_MATH(fabs)(x); }
__device__ inline Real min(Real a, Real b) { return a < b ? a : b; }
__device__ inline Real max(Real a, Real b) { return a > b ? a : b; }
__device__ inline Real exp(Real x) { return HILBRIUM_MATH(exp)(x); }
__device__ inline Real ln(Real x) { return HILBRIUM_MATH(log)(x); }
__device__ inline Real mul_add(Real a, Real b, Real c) { return HILBRIUM_MATH(fma)(a, b, c); }
__device__ inline Real reciprocal(Real x) { return Real(1) / x; }
#if defined(__CUDACC__) || defined(__CUDACC_RTC__)
__device__ inline float reciprocal_root(float x) { return ::rsqrtf(x); }
// A 20-bit estimate and one third-order step; accurate to the last bit or two. Half the cost of rsqrt, which
// also handles subnormal and special values.
__device__ inline double reciprocal_root(double x) {
    double estimate;
    asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(estimate) : "d"(x));
    const double error = ::fma(x, -(estimate * estimate), 1.0);
    return ::fma(::fma(0.375, error, 0.5), estimate * error, estimate);
}
#else
inline Real reciprocal_root(Real x) { return Real(1) / std::sqrt(x); }
#endif

// A vector.
struct Vec3 {
    Real x, y, z;
};

__device__ inline Vec3 operator+(Vec3 a, Vec3 b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
__device__ inline Vec3 operator-(Vec3 a, Vec3 b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
__device__ inline Vec3 operator-(Vec3 a) { return {-a.x, -a.y, -a.z}; }
__device__ inline Vec3 operator*(Vec3 a, Real s) { return {a.x * s, a.y * s, a.z * s}; }
__device__ inline Real dot(Vec3 a, Vec3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
__device__ inline Vec3 cross(Vec3 a, Vec3 b) {
    return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

// A symmetric tensor of rank two.
struct Tensor {
    Real xx, xy, xz, yy, yz, zz;
};

__device__ inline Tensor operator+(Tensor a, Tensor b) {
    return {a.xx + b.xx, a.xy + b.xy, a.xz + b.xz, a.yy + b.yy, a.yz + b.yz, a.zz + b.zz};
}
__device__ inline Tensor operator*(Tensor a, Real s) {
    return {a.xx * s, a.xy * s, a.xz * s, a.yy * s, a.yz * s, a.zz * s};
}
__device__ inline Vec3 operator*(Tensor a, Vec3 v) {
    return {a.xx * v.x + a.xy * v.y + a.xz * v.z, a.xy * v.x + a.yy * v.y + a.yz * v.z,
            a.xz * v.x + a.yz * v.y + a.zz * v.z};
}
__device__ inline Tensor outer(Vec3 r) { return {r.x * r.x, r.x * r.y, r.x * r.z, r.y * r.y, r.y * r.z, r.z * r.z}; }

// A smoothing kernel. Shape: 0 cubic spline, 1 to 3 Wendland C2, C4, C6, 4 sinc. Evaluates w(q), or g(q) =
// -w'(q) / q if `is_gradient`.
struct Kernel {
    int shape;
    int exponent;
    Real normalization;
    bool is_gradient;
};

__device__ inline Real power(Real x, int exponent) {
    Real result = 1;
    for (; exponent > 0; exponent >>= 1, x *= x) {
        if (exponent & 1) result *= x;
    }
    return result;
}

// sinc(pi q / 2) / (1 - u / 4) and its derivative with respect to u = q^2.
__device__ inline void sinc(Real u, Real& value, Real& slope) {
    const double wide[] = {-5.823067516159113e-16, 1.0839061254289035e-13, -1.501141501734521e-11,
                           1.643032500260312e-9,   -1.3837782504438124e-7, 8.610867685597616e-6,
                           -3.741166513510571e-4,  1.0425522402193063e-2,  -0.16123351671205632,
                           1.0};
    const double single[] = {-1.199551906653222e-7, 8.52980951555938e-6,  -3.7395030117334864e-4,
                             1.0425367311457852e-2, -0.16123346368050961, 0.9999999970553322};
    const double* terms = sizeof(Real) == 4 ? single : wide;
    const int count = sizeof(Real) == 4 ? 6 : 10;
    value = 0;
    slope = 0;
    for (int k = 0; k < count; ++k) {
        slope = slope * u + value;
        value = value * u + Real(terms[k]);
    }
}

// g(q) = -w'(q) / q for q2 = q^2.
__device__ inline Real kernel_gradient(Kernel kernel, Real q2) {
    const Real u = min(q2, Real(4)), q = sqrt(u);
    const Real t = Real(1) - Real(0.5) * q;
    Real gradient = 0;
    switch (kernel.shape) {
    case 0: {
        // 12 - 9 q up to q = 1, 3 (2 - q)^2 / q beyond
        const Real inner_part = max(Real(1) - q, Real(0)), p = max(q, Real(1)), outer_part = Real(2) - p;
        gradient = Real(3) * outer_part * outer_part / p + Real(9) * inner_part;
        break;
    }
    case 1: gradient = Real(5) * power(t, 3); break;
    case 2: gradient = power(t, 5) * (Real(35.0 / 3.0) * q + Real(14.0 / 3.0)); break;
    case 3: gradient = power(t, 7) * ((Real(22) * q + Real(19.25)) * q + Real(5.5)); break;
    default: {
        Real p, dp;
        const Real factor = Real(1) - Real(0.25) * u;
        sinc(u, p, dp);
        const Real ds = Real(0.5) * p - Real(2) * factor * dp;
        gradient = power(factor * p, kernel.exponent - 1) * ds * Real(kernel.exponent);
    }
    }
    return gradient * kernel.normalization;
}

// w(q), or g(q) if `is_gradient`, for q2 = q^2.
__device__ inline Real kernel_value(Kernel kernel, Real q2) {
    if (kernel.is_gradient) { return kernel_gradient(kernel, q2); }
    const Real u = min(q2, Real(4)), q = sqrt(u);
    const Real t = Real(1) - Real(0.5) * q;
    Real value = 0;
    switch (kernel.shape) {
    case 0: {
        const Real outer_part = Real(2) - q, inner_part = max(Real(1) - q, Real(0));
        value = power(outer_part, 3) - Real(4) * power(inner_part, 3);
        break;
    }
    case 1: value = power(t, 4) * (Real(2) * q + Real(1)); break;
    case 2: value = power(t, 6) * ((Real(35.0 / 12.0) * q + Real(3)) * q + Real(1)); break;
    case 3: value = power(t, 8) * (((Real(4) * q + Real(6.25)) * q + Real(4)) * q + Real(1)); break;
    default: {
        Real p, slope;
        sinc(u, p, slope);
        value = power((Real(1) - Real(0.25) * u) * p, kernel.exponent);
    }
    }
    return value * kernel.normalization;
}

// q dw/dq for q2 = q^2.
__device__ inline Real kernel_slope(Kernel kernel, Real q2) {
    return -min(q2, Real(4)) * kernel_gradient(kernel, q2);
}

// A symmetric table over pairs of at most eight species: the pairs (b, a), a <= b, ordered by b, then a.
struct Table {
    int kinds;
    Real entries[36];
};

__device__ inline Real table_value(const Table& table, Real i, Real j) {
    const int b = int(max(i, j)), a = int(min(i, j));
    return table.entries[b * (b + 1) / 2 + a];
}

// An energy and its derivative with respect to the squared distance.
struct RadialValue {
    Real value, slope;
};

// Number of a pair of species: (b, a), a <= b, ordered by b, then a.
__device__ inline int pair_number(Real i, Real j) {
    const int b = int(max(i, j)), a = int(min(i, j));
    return b * (b + 1) / 2 + a;
}

// Intervals of a piecewise polynomial of x > 0: `1 << bits` for each factor of 2 from 2^first_exponent on.
struct Intervals {
    int first_exponent, octaves, bits;
};

// Polynomial `number` of x = scale * square and its derivative with respect to the square; `rows` has eight
// coefficients for each interval, from the lowest power up. x outside of the range is moved to its ends.
__device__ inline RadialValue piecewise(
    const Real* rows, Intervals intervals, int number, Real scale, Real square) {
    int exponent;
    const Real end = ldexp(Real(1), intervals.first_exponent + intervals.octaves);
    const Real x = min(scale * square, end);
    const Real mantissa = frexp(x, &exponent);
    const int count = intervals.octaves << intervals.bits;
    const Real place = (Real(2) * mantissa - Real(1)) * Real(1 << intervals.bits);
    int octave = exponent - 1 - intervals.first_exponent;
    int interval = (octave << intervals.bits) + int(place);
    Real t = place - Real(int(place));
    if (octave < 0 || !(x > Real(0))) {
        octave = 0;
        interval = 0;
        t = Real(0);
    }
    if (octave >= intervals.octaves) {
        octave = intervals.octaves - 1;
        interval = count - 1;
        t = Real(1);
    }
    const Real* row = rows + 8 * (number * count + interval);
    Real value = row[7], slope = Real(0);
#pragma unroll
    for (int power = 6; power >= 0; --power) {
        slope = slope * t + value;
        value = value * t + row[power];
    }
    // 1 / width of the interval
    const Real inverse = ldexp(Real(1), intervals.bits - octave - intervals.first_exponent);
    return RadialValue{value, slope * inverse * scale};
}

// An energy of a deck: a function that is compiled with the unit, so that calls of it are inlined.
struct RadialEnergy {
    RadialValue (*evaluate)(Real i, Real j, Real r2);
};

__device__ inline RadialValue radial_energy(RadialEnergy energy, Real i, Real j, Real r2) {
    return energy.evaluate(i, j, r2);
}

// The part of a Coulomb energy beside 1/r, a function of the squared distance: linear, or polynomials of value
// and slope in x = scale r^2 - 1, coefficients from the highest power down, the last `count` + 1 and `count`.
struct SmoothPart {
    Real constant, linear, scale;
    int count;
    Real values[32], slopes[32];
};

__device__ inline RadialValue smooth_part(const SmoothPart& part, Real r2) {
    if (part.count == 0) return RadialValue{part.linear * r2 + part.constant, part.linear};
    const Real x = part.scale * r2 - Real(1);
    Real value = Real(0), slope = Real(0);
#pragma unroll
    for (int k = 0; k < 32; ++k) {
        if (k >= 31 - part.count) value = value * x + part.values[k];
        if (k >= 32 - part.count) slope = slope * x + part.slopes[k];
    }
    return RadialValue{value, slope * part.scale};
}

} // namespace hilbrium
