// The far field of groups of eight super-clusters, and the nodes at which the walks of their super-clusters
// start (kernels/far/walk.cu): most far nodes of a super-cluster are far from its whole group.
//
// A warp walks both hierarchies for the box of its group, a node of level 2. Far nodes go into one local
// expansion for the group. Nodes that the group accepts, and opened nodes of levels 0 and 1, are candidates,
// which each super-cluster classifies itself. Larger nodes are opened.
//
// Units are compiled for HILBRIUM_REAL, HILBRIUM_ORDER, HILBRIUM_SOFTENING and HILBRIUM_CRITERION, for open
// boxes: in periodic boxes there are no far nodes.
#include "../far/far_nodes.cuh"
#include "../arguments/far_groups.cuh"
#include "../far/point.cuh"
#include "../far/stack.cuh"

namespace hilbrium {

// Shared memory of a warp: 2.5 kB.
struct GroupScratch {
    unsigned stack[STACK];
    unsigned far_nodes[FAR_CHUNK + WARP];
};

// Per group: 36 terms of its expansion in units of its radius; its candidates as level and number, first of
// the own hierarchy, then of the received one; three counts: the end of the own candidates, the end of all,
// and the far nodes. The first count is OVERFLOW if there are more candidates than `capacity`: its
// super-clusters then start at the root, and the rest is undefined.
// Launch: one block of one warp per group from `first` on. Floor: 25 instructions per lane for every 32 nodes
// that are tested, 150 for every 32 far nodes.
extern "C" __global__ void __launch_bounds__(WARP)
    gravity_groups(const __grid_constant__ GroupsArguments args) {
    __shared__ GroupScratch scratch;
    __shared__ Levels levels;
    const unsigned lane = lane_index(), group = blockIdx.x, rows = args.rows;
    const GroupFields& groups = args.groups;
    unsigned* const counts = groups.counts + 3u * group;
    TargetBox box = groups.boxes[args.first + group];
    if (box.squared_radius == NOBODY_THERE) {
        if (lane < 3u) { counts[lane] = 0u; }
        return;
    }
    box.squared_radius = squared_radius_of_box(box);
    const Real radius = sqrt(Real(box.squared_radius));
    const Real squared_softening = softening_of_nodes({Real(args.squared_softening), Real(0)});
    Opening opening = opening_of(args.opening);
    opening.far *= args.share;
    const Tree tree = {args.nodes, args.multipoles};
    unsigned* const candidates = groups.candidates + static_cast<unsigned long long>(groups.capacity) * group;
    double low = 0.0, high = 0.0;
    unsigned listed = 0u, of_own = 0u, far_count = 0u, far_met = 0u;
#pragma unroll 1
    for (unsigned others = 0u; others < (args.received == 0u ? 1u : 2u); ++others) {
        const unsigned top = others == 0u
                                 ? init_levels(levels, rows, 0u)
                                 : init_levels(levels, args.received * CLUSTER, hierarchy_nodes(rows));
        if (lane == 0u) { scratch.stack[0] = top << LEVEL_SHIFT; }
        unsigned depth = 1u;
        while (depth > 0u) {
            __syncwarp();
            unsigned level = 0u, number = 0u, element = 0u;
            Verdict decided = SKIPPED;
            if (next_child(scratch.stack, levels, depth, level, number, element)) {
                const Node node = tree.nodes[element];
                decided = verdict(box, opening, float(node.x - box.x), float(node.y - box.y), float(node.z - box.z),
                                  node.radius, node.mass, level);
            }
            __syncwarp();
            append(scratch.stack, depth, decided == OPENED && level > 1u, level << LEVEL_SHIFT | number);
            append(scratch.far_nodes, far_count, decided == FAR, element);
            const bool candidate = decided == NEAR || (decided == OPENED && level <= 1u);
            if (listed + __popc(__ballot_sync(FULL, candidate)) > groups.capacity) {
                if (lane == 0u) { counts[0] = OVERFLOW; }
                return;
            }
            append(candidates, listed, candidate, level << LEVEL_SHIFT | number);
            const bool last = depth == 0u;
            while (far_count >= FAR_CHUNK || (last && far_count > 0u)) {
                const unsigned count = smaller(far_count, FAR_CHUNK);
                far_count -= count;
                far_met += count;
                gather_far(scratch.far_nodes + far_count, count, tree, box, radius, squared_softening, low, high);
            }
        }
        if (others == 0u) { of_own = listed; }
    }
    store_terms(groups.terms + LOCAL_TERMS * group, low, high);
    if (lane < 3u) { counts[lane] = lane == 0u ? of_own : lane == 1u ? listed : far_met; }
}
HILBRIUM_EXPORT(gravity_groups)

} // namespace hilbrium
