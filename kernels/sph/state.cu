// Particle state of the gas between passes: equation of state, volume estimates, supports. Mirrors
// src/sph/gas.rs and src/sph/hydrodynamics.rs bit for bit. All kernels: rows [begin, end), blocks of 256
// threads, one thread per row unless noted; memory-bound.
#include "../device.cuh"

#include "../motion/block.cuh"
#include "../motion/rounded.cuh"

namespace hilbrium {

// Pressure (gamma - 1) rho u and sound speed sqrt(gamma (gamma - 1) u) of an ideal gas. Floor: 16 bytes read,
// 16 written per row.
extern "C" __global__ void __launch_bounds__(THREADS)
    ideal_gas(const double* __restrict__ density, const double* __restrict__ energy, double gamma,
              double* __restrict__ pressure, double* __restrict__ sound, unsigned begin, unsigned end) {
    const unsigned long long place = thread_of_grid(), row = begin + place;
    if (place >= end - begin) { return; }
    const Rounded rho = density[row], u = energy[row], less = Rounded(gamma) - 1.0;
    pressure[row] = (less * rho * u).value;
    sound[row] = root(Rounded(gamma) * less * u).value;
}
HILBRIUM_EXPORT(ideal_gas)

// Pressure c^2 rho of an isothermal gas. Floor: 8 bytes read, 16 written per row.
extern "C" __global__ void __launch_bounds__(THREADS)
    isothermal_gas(const double* __restrict__ density, double speed, double* __restrict__ pressure,
                   double* __restrict__ sound, unsigned begin, unsigned end) {
    const unsigned long long place = thread_of_grid(), row = begin + place;
    if (place >= end - begin) { return; }
    pressure[row] = (Rounded(speed) * speed * density[row]).value;
    sound[row] = speed;
}
HILBRIUM_EXPORT(isothermal_gas)

// Estimator X = m / rho of the volume element. Floor: 16 bytes read, 8 written per row.
extern "C" __global__ void __launch_bounds__(THREADS)
    estimate_volumes(const double* __restrict__ mass, const double* __restrict__ density,
                     double* __restrict__ element, unsigned begin, unsigned end) {
    const unsigned long long place = thread_of_grid(), row = begin + place;
    if (place < end - begin) { element[row] = mass[row] / density[row]; }
}
HILBRIUM_EXPORT(estimate_volumes)

// Matrix 1 / h^2 for standard kernel gradients. Floor: 8 bytes read, 48 written per row.
extern "C" __global__ void __launch_bounds__(THREADS)
    isotropic_matrices(const double* __restrict__ length, double* __restrict__ xx, double* __restrict__ xy,
                       double* __restrict__ xz, double* __restrict__ yy, double* __restrict__ yz,
                       double* __restrict__ zz, unsigned begin, unsigned end) {
    const unsigned long long place = thread_of_grid(), row = begin + place;
    if (place >= end - begin) { return; }
    const double h = length[row], diagonal = 1.0 / rounded_product(h, h);
    xx[row] = yy[row] = zz[row] = diagonal;
    xy[row] = xz[row] = yz[row] = 0.0;
}
HILBRIUM_EXPORT(isotropic_matrices)

// A column times a factor: radii from smoothing lengths. Floor: 8 bytes read, 8 written per row.
extern "C" __global__ void __launch_bounds__(THREADS)
    scaled_column(const double* __restrict__ column, double factor, double* __restrict__ scaled, unsigned begin,
                  unsigned end) {
    const unsigned long long place = thread_of_grid(), row = begin + place;
    if (place < end - begin) { scaled[row] = rounded_product(factor, column[row]); }
}
HILBRIUM_EXPORT(scaled_column)

// Sets all rows to one value. Floor: 8 bytes written per row.
extern "C" __global__ void __launch_bounds__(THREADS)
    fill_column(double* __restrict__ column, double value, unsigned begin, unsigned end) {
    const unsigned long long place = thread_of_grid(), row = begin + place;
    if (place < end - begin) { column[row] = value; }
}
HILBRIUM_EXPORT(fill_column)

// Minimum (reduce_min) and maximum (reduce_max) of a column, ignoring NaN. Launch: blocks of 256
// threads, 2048 rows per block. Floor: 8 bytes read per row.
extern "C" __global__ void __launch_bounds__(THREADS)
    column_extremes(const double* __restrict__ column, unsigned begin, unsigned end,
                    unsigned long long* __restrict__ extremes) {
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
