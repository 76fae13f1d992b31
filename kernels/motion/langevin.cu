// Langevin thermostat, BAOAB splitting: mirrors src/motion/thermostat/langevin.rs. Positions and velocities
// are bitwise equal to those of a CPU with fused multiply-add; the heat is summed in another order.
//
//     v_1 = v + a dt/2         x_1 = x + v_1 dt/2
//     v_2 = c v_1 + sqrt((1 - c^2) k_B T / m) R      x' = x_1 + v_2 dt/2
//
// Rows [begin, end) are the owned ones, without ghosts. Launch: blocks of 256 threads, one thread per row.
// About 150 double operations per row for two logarithms, roots and rotations: 0.3 ms per 100 million rows,
// compared with 4.5 ms of memory traffic.
#include "../device.cuh"

#include "../motion/random.cuh"
#include "../motion/verlet.cuh"

namespace hilbrium {

// Random velocity change of a particle; `noise` is its variance times the mass.
__device__ __forceinline__ void noise_of(double noise, double mass, unsigned long long seed, unsigned long long number,
                                         unsigned long long id, Rounded (&kicks)[3]) {
    double deviates[3];
    normals(NOISE, seed, number, id, deviates);
    const Rounded deviation = root(Rounded(noise) / Rounded(mass));
#pragma unroll
    for (int d = 0; d < 3; ++d) { kicks[d] = Rounded(deviates[d]) * deviation; }
}

// Half kick, half drift, friction and noise, half drift. `decay` is c, `noise` (1 - c^2) k_B T, `number` the
// step number. Refused rows are recorded as in verlet_kick_and_drift; `largest_square` is the largest squared
// displacement. Each block writes its heat to `heat`. Floor: 88 bytes read, 48 written per row.
extern "C" __global__ void __launch_bounds__(THREADS)
    langevin_kick_and_drift(double* __restrict__ position_x, double* __restrict__ position_y,
                            double* __restrict__ position_z, double* __restrict__ velocity_x,
                            double* __restrict__ velocity_y, double* __restrict__ velocity_z,
                            const double* __restrict__ acceleration_x, const double* __restrict__ acceleration_y,
                            const double* __restrict__ acceleration_z, const double* __restrict__ mass,
                            const unsigned long long* __restrict__ id, double step, double farthest, double decay,
                            double noise, unsigned long long seed, unsigned long long number, unsigned begin,
                            unsigned end, unsigned* __restrict__ left, unsigned* __restrict__ refused,
                            unsigned long long* __restrict__ largest_square, double* __restrict__ heat) {
    const unsigned long long place = thread_of_grid();
    const unsigned long long row = begin + place;
    double* const position[3] = {position_x, position_y, position_z};
    double* const velocity[3] = {velocity_x, velocity_y, velocity_z};
    const double* const acceleration[3] = {acceleration_x, acceleration_y, acceleration_z};
    Rounded square = 0.0, gained = 0.0;
    bool far = false;
    if (place < end - begin) {
        Rounded v[3], a[3];
#pragma unroll
        for (int d = 0; d < 3; ++d) {
            v[d] = velocity[d][row];
            a[d] = acceleration[d][row];
        }
        far = leaves(v, a, step, farthest);
        if (!far) {
            const Rounded m = mass[row];
            Rounded kicks[3];
            noise_of(noise, m.value, seed, number, id[row], kicks);
#pragma unroll
            for (int d = 0; d < 3; ++d) {
                const Rounded before = v[d] + Rounded(0.5) * step * a[d];
                const Rounded after = Rounded(decay) * before + kicks[d];
                const Rounded way = Rounded(0.5) * step * (before + after);
                position[d][row] = (Rounded(position[d][row]) + way).value;
                velocity[d][row] = after.value;
                square = square + way * way;
                gained = gained + Rounded(0.5) * m * (after - before) * (after + before);
            }
        }
    }
    record_refused(far, place, end - begin, left, refused);
    reduce_max(square.value, largest_square);
    store_partial_sums({gained.value}, heat);
}
HILBRIUM_EXPORT(langevin_kick_and_drift)

// Undoes drift, friction and noise, up to rounding errors amplified by the friction. Floor: 64 bytes read, 48
// written per row.
extern "C" __global__ void __launch_bounds__(THREADS)
    langevin_drift_back(double* __restrict__ position_x, double* __restrict__ position_y,
                        double* __restrict__ position_z, double* __restrict__ velocity_x,
                        double* __restrict__ velocity_y, double* __restrict__ velocity_z,
                        const double* __restrict__ mass, const unsigned long long* __restrict__ id, double step,
                        double decay, double noise, unsigned long long seed, unsigned long long number, unsigned begin,
                        unsigned end, const unsigned* __restrict__ left) {
    const unsigned long long place = thread_of_grid(), row = begin + place;
    if (place >= end - begin || was_refused(left, place)) { return; }
    double* const position[3] = {position_x, position_y, position_z};
    double* const velocity[3] = {velocity_x, velocity_y, velocity_z};
    Rounded kicks[3];
    noise_of(noise, mass[row], seed, number, id[row], kicks);
#pragma unroll
    for (int d = 0; d < 3; ++d) {
        const Rounded v = velocity[d][row];
        const Rounded before = (v - kicks[d]) / Rounded(decay);
        position[d][row] = (Rounded(position[d][row]) - Rounded(0.5) * step * (before + v)).value;
        velocity[d][row] = before.value;
    }
}
HILBRIUM_EXPORT(langevin_drift_back)

}  // namespace hilbrium
