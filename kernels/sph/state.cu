// Particle state of the gas between passes: equation of state, volume estimates, supports. Mirrors
// src/sph/gas.rs and src/sph/hydrodynamics.rs bit for bit. All kernels: rows [begin, end), blocks of 256
// threads, one thread per row unless noted; memory-bound.
#include "../device.cuh"
#include "../arguments/sph_state.cuh"
#include "../motion/block.cuh"
#include "../motion/rounded.cuh"

namespace hilbrium {

// Pressure (gamma - 1) rho u and sound speed sqrt(gamma (gamma - 1) u) of an ideal gas. Floor: 16 bytes read,
// 16 written per row.
extern "C" __global__ void __launch_bounds__(THREADS)
    ideal_gas(const __grid_constant__ IdealGasArguments args) {
    const double* __restrict__ const density = args.density;
    const double* __restrict__ const energy = args.energy;
    double* __restrict__ const pressure = args.pressure;
    double* __restrict__ const sound_speed = args.sound_speed;
    const auto [begin, end] = args.rows;
    const unsigned long long place = thread_of_grid(), row = begin + place;
    if (place >= end - begin) { return; }
    const Rounded rho = density[row], u = energy[row], less = Rounded(args.gamma) - 1.0;
    pressure[row] = (less * rho * u).value;
    sound_speed[row] = root(Rounded(args.gamma) * less * u).value;
}
HILBRIUM_EXPORT(ideal_gas)

// Pressure c^2 rho of an isothermal gas. Floor: 8 bytes read, 16 written per row.
extern "C" __global__ void __launch_bounds__(THREADS)
    isothermal_gas(const __grid_constant__ IsothermalGasArguments args) {
    const double* __restrict__ const density = args.density;
    const double speed = args.speed;
    double* __restrict__ const pressure = args.pressure;
    double* __restrict__ const sound_speed = args.sound_speed;
    const auto [begin, end] = args.rows;
    const unsigned long long place = thread_of_grid(), row = begin + place;
    if (place >= end - begin) { return; }
    pressure[row] = (Rounded(speed) * speed * density[row]).value;
    sound_speed[row] = speed;
}
HILBRIUM_EXPORT(isothermal_gas)

// Estimator X = m / rho of the volume element. Floor: 16 bytes read, 8 written per row.
extern "C" __global__ void __launch_bounds__(THREADS)
    estimate_volumes(const __grid_constant__ EstimateVolumesArguments args) {
    const double* __restrict__ const mass = args.mass;
    const double* __restrict__ const density = args.density;
    double* __restrict__ const element = args.element;
    const auto [begin, end] = args.rows;
    const unsigned long long place = thread_of_grid(), row = begin + place;
    if (place < end - begin) { element[row] = mass[row] / density[row]; }
}
HILBRIUM_EXPORT(estimate_volumes)

// Matrix 1 / h^2 for standard kernel gradients. Floor: 8 bytes read, 48 written per row.
extern "C" __global__ void __launch_bounds__(THREADS)
    isotropic_matrices(const __grid_constant__ IsotropicMatricesArguments args) {
    const double* __restrict__ const length = args.length;
    double* __restrict__ const xx = args.matrix[0];
    double* __restrict__ const xy = args.matrix[1];
    double* __restrict__ const xz = args.matrix[2];
    double* __restrict__ const yy = args.matrix[3];
    double* __restrict__ const yz = args.matrix[4];
    double* __restrict__ const zz = args.matrix[5];
    const auto [begin, end] = args.rows;
    const unsigned long long place = thread_of_grid(), row = begin + place;
    if (place >= end - begin) { return; }
    const double h = length[row], diagonal = 1.0 / rounded_product(h, h);
    xx[row] = yy[row] = zz[row] = diagonal;
    xy[row] = xz[row] = yz[row] = 0.0;
}
HILBRIUM_EXPORT(isotropic_matrices)

// A column times a factor: radii from smoothing lengths. Floor: 8 bytes read, 8 written per row.
extern "C" __global__ void __launch_bounds__(THREADS)
    scaled_column(const __grid_constant__ ScaledColumnArguments args) {
    const double* __restrict__ const column = args.column;
    double* __restrict__ const scaled = args.scaled;
    const auto [begin, end] = args.rows;
    const unsigned long long place = thread_of_grid(), row = begin + place;
    if (place < end - begin) { scaled[row] = rounded_product(args.factor, column[row]); }
}
HILBRIUM_EXPORT(scaled_column)

// Sets all rows to one value. Floor: 8 bytes written per row.
extern "C" __global__ void __launch_bounds__(THREADS)
    fill_column(const __grid_constant__ FillColumnArguments args) {
    double* __restrict__ const column = args.column;
    const auto [begin, end] = args.rows;
    const unsigned long long place = thread_of_grid(), row = begin + place;
    if (place < end - begin) { column[row] = args.value; }
}
HILBRIUM_EXPORT(fill_column)

// Minimum (reduce_min) and maximum (reduce_max) of a column, ignoring NaN. Launch: blocks of 256
// threads, 2048 rows per block. Floor: 8 bytes read per row.
extern "C" __global__ void __launch_bounds__(THREADS)
    column_extremes(const __grid_constant__ ColumnExtremesArguments args) {
    const double* __restrict__ const column = args.column;
    const auto [begin, end] = args.rows;
    unsigned long long* __restrict__ const extremes = args.extremes;
    const unsigned long long first = begin + static_cast<unsigned long long>(blockIdx.x) * ROWS_PER_BLOCK;
    const double infinity = __longlong_as_double(0x7ff0000000000000ll);
    Rounded smallest = infinity, largest = -infinity;
#pragma unroll 8
    for (unsigned k = threadIdx.x; k < ROWS_PER_BLOCK; k += THREADS) {
        if (first + k >= end) { break; }
        const Rounded value = column[first + k];
        smallest = least(smallest, value);
        largest = greatest(largest, value);
    }
    reduce_min(smallest.value, &extremes[0]);
    reduce_max(largest.value, &extremes[1]);
}
HILBRIUM_EXPORT(column_extremes)

}  // namespace hilbrium
