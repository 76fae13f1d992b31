// Doubles with individually rounded operations, so that kernels are bitwise equal to the CPU code.
//
// GPU compilers contract products and sums to fused multiply-adds wherever possible; the CPU code uses them
// only for mul_add. Loops over single particles are memory-bound, so that their arithmetic is free, and they
// use this type. Comparisons, quotients and roots are rounded identically on both.
#pragma once

#include "../device.cuh"

namespace hilbrium {

__device__ __forceinline__ double rounded_sum(double a, double b) { return __dadd_rn(a, b); }
__device__ __forceinline__ double rounded_product(double a, double b) { return __dmul_rn(a, b); }

struct Rounded {
    double value;
    __device__ __forceinline__ Rounded() {}
    __device__ __forceinline__ Rounded(double number) : value(number) {}
};

__device__ __forceinline__ Rounded operator+(Rounded a, Rounded b) { return rounded_sum(a.value, b.value); }
__device__ __forceinline__ Rounded operator-(Rounded a, Rounded b) { return rounded_sum(a.value, -b.value); }
__device__ __forceinline__ Rounded operator-(Rounded a) { return -a.value; }
__device__ __forceinline__ Rounded operator*(Rounded a, Rounded b) { return rounded_product(a.value, b.value); }
__device__ __forceinline__ Rounded operator/(Rounded a, Rounded b) { return a.value / b.value; }
__device__ __forceinline__ bool operator<(Rounded a, Rounded b) { return a.value < b.value; }
__device__ __forceinline__ bool operator>(Rounded a, Rounded b) { return a.value > b.value; }
__device__ __forceinline__ bool operator<=(Rounded a, Rounded b) { return a.value <= b.value; }
__device__ __forceinline__ bool operator>=(Rounded a, Rounded b) { return a.value >= b.value; }

__device__ __forceinline__ Rounded magnitude(Rounded a) { return ::fabs(a.value); }
__device__ __forceinline__ Rounded root(Rounded a) { return ::sqrt(a.value); }
// Returns the other argument if one is NaN, as f64::max and f64::min.
__device__ __forceinline__ Rounded greatest(Rounded a, Rounded b) { return ::fmax(a.value, b.value); }
__device__ __forceinline__ Rounded least(Rounded a, Rounded b) { return ::fmin(a.value, b.value); }
// As f64::clamp: NaN stays NaN.
__device__ __forceinline__ Rounded clamped(Rounded a, double lower, double upper) {
    return a.value < lower ? lower : a.value > upper ? upper : a.value;
}
// x^2 + y^2 + z^2, in this order.
__device__ __forceinline__ Rounded squared_length(Rounded x, Rounded y, Rounded z) { return x * x + y * y + z * z; }

// Returns whether a value is neither infinite nor NaN.
__device__ __forceinline__ bool is_finite(double value) { return ::fabs(value) <= 1.7976931348623157e308; }

}  // namespace hilbrium
