// Periodic images of one coordinate, with the bits of src/space/mod.rs.
#pragma once

#include "../motion/rounded.cuh"

namespace hilbrium {

// The place within [lower, upper) that a coordinate is an image of.
__device__ __forceinline__ double wrapped(double coordinate, double lower, double upper) {
    const double length = rounded_sum(upper, -lower);
    // the remainder is exact, and gets the sign of the length
    double remainder = ::fmod(rounded_sum(coordinate, -lower), length);
    if (remainder < 0.0) { remainder = rounded_sum(remainder, length); }
    const double inside = rounded_sum(lower, remainder);
    return inside < upper ? inside : lower;
}

// The nearest whole number: ties to even below 2^51, away from zero above, where there are few.
__device__ __forceinline__ double nearest_whole(double number) {
    return ::fabs(number) < 2251799813685248.0 ? ::rint(number) : ::round(number);
}

// The shortest image of a separation; a length of 0 says that space does not repeat.
__device__ __forceinline__ Rounded shortest(Rounded separation, double length) {
    if (!(length > 0.0)) { return separation; }
    return separation - Rounded(length) * Rounded(nearest_whole((separation / Rounded(length)).value));
}

}  // namespace hilbrium
