// Printed from src/device/arguments: change it there, then run
// HILBRIUM_PRINT=1 cargo test --test device kernel_arguments
#pragma once

#include "../arguments/layout.cuh"
#include "../arguments/shared.cuh"

namespace hilbrium {

// One step of the search for smoothing lengths.
struct SearchSmoothingArguments {
    // Smoothing lengths.
    double* smoothing_length;
    // Number densities.
    const double* number_density;
    // Their derivatives by the logarithm of the smoothing length.
    const double* number_density_slope;
    // Masses.
    const double* mass;
    // Densities.
    double* density;
    // Largest support that the list covers, by row.
    const double* support;
    // Lower ends of the brackets.
    double* lower;
    // Upper ends of the brackets.
    double* upper;
    // Not 0 while a row searches.
    unsigned char* active;
    // Not 0 for rows whose support outgrew the list.
    unsigned char* outgrown;
    // Target of the product of number density and cubed smoothing length.
    double target;
    // Relative tolerance of the number of neighbors.
    double tolerance;
    // The largest smoothing length allowed.
    double largest;
    // The owned rows.
    Rows rows;
    // Counts of rows: outgrown, with too few neighbors, still searching.
    unsigned* counters;
};
HILBRIUM_SIZE(SearchSmoothingArguments, 120)
HILBRIUM_OFFSET(SearchSmoothingArguments, smoothing_length, 0)
HILBRIUM_OFFSET(SearchSmoothingArguments, number_density, 8)
HILBRIUM_OFFSET(SearchSmoothingArguments, number_density_slope, 16)
HILBRIUM_OFFSET(SearchSmoothingArguments, mass, 24)
HILBRIUM_OFFSET(SearchSmoothingArguments, density, 32)
HILBRIUM_OFFSET(SearchSmoothingArguments, support, 40)
HILBRIUM_OFFSET(SearchSmoothingArguments, lower, 48)
HILBRIUM_OFFSET(SearchSmoothingArguments, upper, 56)
HILBRIUM_OFFSET(SearchSmoothingArguments, active, 64)
HILBRIUM_OFFSET(SearchSmoothingArguments, outgrown, 72)
HILBRIUM_OFFSET(SearchSmoothingArguments, target, 80)
HILBRIUM_OFFSET(SearchSmoothingArguments, tolerance, 88)
HILBRIUM_OFFSET(SearchSmoothingArguments, largest, 96)
HILBRIUM_OFFSET(SearchSmoothingArguments, rows, 104)
HILBRIUM_OFFSET(SearchSmoothingArguments, counters, 112)

// Start of the searches.
struct RestartSearchesArguments {
    // Lower ends of the brackets.
    double* lower;
    // Upper ends of the brackets.
    double* upper;
    // Not 0 while a row searches.
    unsigned char* active;
    // Not 0 for rows whose support outgrew the list.
    unsigned char* outgrown;
    // The largest smoothing length allowed.
    double largest;
    // Not 0: all rows search; 0: those that outgrew the list.
    unsigned all;
    // The owned rows.
    Rows rows;
};
HILBRIUM_SIZE(RestartSearchesArguments, 56)
HILBRIUM_OFFSET(RestartSearchesArguments, lower, 0)
HILBRIUM_OFFSET(RestartSearchesArguments, upper, 8)
HILBRIUM_OFFSET(RestartSearchesArguments, active, 16)
HILBRIUM_OFFSET(RestartSearchesArguments, outgrown, 24)
HILBRIUM_OFFSET(RestartSearchesArguments, largest, 32)
HILBRIUM_OFFSET(RestartSearchesArguments, all, 40)
HILBRIUM_OFFSET(RestartSearchesArguments, rows, 44)

}  // namespace hilbrium

extern "C" __global__ void search_smoothing_lengths(
    const __grid_constant__ hilbrium::SearchSmoothingArguments args);
extern "C" __global__ void restart_searches(
    const __grid_constant__ hilbrium::RestartSearchesArguments args);
