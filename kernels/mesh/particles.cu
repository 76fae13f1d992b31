// Spreading with a thread per particle: the particle-based method of Guo et al. 2015 (Procedia Computer
// Science 51, doi 10.1016/j.procs.2015.05.210).
#include "../mesh/scatter.cuh"
#include "../arguments/mesh_particles.cuh"

namespace hilbrium {
namespace mesh {

constexpr unsigned PARTICLE_THREADS = 128;

} // namespace mesh

// Adds the particles to the mesh, which is initially zero, by p^3 atomic additions each; weights are computed
// once. The sums' order differs between runs.
// Launch: blocks of 128 threads, one thread per particle. Floor: 32 bytes read per particle, and p^3 atomic
// additions: lanes of a warp address different sectors, of which the second-level cache of an H100 updates
// about 1.6e11 per second. Prediction for p = 6: 1.35 ns per particle; more where few mesh points have many
// particles, since additions to one sector follow each other.
// Outcome on an H200: 2.0 ns at 0.06 to 0.6 particles per point, 2.8 ns at 5, 11 ns at 300.
extern "C" __global__ void __launch_bounds__(mesh::PARTICLE_THREADS)
    spread_particles(const __grid_constant__ SpreadParticlesArguments args) {
    using namespace mesh;
    const auto [begin, end] = args.rows;
    const unsigned long long place = thread_of_grid();
    if (place >= end - begin) { return; }
    const unsigned row = begin + static_cast<unsigned>(place);
    const Real value = static_cast<Real>(args.values[row]);
    if (value == Real(0)) { return; }
    const MeshParameters& geometry = args.geometry;
    const Record record = record_of(geometry, args.position, row);
    scatter(geometry, record, value, args.sums);
}
HILBRIUM_EXPORT(spread_particles)

} // namespace hilbrium
