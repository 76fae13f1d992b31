// Computes the Hilbert keys of positions.
#include "../device.cuh"
#include "../space/hilbert.cuh"

namespace hilbrium {

// Keys of all rows: the key of (position - lower) * scale, scale = 2^21 / edge per dimension, as `keys` of
// src/space/hilbert.rs. Columns start at multiples of 16 bytes.
// Launch: blocks of 512 threads, at most two per multiprocessor; each thread takes two rows at a time.
// Floor: 32 bytes per row (0.34 ms for 32M at 3 TB/s), about 110 instructions per row.
extern "C" __global__ void __launch_bounds__(512)
    hilbert_keys(const double* __restrict__ x, const double* __restrict__ y, const double* __restrict__ z,
                 double lower_x, double lower_y, double lower_z, double scale_x, double scale_y, double scale_z,
                 unsigned long long* __restrict__ keys, unsigned rows) {
    __shared__ unsigned short table[HILBERT_ENTRIES];
    hilbert_fill(table);
    __syncthreads();
    const auto key = [&](double at_x, double at_y, double at_z) {
        return hilbert_key(table, hilbert_cell(at_x, lower_x, scale_x), hilbert_cell(at_y, lower_y, scale_y),
                           hilbert_cell(at_z, lower_z, scale_z));
    };
    const unsigned pairs = rows / 2;
    for (unsigned long long pair = thread_of_grid(); pair < pairs; pair += threads_of_grid()) {
        const double2 two_x = reinterpret_cast<const double2*>(x)[pair];
        const double2 two_y = reinterpret_cast<const double2*>(y)[pair];
        const double2 two_z = reinterpret_cast<const double2*>(z)[pair];
        ulonglong2 two;
        two.x = key(two_x.x, two_y.x, two_z.x);
        two.y = key(two_x.y, two_y.y, two_z.y);
        reinterpret_cast<ulonglong2*>(keys)[pair] = two;
    }
    if (rows % 2 != 0 && thread_of_grid() == 0) {
        keys[rows - 1] = key(x[rows - 1], y[rows - 1], z[rows - 1]);
    }
}
HILBRIUM_EXPORT(hilbert_keys)

} // namespace hilbrium
