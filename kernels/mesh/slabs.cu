// Fourier transforms of a mesh that is distributed over ranks: planes from others are added, and waves are
// sorted by the ranks that transform their lines along x.
#include "../device.cuh"
#include "../arguments/mesh_slabs.cuh"

namespace hilbrium {
namespace mesh {

// Real and imaginary part, moved at once.
struct alignas(2 * sizeof(Real)) Wave {
    Real part[2];
};

// A wave of the own planes, and where it is on its way to or from the lines.
struct Places {
    Wave* plane;
    Wave* other;
};

// The places of a thread's wave; `plane` is null beyond the last one.
__device__ __forceinline__ Places places_of(const WaveBlocks& args) {
    const unsigned long long index = thread_of_grid();
    const unsigned long long of_plane = static_cast<unsigned long long>(args.rows) * args.waves;
    const unsigned planes = args.x.end - args.x.begin;
    if (index >= planes * of_plane) { return {nullptr, nullptr}; }
    // a mesh has fewer than 2^30 points
    const unsigned wave = static_cast<unsigned>(index), rest = wave / args.waves;
    const unsigned z = wave % args.waves, y = rest % args.rows, x = rest / args.rows;
    const unsigned first = args.owners[2 * y], count = args.owners[2 * y + 1];
    Wave* const plane = reinterpret_cast<Wave*>(args.planes) + wave;
    if (y >= args.y.begin && y < args.y.end) {
        const unsigned line = ((args.x.begin + x) * count + (y - first)) * args.waves + z;
        return {plane, reinterpret_cast<Wave*>(args.lines) + line};
    }
    // blocks of earlier ranks have all ky below the first one
    const unsigned place = (planes * first + x * count + (y - first)) * args.waves + z;
    return {plane, reinterpret_cast<Wave*>(args.blocks) + place};
}

} // namespace mesh

// Adds received planes to the own ones, in the order of ranks.
// Launch: a thread per value of the own planes. Floor: bytes, a number per received value, and one read and
// written per own value of a plane with sources.
extern "C" __global__ void add_planes(const __grid_constant__ AddPlanesArguments args) {
    const unsigned long long index = thread_of_grid();
    if (index >= static_cast<unsigned long long>(args.count) * args.values) { return; }
    const unsigned value = static_cast<unsigned>(index), plane = value / args.values;
    const unsigned begin = args.starts[plane], end = args.starts[plane + 1];
    if (begin == end) { return; }
    const unsigned offset = value % args.values;
    Real sum = args.planes[value];
    for (unsigned source = begin; source < end; ++source) {
        sum += args.received[static_cast<unsigned long long>(args.sources[source]) * args.values + offset];
    }
    args.planes[value] = sum;
}
HILBRIUM_EXPORT(add_planes)

// Moves the waves of the own planes to the own lines and to the blocks for other ranks.
// Launch: a thread per wave of the own planes. Floor: bytes, 2 waves.
extern "C" __global__ void pack_waves(const __grid_constant__ PackWavesArguments args) {
    const mesh::Places places = mesh::places_of(args.waves);
    if (places.plane != nullptr) { *places.other = *places.plane; }
}
HILBRIUM_EXPORT(pack_waves)

// Moves the waves of the own lines and the blocks from other ranks to the own planes. Launch and floor as
// pack_waves.
extern "C" __global__ void unpack_waves(const __grid_constant__ UnpackWavesArguments args) {
    const mesh::Places places = mesh::places_of(args.waves);
    if (places.plane != nullptr) { *places.plane = *places.other; }
}
HILBRIUM_EXPORT(unpack_waves)

}  // namespace hilbrium
