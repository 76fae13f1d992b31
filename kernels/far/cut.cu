// Locally essential tree: for each other rank, a cut through this rank's hierarchy below which none of that
// rank's boxes opens a node. An element of the cut is a node, or a cluster with its particles if some box
// opens even that. A box contains its targets and has their smallest acceleration, so that it opens every
// node that one of them opens: mirrors src/far/prune.rs.
//
// There is one mark (byte) per cluster and rank, for the node that begins with that cluster. While levels are
// processed from the top, it records that the node was opened; finally it holds the element's level + 1, or
// WITH_PARTICLES. The marks of one rank, its section, are padded with zeros to a multiple of 32.
//
// Units compile for HILBRIUM_REAL, HILBRIUM_ORDER and HILBRIUM_CRITERION.
#include "../far/opening.cuh"

#include "../tree/hierarchy.cuh"
#include "../arguments/far_cut.cuh"

namespace hilbrium {

constexpr unsigned char NOT_TAKEN = 0, WITH_PARTICLES = 255, WAS_OPENED = 254;

// Number of warps for the marks of a rank.
__device__ __forceinline__ unsigned section_warps(unsigned rows) {
    return (hierarchy_count(rows, 0u) + WARP - 1u) / WARP;
}

// Processes one level of the cuts for `sections` ranks, after the levels above; rank s has boxes first_box[s]
// .. first_box[s + 1]. Each warp handles 32 nodes, which are all children of four nodes, and overwrites the
// marks of these.
// Launch: blocks of 128 threads, one warp per 32 nodes of the level and section. Floor: one byte per node;
// for a node with an opened parent 40 instructions per 32 boxes, until one opens it.
extern "C" __global__ void gravity_cut(const __grid_constant__ CutArguments args) {
    const unsigned rows = args.rows;
    const unsigned level = args.level;
    const Node* const nodes = args.nodes;
    const unsigned* const first_box = args.first_box;
    const unsigned count = hierarchy_count(rows, level), warps = (count + WARP - 1u) / WARP;
    const unsigned long long warp = thread_of_grid() / WARP;
    const unsigned section = static_cast<unsigned>(warp / warps), lane = lane_index();
    if (section >= args.sections) { return; }
    const Opening opening = opening_of(args.opening);
    unsigned char* own = args.marks + static_cast<unsigned long long>(section) * section_warps(rows) * WARP;
    const unsigned first = static_cast<unsigned>(warp % warps) * WARP, place = first + lane;
    const unsigned offset = hierarchy_offset(rows, level);
    const bool reached = place < count && (level + 1u == hierarchy_levels(rows) ||
                                           own[(place / 8u) << (3u * (level + 1u))] == WAS_OPENED);
    unsigned char mark = NOT_TAKEN;
    unsigned untested = __ballot_sync(FULL, reached && nodes[offset + place].radius >= 0.0f);
    while (untested != 0u) {
        const unsigned tested = static_cast<unsigned>(__ffs(static_cast<int>(untested))) - 1u;
        untested &= untested - 1u;
        const Node node = nodes[offset + first + tested];
        bool opened = false;
        for (unsigned box = first_box[section]; box < first_box[section + 1u] && !opened; box += WARP) {
            bool opens = false;
            if (box + lane < first_box[section + 1u]) {
                const TargetBox target = args.boxes[box + lane];
                opens = verdict(target, opening, float(node.x - target.x), float(node.y - target.y),
                                float(node.z - target.z), node.radius, node.mass, level) == OPENED;
            }
            opened = __any_sync(FULL, opens);
        }
        if (lane == tested) {
            mark = !opened ? static_cast<unsigned char>(level + 1u) : level == 0u ? WITH_PARTICLES : WAS_OPENED;
        }
    }
    __syncwarp();
    if (reached) { own[place << (3u * level)] = mark; }
}
HILBRIUM_EXPORT(gravity_cut)

// Counts the elements of each warp of marks, and those with particles. Adds both to `totals`, initially zero,
// for each section. Launch: blocks of 128 threads, one thread per mark. Floor: 1.3 bytes per mark.
extern "C" __global__ void gravity_count_cut(const __grid_constant__ CountCutArguments args) {
    unsigned* const totals = args.totals;
    const unsigned long long thread = thread_of_grid(), warp = thread / WARP;
    const unsigned section = static_cast<unsigned>(warp / section_warps(args.rows));
    if (section >= args.sections) { return; }
    const unsigned char mark = args.marks[thread];
    const unsigned taken = __popc(__ballot_sync(FULL, mark != NOT_TAKEN));
    const unsigned opened = __popc(__ballot_sync(FULL, mark == WITH_PARTICLES));
    if (lane_index() == 0u) {
        args.elements[warp] = taken;
        args.clusters[warp] = opened;
        if (taken > 0u) {
            atomicAdd(totals + 2u * section, taken);
            atomicAdd(totals + 2u * section + 1u, opened);
        }
    }
}
HILBRIUM_EXPORT(gravity_count_cut)

// Packs the elements of all sections consecutively in curve order: nodes, multipoles and places. A place is
// the number of the element's cluster of particles plus `shift` of its section, or NO_PARTICLES. A cluster of
// particles is 8 times x, y, z and mass in the units of the columns, with zero mass for missing rows.
// Launch: blocks of 128 threads, one thread per mark. Floor: one byte per mark, 132 bytes per element in
// single precision, 512 per cluster.
extern "C" __global__ void gravity_pack_cut(const __grid_constant__ PackCutArguments args) {
    const double* const position[3] = {args.sources.position[0], args.sources.position[1],
                                       args.sources.position[2]};
    const unsigned rows = args.sources.rows;
    const unsigned long long thread = thread_of_grid(), warp = thread / WARP;
    const unsigned warps = section_warps(rows), section = static_cast<unsigned>(warp / warps), lane = lane_index();
    if (section >= args.sections) { return; }
    const unsigned cluster = static_cast<unsigned>(warp % warps) * WARP + lane;
    const unsigned char mark = args.marks[thread];
    const unsigned taken = __ballot_sync(FULL, mark != NOT_TAKEN);
    unsigned opened = __ballot_sync(FULL, mark == WITH_PARTICLES);
    if (taken == 0u) { return; }
    unsigned long long next = args.clusters_before[warp];
    if (mark != NOT_TAKEN) {
        const unsigned level = mark == WITH_PARTICLES ? 0u : mark - 1u;
        const unsigned element = hierarchy_offset(rows, level) + (cluster >> (3u * level));
        const unsigned long long to = args.elements_before[warp] + __popc(taken & lanes_below());
        args.packed_nodes[to] = args.nodes[element];
        args.packed_multipoles[to] = args.multipoles[element];
        const unsigned rank = __popc(opened & lanes_below());
        args.places[to] = mark == WITH_PARTICLES ? static_cast<unsigned>(next) + rank + args.shift[section]
                                                 : NO_PARTICLES;
    }
    const double* column = lane < CLUSTER        ? position[0]
                           : lane < 2u * CLUSTER ? position[1]
                           : lane < 3u * CLUSTER ? position[2]
                                                 : args.sources.mass;
    for (; opened != 0u; opened &= opened - 1u, ++next) {
        const unsigned source = static_cast<unsigned>(__ffs(static_cast<int>(opened))) - 1u;
        const unsigned row = (cluster - lane + source) * CLUSTER + lane % CLUSTER;
        args.particles[next * WARP + lane] = row < rows ? column[row] : 0.0;
    }
}
HILBRIUM_EXPORT(gravity_pack_cut)

} // namespace hilbrium
