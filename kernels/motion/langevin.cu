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
#include "../arguments/motion_langevin.cuh"
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

// Half kick, half drift, friction and noise, half drift. `bath.decay` is c, `bath.noise` (1 - c^2) k_B T,
// `bath.number` the step number. `report` is that of verlet_kick_and_drift, except that `largest_square` is
// the largest squared displacement. Each block writes its heat to `heat`. Floor: 88 bytes read, 48 written
// per row.
extern "C" __global__ void __launch_bounds__(THREADS)
    langevin_kick_and_drift(const __grid_constant__ LangevinKickAndDriftArguments args) {
    double* __restrict__ const position[3] = {args.moving.position[0], args.moving.position[1],
                                              args.moving.position[2]};
    double* __restrict__ const velocity[3] = {args.moving.velocity[0], args.moving.velocity[1],
                                              args.moving.velocity[2]};
    const double* __restrict__ const acceleration[3] = {
        args.moving.acceleration[0], args.moving.acceleration[1], args.moving.acceleration[2]};
    const double* __restrict__ const mass = args.mass;
    const unsigned long long* __restrict__ const id = args.id;
    const double step = args.step;
    const auto [begin, end] = args.rows;
    if (!begins(args.report)) { return; }
    unsigned* __restrict__ const left = args.report.left;
    unsigned* __restrict__ const refused = args.report.refused;
    unsigned long long* __restrict__ const largest_square = args.report.largest_square;
    double* __restrict__ const heat = args.heat;
    const unsigned long long place = thread_of_grid();
    const unsigned long long row = begin + place;
    Rounded square = 0.0, gained = 0.0;
    bool far = false;
    if (place < end - begin) {
        Rounded v[3], a[3];
#pragma unroll
        for (int d = 0; d < 3; ++d) {
            v[d] = velocity[d][row];
            a[d] = acceleration[d][row];
        }
        far = leaves(v, a, step, args.farthest);
        if (!far) {
            const Rounded m = mass[row];
            Rounded kicks[3];
            noise_of(args.bath.noise, m.value, args.bath.seed, args.bath.number, id[row], kicks);
#pragma unroll
            for (int d = 0; d < 3; ++d) {
                const Rounded before = v[d] + Rounded(0.5) * step * a[d];
                const Rounded after = Rounded(args.bath.decay) * before + kicks[d];
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
    langevin_drift_back(const __grid_constant__ LangevinDriftBackArguments args) {
    double* __restrict__ const position[3] = {args.position[0], args.position[1], args.position[2]};
    double* __restrict__ const velocity[3] = {args.velocity[0], args.velocity[1], args.velocity[2]};
    const double* __restrict__ const mass = args.mass;
    const unsigned long long* __restrict__ const id = args.id;
    const auto [begin, end] = args.rows;
    const unsigned* __restrict__ const left = args.left;
    const unsigned long long place = thread_of_grid(), row = begin + place;
    if (place >= end - begin || was_refused(left, place)) { return; }
    Rounded kicks[3];
    noise_of(args.bath.noise, mass[row], args.bath.seed, args.bath.number, id[row], kicks);
#pragma unroll
    for (int d = 0; d < 3; ++d) {
        const Rounded v = velocity[d][row];
        const Rounded before = (v - kicks[d]) / Rounded(args.bath.decay);
        position[d][row] = (Rounded(position[d][row]) - Rounded(0.5) * args.step * (before + v)).value;
        velocity[d][row] = before.value;
    }
}
HILBRIUM_EXPORT(langevin_drift_back)

}  // namespace hilbrium
