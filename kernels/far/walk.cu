// Gravity by one tree walk per super-cluster: mirrors src/far/walk.rs.
//
// The targets of a warp are the 64 particles of a super-cluster, two per lane, relative to the center of
// their box (kernels/far/targets.cu). The warp walks the hierarchy over the own rows (kernels/far/stack.cuh),
// then the one over the elements received from other ranks (kernels/far/cut.cu). It collects interactions in
// three lists in shared memory and processes each when it is long enough to occupy all lanes:
// - opened clusters: their particles are staged in shared memory, and each lane loops over them with its two
//   targets in registers (kernels/far/point.cuh);
// - near nodes: the same with their multipoles (kernels/far/multipole.cuh);
// - far nodes: one lane per node, into one local expansion for the super-cluster (kernels/far/local.cuh).
//
// Super-clusters of large systems do not start at the root but at the candidates of their group, whose far
// nodes act on them by a common expansion (kernels/far/groups.cu).
//
// Several warps share the targets of a super-cluster if there are few: each takes every WARPS-th node of a
// level, and the clusters of its nodes of the lowest level; their sums are added at the end. Sums then differ
// by rounding from those of one warp.
//
// Units are compiled for HILBRIUM_WARPS, HILBRIUM_REAL (float: mixed precision, where the sums over each
// processed list are accumulated in double precision), HILBRIUM_ORDER, HILBRIUM_SOFTENING and
// HILBRIUM_CRITERION.
#include "../far/far_nodes.cuh"
#include "../arguments/far_walk.cuh"
#include "../far/opening.cuh"
#include "../far/point.cuh"
#include "../far/stack.cuh"

// The argument of the force split, in a periodic box.
#if HILBRIUM_PERIODIC
#define SPLIT(split) split,
#else
#define SPLIT(split)
#endif

