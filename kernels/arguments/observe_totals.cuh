// Printed from src/device/arguments: change it there, then run
// HILBRIUM_PRINT=1 cargo test --test device kernel_arguments
#pragma once

#include "../arguments/layout.cuh"
#include "../arguments/shared.cuh"

namespace hilbrium {

// Sums and extremes over all particles. Columns that particles do not have are null.
struct TotalsArguments {
    // Positions.
    const double* position[3];
    // Velocities.
    const double* velocity[3];
    // Masses.
    const double* mass;
    // Internal energies, or null.
    const double* energy;
    // Gravitational potentials, or null.
    const double* potential;
    // Pair energies, or null.
    const double* pair_energy;
    // Virials, or null.
    const double* virial;
    // Densities, or null.
    const double* density;
    // Smoothing lengths, or null.
    const double* smoothing_length;
    // The owned rows.
    Rows rows;
    // Fourteen columns with one value per block.
    double* partial;
    // Maximum density and minimum smoothing length.
    unsigned long long* extremes;
};
HILBRIUM_SIZE(TotalsArguments, 128)
HILBRIUM_OFFSET(TotalsArguments, position, 0)
HILBRIUM_OFFSET(TotalsArguments, velocity, 24)
HILBRIUM_OFFSET(TotalsArguments, mass, 48)
HILBRIUM_OFFSET(TotalsArguments, energy, 56)
HILBRIUM_OFFSET(TotalsArguments, potential, 64)
HILBRIUM_OFFSET(TotalsArguments, pair_energy, 72)
HILBRIUM_OFFSET(TotalsArguments, virial, 80)
HILBRIUM_OFFSET(TotalsArguments, density, 88)
HILBRIUM_OFFSET(TotalsArguments, smoothing_length, 96)
HILBRIUM_OFFSET(TotalsArguments, rows, 104)
HILBRIUM_OFFSET(TotalsArguments, partial, 112)
HILBRIUM_OFFSET(TotalsArguments, extremes, 120)

}  // namespace hilbrium

extern "C" __global__ void observe_totals(
    const __grid_constant__ hilbrium::TotalsArguments args);
