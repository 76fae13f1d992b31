// Periodic images of one coordinate, bitwise equal to src/space/mod.rs.
#pragma once

#include "../motion/rounded.cuh"

namespace hilbrium {

// Image of a coordinate in [lower, upper).
__device__ __forceinline__ double wrapped(double coordinate, double lower, double upper) {
    const double length = rounded_sum(upper, -lower);
    // The remainder is exact and has the sign of the length.
    double remainder = ::fmod(rounded_sum(coordinate, -lower), length);
    if (remainder < 0.0) { remainder = rounded_sum(remainder, length); }
    const double inside = rounded_sum(lower, remainder);
    return inside < upper ? inside : lower;
}

// Image of a coordinate in [lower, upper), unchanged inside.
__device__ __forceinline__ double image_within(double coordinate, double lower, double upper) {
    return coordinate >= lower && coordinate < upper ? coordinate : wrapped(coordinate, lower, upper);
}

// Nearest integer: ties to even below 2^51, away from zero above, where ties are rare.
__device__ __forceinline__ double nearest_whole(double number) {
    return ::fabs(number) < 2251799813685248.0 ? ::rint(number) : ::round(number);
}

// Minimum image of a separation; the length of an open dimension is 0.
__device__ __forceinline__ Rounded shortest(Rounded separation, double length) {
    if (!(length > 0.0)) { return separation; }
    return separation - Rounded(length) * Rounded(nearest_whole((separation / Rounded(length)).value));
}

}  // namespace hilbrium
