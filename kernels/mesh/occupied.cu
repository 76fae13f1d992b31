// Cells along x that hold particles: they bound the mesh planes that ranks exchange.
#include "../mesh/mesh.cuh"
#include "../motion/block.cuh"
#include "../arguments/mesh_occupied.cuh"

namespace hilbrium {

// Sets bit c of `cells` (32 bits per word) for each cell c along x that holds a particle.
// Launch: blocks of 256 threads, 2048 rows each. Floor: 8 bytes read per row. A thread sets the bits of a
// word at once: the particles of a block are near each other.
extern "C" __global__ void __launch_bounds__(THREADS)
    mark_occupied_cells(const __grid_constant__ MarkOccupiedCellsArguments args) {
    constexpr unsigned WORDS = (1u << mesh::CELL_BITS) / 32u;
    __shared__ unsigned occupied[WORDS];
    if (threadIdx.x < WORDS) { occupied[threadIdx.x] = 0u; }
    __syncthreads();
    const auto [begin, end] = args.rows;
    const unsigned long long first = begin + static_cast<unsigned long long>(blockIdx.x) * ROWS_PER_BLOCK;
    unsigned word = 0, bits = 0;
    for (unsigned k = threadIdx.x; k < ROWS_PER_BLOCK; k += THREADS) {
        const unsigned long long row = first + k;
        if (row >= end) { break; }
        Real fraction;
        const unsigned cell = mesh::locate(args.geometry, 0u, args.position[row], fraction);
        if (cell / 32u != word) {
            if (bits != 0u) { atomicOr(&occupied[word], bits); }
            word = cell / 32u;
            bits = 0u;
        }
        bits |= 1u << (cell & 31u);
    }
    if (bits != 0u) { atomicOr(&occupied[word], bits); }
    __syncthreads();
    if (threadIdx.x < WORDS) {
        const unsigned found = occupied[threadIdx.x];
        if (found != 0u) { atomicOr(&args.cells[threadIdx.x], found); }
    }
}
HILBRIUM_EXPORT(mark_occupied_cells)

}  // namespace hilbrium
