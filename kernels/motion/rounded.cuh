// Doubles whose operations are rounded one by one, so that a kernel has the same bits as the processor's code.
//
// A compiler for GPUs joins a product and a sum into one operation with one rounding wherever it can; the processor's
// code never does unless it says mul_add. Loops over single particles wait for memory: what they compute is free, and
// they are written with these. Comparisons, quotients and roots are rounded alike on both.
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
// The other one where one is not a number, as f64::max and f64::min.
__device__ __forceinline__ Rounded greatest(Rounded a, Rounded b) { return ::fmax(a.value, b.value); }
__device__ __forceinline__ Rounded least(Rounded a, Rounded b) { return ::fmin(a.value, b.value); }
// As f64::clamp: what is not a number stays so.
__device__ __forceinline__ Rounded clamped(Rounded a, double lower, double upper) {
    return a.value < lower ? lower : a.value > upper ? upper : a.value;
}
// x^2 + y^2 + z^2, in this order.
__device__ __forceinline__ Rounded squared_length(Rounded x, Rounded y, Rounded z) { return x * x + y * y + z * z; }

// Neither infinite nor no number.
__device__ __forceinline__ bool is_finite(double value) { return ::fabs(value) <= 1.7976931348623157e308; }

}  // namespace hilbrium
