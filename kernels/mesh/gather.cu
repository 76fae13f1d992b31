// Spreading by gathering (Harvey and De Fabritiis 2009, J. Chem. Theory Comput. 5, 2371, doi
// 10.1021/ct900275y; Guo et al. 2015): a mesh point holds at most one particle, and each point sums what the
// p^3 points around it hold. Other particles are on an overflow list and added atomically.
//
// A particle is placed on the point of its cell, not on the nearest one: it reaches p points of a dimension
// below, whatever its fraction, so that p^3 points are inspected and not (p + 1)^3.
#include "../mesh/scatter.cuh"
#include "../arguments/mesh_gather.cuh"

namespace hilbrium {
namespace mesh {

constexpr unsigned GATHER_THREADS = 256;
constexpr unsigned NONE = ~0u;

} // namespace mesh

// Places particles on points. holders is initially NONE, overflowing 0. Which of several particles in a cell
// is placed differs between runs.
// Launch: blocks of 256 threads, one thread per record. Floor: 16 bytes read per particle (32 in double
// precision), and an atomic exchange; a second one and 4 bytes written on overflow.
extern "C" __global__ void __launch_bounds__(mesh::GATHER_THREADS)
    place_on_points(const __grid_constant__ PlaceOnPointsArguments args) {
    using namespace mesh;
    const unsigned long long thread = thread_of_grid();
    if (thread >= args.count) { return; }
    const unsigned place = static_cast<unsigned>(thread);
    const Record record = args.records[place];
    const unsigned point = index_of(args.geometry, record.along(0), record.along(1), record.along(2));
    if (atomicCAS(args.holders + point, NONE, place) != NONE) {
        args.overflow[atomicAdd(args.overflowing, 1u)] = place;
    }
}
HILBRIUM_EXPORT(place_on_points)

// Sums what each point gathers.
// Launch: blocks of 256 threads, one thread per point. Floor: p^3 loads of 4 bytes per point, from the
// caches; for each particle found, 3 (p - 1) fused multiply-adds, 16 bytes of its record and 8 of its value.
// 4 bytes written per point. Prediction for p = 6: 27 loads of a warp per 4 points, 216 x 3 instructions per
// point and 60 per particle found, which the other lanes wait for: 0.1 ns per point without particles.
extern "C" __global__ void __launch_bounds__(mesh::GATHER_THREADS)
    gather_points(const __grid_constant__ GatherPointsArguments args) {
    using namespace mesh;
    __shared__ Coefficients coefficients;
    coefficients.load();
    __syncthreads();
    const MeshParameters& geometry = args.geometry;
    const unsigned* const points = geometry.points;
    const unsigned long long thread = thread_of_grid();
    const unsigned long long count = static_cast<unsigned long long>(points[0]) * points[1] * points[2];
    if (thread >= count) { return; }
    const unsigned own = static_cast<unsigned>(thread);
    const unsigned z = own % points[2], y = own / points[2] % points[1], x = own / (points[2] * points[1]);
    Real sum = 0;
    for (int i = 0; i < ORDER; ++i) {
        const unsigned cell_x = x + i < points[0] ? x + i : x + i - points[0];
        for (int j = 0; j < ORDER; ++j) {
            const unsigned cell_y = y + j < points[1] ? y + j : y + j - points[1];
            const unsigned line = index_of(geometry, cell_x, cell_y, 0u);
#pragma unroll
            for (int k = 0; k < ORDER; ++k) {
                const unsigned cell_z = z + k < points[2] ? z + k : z + k - points[2];
                const unsigned holder = args.holders[line + cell_z];
                if (holder == NONE) { continue; }
                const Record record = args.records[holder];
                const Real of_xy = coefficients.weight(ORDER - 1 - i, record.fraction[0]) *
                                   coefficients.weight(ORDER - 1 - j, record.fraction[1]);
                const Real value = static_cast<Real>(args.values[holder]);
                sum = mul_add(of_xy * coefficients.weight(ORDER - 1 - k, record.fraction[2]), value, sum);
            }
        }
    }
    args.sums[own] = sum;
}
HILBRIUM_EXPORT(gather_points)

// Adds the particles of the overflow list atomically.
// Launch: blocks of 128 threads, as many as fill the device. Floor: as spread_particles, per overflowing
// particle.
extern "C" __global__ void __launch_bounds__(128)
    spread_overflow(const __grid_constant__ SpreadOverflowArguments args) {
    using namespace mesh;
    const unsigned count = *args.overflowing;
    for (unsigned long long k = thread_of_grid(); k < count; k += threads_of_grid()) {
        const unsigned place = args.overflow[k];
        scatter(args.geometry, args.records[place], static_cast<Real>(args.values[place]), args.sums);
    }
}
HILBRIUM_EXPORT(spread_overflow)

} // namespace hilbrium