namespace hilbrium {

// Minimum number of resident blocks (one warp each) per multiprocessor: chosen so that registers spill only
// outside of loops.
constexpr unsigned WALK_BLOCKS = sizeof(Real) == 4 ? (HILBRIUM_ORDER == 2 ? 20u : 16u) : 12u;

// Warps per super-cluster.
#ifndef HILBRIUM_WARPS
#define HILBRIUM_WARPS 1
#endif
constexpr unsigned WARPS_OF_TARGET = HILBRIUM_WARPS;

// Chunk sizes of the lists. A walk step adds at most 32 entries to an incomplete chunk.
constexpr unsigned NEAR_CHUNK = 32u;
constexpr unsigned CLUSTER_CHUNK = 16u;

// Shared memory of a warp: 5 kB in single, 7 kB in double precision.
struct Scratch {
    union {
        Real4 points[CLUSTER_CHUNK * CLUSTER];
        NodeSource sources[NEAR_CHUNK];
        Real terms[LOCAL_TERMS];
    };
    unsigned stack[STACK];
    unsigned far_nodes[FAR_CHUNK + WARP];
    unsigned near_nodes[NEAR_CHUNK + WARP];
    unsigned clusters[CLUSTER_CHUNK + WARP];
};

// Particle columns with the eight rows of a cluster adjacent and clusters `stride` apart, and the factors
// that convert lengths and masses to the walk's units.
struct Columns {
    const double *x, *y, *z, *mass;
    unsigned rows, stride;
    double length_unit, mass_unit;
};

// Double-precision accumulators of the chunks' sums.
struct Gathered {
    double x, y, z, potential;
};

__device__ __forceinline__ void collect(Target& target, Gathered& gathered) {
    gathered.x += double(target.pull_x);
    gathered.y += double(target.pull_y);
    gathered.z += double(target.pull_z);
    gathered.potential += double(target.potential);
    target.pull_x = target.pull_y = target.pull_z = target.potential = Real(0);
}

// Adds the field of `count` clusters, at most CLUSTER_CHUNK. Floor: 14.5 instructions per lane, target and
// particle.
__device__ __forceinline__ void gather_clusters(Scratch& scratch, const unsigned* clusters, unsigned count,
                                                const Columns& columns, const TargetBox& box, Softening softening,
                                                const SplitArguments& split, Target (&targets)[2],
                                                Gathered (&gathered)[2]) {
    const unsigned lane = lane_index();
    constexpr unsigned ROUNDS = CLUSTER_CHUNK * CLUSTER / WARP;
    __syncwarp();
    // Issue all loads before the first use.
    double x[ROUNDS], y[ROUNDS], z[ROUNDS], mass[ROUNDS];
#pragma unroll
    for (unsigned round = 0u; round < ROUNDS; ++round) {
        const unsigned index = round * (WARP / CLUSTER) + lane / CLUSTER;
        const unsigned cluster = index < count ? clusters[index] : 0u;
        const bool there = index < count && cluster * CLUSTER + lane % CLUSTER < columns.rows;
        const unsigned long long place = static_cast<unsigned long long>(cluster) * columns.stride + lane % CLUSTER;
        mass[round] = there ? columns.mass[place] : 0.0;
        x[round] = there ? columns.x[place] : 0.0;
        y[round] = there ? columns.y[place] : 0.0;
        z[round] = there ? columns.z[place] : 0.0;
    }
#pragma unroll
    for (unsigned round = 0u; round < ROUNDS; ++round) {
        // The position of a row without mass may be anything.
        const bool acts = mass[round] != 0.0;
        scratch.points[round * WARP + lane] = {acts ? Real(x[round] * columns.length_unit - box.x) : Real(0),
                                               acts ? Real(y[round] * columns.length_unit - box.y) : Real(0),
                                               acts ? Real(z[round] * columns.length_unit - box.z) : Real(0),
                                               Real(mass[round] * columns.mass_unit)};
    }
    __syncwarp();
#pragma unroll 4
    for (unsigned k = 0u; k < count * CLUSTER; ++k) {
        const Real4 source = scratch.points[k];
        gather_point(source, softening, SPLIT(split) targets[0]);
        gather_point(source, softening, SPLIT(split) targets[1]);
    }
    collect(targets[0], gathered[0]);
    collect(targets[1], gathered[1]);
}

// Adds the field of `count` near nodes, at most NEAR_CHUNK. Floor: 37 instructions per lane, target and node.
__device__ __forceinline__ void gather_near(Scratch& scratch, const unsigned* elements, unsigned count,
                                            const Tree& tree, const TargetBox& box, Real squared_softening,
                                            const SplitArguments& split, Target (&targets)[2],
                                            Gathered (&gathered)[2]) {
    const unsigned lane = lane_index();
    __syncwarp();
    if (lane < count) {
        const unsigned element = elements[lane];
        const Node node = tree.nodes[element];
        scratch.sources[lane] = node_source(tree.multipoles[element], Real(node.x - box.x), Real(node.y - box.y),
                                            Real(node.z - box.z));
    }
    __syncwarp();
#pragma unroll 2
    for (unsigned k = 0u; k < count; ++k) {
        const NodeSource source = scratch.sources[k];
        gather_node(source, squared_softening, SPLIT(split) targets[0]);
        gather_node(source, squared_softening, SPLIT(split) targets[1]);
    }
    collect(targets[0], gathered[0]);
    collect(targets[1], gathered[1]);
}

// Gravity on all rows: adds to the acceleration columns and sets the potential, except for ghosts. Their mass
// must be 0, their positions may be anything.
// The nodes of the hierarchy over the `received` elements follow those of the own one. For each element with
// particles, `places` has its cluster in `particles` (8 times x, y, z and mass). An element without particles
// was cut off where its owner determined that no target opens it: it acts as a near node even if rounding
// opens it here.
// In a periodic box, the field is that of the short-range parts of particles and images within the cut.
// `constant` is G. `own` is minus the potential of a unit mass at its own position for G = 1 (0 for points),
// which is subtracted. `background` is added to the potentials of a periodic box. `softening` is the square
// of the Plummer length or of the spline's support in the walk's unit, `inverse_support` belongs to the
// spline. `interactions`, unless null, receives the numbers of particles, near nodes and far nodes of each
// super-cluster. `order` is that of `gravity_targets`. `groups` are the fields and candidates of groups, if
// WARPS_OF_TARGET is 1, or null.
// Launch: one block of WARPS_OF_TARGET warps per super-cluster from `first` on. Floor: instructions, see the
// three functions above and `gather_far`; a super-cluster reads 32 bytes per particle and 64 per node of its
// lists, mostly from caches.
extern "C" __global__ void __launch_bounds__(WARP * WARPS_OF_TARGET, WALK_BLOCKS / WARPS_OF_TARGET)
    gravity_walk(const __grid_constant__ WalkArguments args) {
    const double* const position[3] = {args.sources.position[0], args.sources.position[1],
                                       args.sources.position[2]};
    double* const acceleration[3] = {args.acceleration[0], args.acceleration[1], args.acceleration[2]};
    const double* const mass = args.sources.mass;
    const unsigned long long* const id = args.sources.id;
    const unsigned rows = args.sources.rows;
    const double length_unit = args.sources.length_unit;
    const double mass_unit = args.sources.mass_unit;
    const Node* const nodes = args.nodes;
    const double* const particles = args.particles;
    unsigned* const interactions = args.interactions;
    __shared__ Scratch scratch_of_warp[WARPS_OF_TARGET];
    __shared__ Levels levels_of_warp[WARPS_OF_TARGET];
    const unsigned lane = lane_index(), warp = warp_of_block();
    const unsigned super = args.order[args.first + blockIdx.x];
    Scratch& scratch = scratch_of_warp[warp];
    Levels& levels = levels_of_warp[warp];
    TargetBox box = args.boxes[super];
    if (box.squared_radius == NOBODY_THERE) {
        if (interactions != nullptr && threadIdx.x < 3u) { interactions[3ull * super + lane] = 0u; }
        return;
    }
    const Tree tree = {nodes, args.multipoles};
    const unsigned long long first_row = static_cast<unsigned long long>(super) * SUPER_CLUSTER + lane;
    const bool there[2] = {first_row < rows && id[first_row] != GHOST,
                           first_row + WARP < rows && id[first_row + WARP] != GHOST};
    Target targets[2];
#pragma unroll
    for (unsigned half = 0u; half < 2u; ++half) {
        const unsigned long long row = first_row + half * WARP;
        const Real zero = Real(0);
        targets[half] = {zero, zero, zero, zero, zero, zero, zero};
        if (there[half]) {
            targets[half].x = Real(position[0][row] * length_unit - box.x);
            targets[half].y = Real(position[1][row] * length_unit - box.y);
            targets[half].z = Real(position[2][row] * length_unit - box.z);
        }
    }
    const Real radius = sqrt(Real(box.squared_radius));
    const Softening softening = {Real(args.squared_softening), Real(args.inverse_support)};
    const Real softening_of_node = softening_of_nodes(softening);

    const Opening opening = opening_of(args.opening);
    Gathered gathered[2] = {{0.0, 0.0, 0.0, 0.0}, {0.0, 0.0, 0.0, 0.0}};
    double low = 0.0, high = 0.0;
    unsigned far_count = 0u, near_count = 0u, cluster_count = 0u;
    unsigned far_met = 0u, near_met = 0u, clusters_met = 0u;
    const GroupFields& groups = args.groups;
    const unsigned group = super / CLUSTERS - args.first / CLUSTERS;
    const unsigned* const candidates =
        groups.candidates + static_cast<unsigned long long>(groups.capacity) * group;
    const bool grouped =
        WARPS_OF_TARGET == 1u && groups.counts != nullptr && groups.counts[3u * group] != OVERFLOW;
#if HILBRIUM_PERIODIC
    // Each image of the box that particles may be near to: the box minus whole periods. The lists are empty
    // between images.
    const SplitArguments& split = args.split;
    const double center[3] = {box.x, box.y, box.z}, half_edge[3] = {box.half_x, box.half_y, box.half_z};
    int first[3], end[3];
#pragma unroll
    for (unsigned d = 0u; d < 3u; ++d) {
        const double reach = half_edge[d] + split.cut;
        first[d] = static_cast<int>(ceil((center[d] - reach - split.upper[d]) / split.period[d]));
        end[d] = static_cast<int>(floor((center[d] + reach - split.lower[d]) / split.period[d])) + 1;
    }
    const int number_x = end[0] - first[0], number_y = end[1] - first[1], number_z = end[2] - first[2];
#pragma unroll 1
    for (int image = 0; image < number_x * number_y * number_z; ++image) {
    box.x = center[0] - (first[0] + image / (number_y * number_z)) * split.period[0];
    box.y = center[1] - (first[1] + image / number_z % number_y) * split.period[1];
    box.z = center[2] - (first[2] + image % number_z) * split.period[2];
#endif
#pragma unroll 1
    for (unsigned others = 0u; others < (args.received == 0u ? 1u : 2u); ++others) {
        const unsigned top = others == 0u
                                 ? init_levels(levels, rows, 0u)
                                 : init_levels(levels, args.received * CLUSTER, hierarchy_nodes(rows));
        unsigned depth = 1u, next = 0u, listed = 0u;
        if (grouped) {
            depth = 0u;
            next = others == 0u ? 0u : groups.counts[3u * group];
            listed = groups.counts[3u * group + others];
        } else if (lane == 0u) {
            scratch.stack[0] = top << LEVEL_SHIFT;
        }
        while (depth > 0u || next < listed) {
            __syncwarp();
            unsigned level = 0u, number = 0u, element = 0u;
            Verdict decided = SKIPPED;
            const bool from_list = depth == 0u;
            const bool has_node = from_list
                                      ? next_candidate(candidates, levels, next, listed, level, number, element)
                                      : next_child(scratch.stack, levels, depth, level, number, element);
            if (has_node) {
                const Node node = nodes[element];
                decided = verdict(box, opening, float(node.x - box.x), float(node.y - box.y), float(node.z - box.z),
                                  node.radius, node.mass, level);
                // The group accepts it, so that only rounding can open it.
                if (from_list && level > 1u && decided == OPENED) { decided = NEAR; }
            }
            __syncwarp();
            // Clusters belong to the warp that has their parent; above them all warps open the same nodes.
            if (WARPS_OF_TARGET > 1u && level > 0u && number % WARPS_OF_TARGET != warp &&
                (level == 1u || decided != OPENED)) {
                decided = SKIPPED;
            }
            append(scratch.stack, depth, decided == OPENED && level > 0u, level << LEVEL_SHIFT | number);
            if (others != 0u && decided == OPENED && level == 0u) {
                number = args.places[number];
                if (number == NO_PARTICLES) { decided = NEAR; }
            }
            append(scratch.clusters, cluster_count, decided == OPENED && level == 0u, number);
            append(scratch.near_nodes, near_count, decided == NEAR, element);
            append(scratch.far_nodes, far_count, decided == FAR, element);
            const bool last = depth == 0u && next >= listed;
            while (cluster_count >= CLUSTER_CHUNK || (last && cluster_count > 0u)) {
                const unsigned count = smaller(cluster_count, CLUSTER_CHUNK);
                cluster_count -= count;
                clusters_met += count;
                const Columns columns =
                    others == 0u ? Columns{position[0], position[1], position[2], mass,
                                           rows,        CLUSTER,     length_unit, mass_unit}
                                 : Columns{particles,
                                           particles + CLUSTER,
                                           particles + 2u * CLUSTER,
                                           particles + 3u * CLUSTER,
                                           0xffffffffu,
                                           WARP,
                                           length_unit,
                                           mass_unit};
                gather_clusters(scratch, scratch.clusters + cluster_count, count, columns, box, softening, args.split,
                                targets, gathered);
            }
            while (near_count >= NEAR_CHUNK || (last && near_count > 0u)) {
                const unsigned count = smaller(near_count, NEAR_CHUNK);
                near_count -= count;
                near_met += count;
                gather_near(scratch, scratch.near_nodes + near_count, count, tree, box, softening_of_node, args.split,
                            targets, gathered);
            }
            while (far_count >= FAR_CHUNK || (last && far_count > 0u)) {
                const unsigned count = smaller(far_count, FAR_CHUNK);
                far_count -= count;
                far_met += count;
                gather_far(scratch.far_nodes + far_count, count, tree, box, radius, softening_of_node, low, high);
            }
        }
    }
#if HILBRIUM_PERIODIC
    }
#endif
    __syncwarp();
    store_terms(scratch.terms, low, high);
    __syncwarp();
#pragma unroll
    for (unsigned half = 0u; half < 2u; ++half) {
        gather_local(scratch.terms, Real(1) / radius, targets[half]);
        collect(targets[half], gathered[half]);
    }
    if (grouped) {
        const TargetBox of_group = groups.boxes[super / CLUSTERS];
        const Real inverse_radius = Real(1) / sqrt(Real(squared_radius_of_box(of_group)));
        const Real* const terms = groups.terms + LOCAL_TERMS * group;
#pragma unroll
        for (unsigned half = 0u; half < 2u; ++half) {
            targets[half].x += Real(box.x - of_group.x);
            targets[half].y += Real(box.y - of_group.y);
            targets[half].z += Real(box.z - of_group.z);
            gather_local(terms, inverse_radius, targets[half]);
            collect(targets[half], gathered[half]);
        }
        far_met += groups.counts[3u * group + 2u];
    }
    unsigned met[3] = {clusters_met * CLUSTER, near_met, far_met};
    if constexpr (WARPS_OF_TARGET > 1u) {
        __shared__ Gathered shares[WARPS_OF_TARGET][2][WARP];
        __shared__ unsigned met_by[WARPS_OF_TARGET][3];
        shares[warp][0][lane] = gathered[0];
        shares[warp][1][lane] = gathered[1];
        if (lane < 3u) { met_by[warp][lane] = lane == 0u ? met[0] : lane == 1u ? met[1] : met[2]; }
        __syncthreads();
        if (warp != 0u) { return; }
        for (unsigned other = 1u; other < WARPS_OF_TARGET; ++other) {
#pragma unroll
            for (unsigned half = 0u; half < 2u; ++half) {
                const Gathered& share = shares[other][half][lane];
                gathered[half].x += share.x;
                gathered[half].y += share.y;
                gathered[half].z += share.z;
                gathered[half].potential += share.potential;
            }
#pragma unroll
            for (unsigned k = 0u; k < 3u; ++k) { met[k] += met_by[other][k]; }
        }
    }
    const double of_potential = args.constant * length_unit / mass_unit, of_pull = of_potential * length_unit;
#pragma unroll
    for (unsigned half = 0u; half < 2u; ++half) {
        if (there[half]) {
            const unsigned long long row = first_row + half * WARP;
            acceleration[0][row] += of_pull * gathered[half].x;
            acceleration[1][row] += of_pull * gathered[half].y;
            acceleration[2][row] += of_pull * gathered[half].z;
            const double own = args.constant * args.own * mass[row];
#if HILBRIUM_PERIODIC
            args.potential[row] = args.background + own - of_potential * gathered[half].potential;
#else
            args.potential[row] = own - of_potential * gathered[half].potential;
#endif
        }
    }
    if (interactions != nullptr && lane < 3u) {
        interactions[3ull * super + lane] = lane == 0u ? met[0] : lane == 1u ? met[1] : met[2];
    }
}
HILBRIUM_EXPORT(gravity_walk)

} // namespace hilbrium
