// Printed from src/device/arguments: change it there, then run
// HILBRIUM_PRINT=1 cargo test --test device kernel_arguments
#pragma once

#include "../arguments/layout.cuh"
#include "../arguments/shared.cuh"

namespace hilbrium {

// Pressure and speed of sound of an ideal gas.
struct IdealGasArguments {
    // Densities.
    const double* density;
    // Internal energies.
    const double* energy;
    // Ratio of specific heats.
    double gamma;
    // Pressures.
    double* pressure;
    // Speeds of sound.
    double* sound_speed;
    // Rows.
    Rows rows;
};
HILBRIUM_SIZE(IdealGasArguments, 48)
HILBRIUM_OFFSET(IdealGasArguments, density, 0)
HILBRIUM_OFFSET(IdealGasArguments, energy, 8)
HILBRIUM_OFFSET(IdealGasArguments, gamma, 16)
HILBRIUM_OFFSET(IdealGasArguments, pressure, 24)
HILBRIUM_OFFSET(IdealGasArguments, sound_speed, 32)
HILBRIUM_OFFSET(IdealGasArguments, rows, 40)

// Pressure and speed of sound of an isothermal gas.
struct IsothermalGasArguments {
    // Densities.
    const double* density;
    // The speed of sound of all particles.
    double speed;
    // Pressures.
    double* pressure;
    // Speeds of sound.
    double* sound_speed;
    // Rows.
    Rows rows;
};
HILBRIUM_SIZE(IsothermalGasArguments, 40)
HILBRIUM_OFFSET(IsothermalGasArguments, density, 0)
HILBRIUM_OFFSET(IsothermalGasArguments, speed, 8)
HILBRIUM_OFFSET(IsothermalGasArguments, pressure, 16)
HILBRIUM_OFFSET(IsothermalGasArguments, sound_speed, 24)
HILBRIUM_OFFSET(IsothermalGasArguments, rows, 32)

// Volume elements estimated from mass and density.
struct EstimateVolumesArguments {
    // Masses.
    const double* mass;
    // Densities.
    const double* density;
    // Volume elements.
    double* element;
    // Rows.
    Rows rows;
};
HILBRIUM_SIZE(EstimateVolumesArguments, 32)
HILBRIUM_OFFSET(EstimateVolumesArguments, mass, 0)
HILBRIUM_OFFSET(EstimateVolumesArguments, density, 8)
HILBRIUM_OFFSET(EstimateVolumesArguments, element, 16)
HILBRIUM_OFFSET(EstimateVolumesArguments, rows, 24)

// Gradient matrices of the plain kernel gradient.
struct IsotropicMatricesArguments {
    // Smoothing lengths.
    const double* length;
    // Components xx, xy, xz, yy, yz, zz.
    double* matrix[6];
    // Rows.
    Rows rows;
};
HILBRIUM_SIZE(IsotropicMatricesArguments, 64)
HILBRIUM_OFFSET(IsotropicMatricesArguments, length, 0)
HILBRIUM_OFFSET(IsotropicMatricesArguments, matrix, 8)
HILBRIUM_OFFSET(IsotropicMatricesArguments, rows, 56)

// A column times a factor.
struct ScaledColumnArguments {
    // The column.
    const double* column;
    // The factor.
    double factor;
    // The product.
    double* scaled;
    // Rows.
    Rows rows;
};
HILBRIUM_SIZE(ScaledColumnArguments, 32)
HILBRIUM_OFFSET(ScaledColumnArguments, column, 0)
HILBRIUM_OFFSET(ScaledColumnArguments, factor, 8)
HILBRIUM_OFFSET(ScaledColumnArguments, scaled, 16)
HILBRIUM_OFFSET(ScaledColumnArguments, rows, 24)

// A column filled with one value.
struct FillColumnArguments {
    // The column.
    double* column;
    // The value.
    double value;
    // Rows.
    Rows rows;
};
HILBRIUM_SIZE(FillColumnArguments, 24)
HILBRIUM_OFFSET(FillColumnArguments, column, 0)
HILBRIUM_OFFSET(FillColumnArguments, value, 8)
HILBRIUM_OFFSET(FillColumnArguments, rows, 16)

// The smallest and the largest value of a column.
struct ColumnExtremesArguments {
    // The column.
    const double* column;
    // Rows.
    Rows rows;
    // The smallest and the largest value.
    unsigned long long* extremes;
};
HILBRIUM_SIZE(ColumnExtremesArguments, 24)
HILBRIUM_OFFSET(ColumnExtremesArguments, column, 0)
HILBRIUM_OFFSET(ColumnExtremesArguments, rows, 8)
HILBRIUM_OFFSET(ColumnExtremesArguments, extremes, 16)

}  // namespace hilbrium

extern "C" __global__ void ideal_gas(
    const __grid_constant__ hilbrium::IdealGasArguments args);
extern "C" __global__ void isothermal_gas(
    const __grid_constant__ hilbrium::IsothermalGasArguments args);
extern "C" __global__ void estimate_volumes(
    const __grid_constant__ hilbrium::EstimateVolumesArguments args);
extern "C" __global__ void isotropic_matrices(
    const __grid_constant__ hilbrium::IsotropicMatricesArguments args);
extern "C" __global__ void scaled_column(
    const __grid_constant__ hilbrium::ScaledColumnArguments args);
extern "C" __global__ void fill_column(
    const __grid_constant__ hilbrium::FillColumnArguments args);
extern "C" __global__ void column_extremes(
    const __grid_constant__ hilbrium::ColumnExtremesArguments args);
