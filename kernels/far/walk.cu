// Gravity by one walk over the hierarchy a super-cluster: mirrors src/far/walk.rs.
//
// A warp has the 64 particles of a super-cluster as targets, two a lane, relative to the middle of their box. It
// tests the children of up to four opened nodes at a time, one a lane. What is found is gathered in three lists in
// shared memory until a list is long enough for all lanes to work on:
//   - clusters that were opened: their particles are laid into shared memory, and each lane runs over all of them with
//     its two targets in registers (kernels/far/point.cuh);
//   - near nodes: the same with their multipoles (kernels/far/multipole.cuh);
//   - far nodes: a lane a node, into one local expansion for the whole super-cluster (kernels/far/local.cuh).
// Nodes are opened depth first, the deepest first, so that a short stack is enough: see STACK.
//
// Units compile for HILBRIUM_REAL (float: mixed precision, in which sums over a list's worth of sources are added up
// in double precision), HILBRIUM_ORDER, HILBRIUM_SOFTENING and HILBRIUM_CRITERION.
#include "../far/local.cuh"
#include "../far/opening.cuh"
#include "../far/point.cuh"

#include "../tree/hierarchy.cuh"

namespace hilbrium {

// Blocks, of a warp each, that a multiprocessor must have room for: so many that registers are kept in memory only
// outside of loops.
constexpr unsigned WALK_BLOCKS = sizeof(Real) == 4 ? (HILBRIUM_ORDER == 2 ? 20u : 16u) : 12u;

// The stack holds opened nodes as level and number. Of its nodes the deepest are taken first, four at most, which
// leave at most 32 behind, all of lower level than what remains. So there are never more than 32 of a level, and
// levels 1 to 9 can be on it, or 10 as the root of all.
constexpr unsigned STACK = 320u;
constexpr unsigned LEVEL_SHIFT = 28u;
constexpr unsigned MOST_LEVELS = 12u;

// Lists are worked on in such pieces; a step of the walk adds at most 32 to what is less than a piece.
constexpr unsigned FAR_PIECE = 64u;
constexpr unsigned NEAR_PIECE = 32u;
constexpr unsigned CLUSTER_PIECE = 8u;

// What a warp keeps in shared memory: 3.7 kB in single, 5.2 kB in double precision.
struct Scratch {
    union {
        Real4 points[CLUSTER_PIECE * CLUSTER];
        NodeSource sources[NEAR_PIECE];
        Real terms[LOCAL_TERMS];
    };
    unsigned stack[STACK];
    unsigned far_nodes[FAR_PIECE + WARP];
    unsigned near_nodes[NEAR_PIECE + WARP];
    unsigned clusters[CLUSTER_PIECE + WARP];
};

// Where the levels begin, and how many nodes they have.
struct Levels {
    unsigned first[MOST_LEVELS], count[MOST_LEVELS];
};

// Columns of the particles, and their units: multiply lengths and masses by these.
struct Columns {
    const double *x, *y, *z, *mass;
    unsigned rows;
    double length_unit, mass_unit;
};

struct Tree {
    const Node* nodes;
    const Multipole* multipoles;
};

// Sums in double precision over the sums of pieces.
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

// The children of up to four nodes from the end of the stack: this lane's child as level, place in its level, and
// element of the arrays. Returns whether the lane has one; takes the parents off the stack.
__device__ __forceinline__ bool next_child(const Scratch& scratch, const Levels& levels, unsigned& depth,
                                           unsigned& level, unsigned& place, unsigned& element) {
    const unsigned taken = depth < 4u ? depth : 4u, lane = lane_index();
    depth -= taken;
    if (lane / 8u >= taken) { return false; }
    const unsigned parent = scratch.stack[depth + lane / 8u];
    level = (parent >> LEVEL_SHIFT) - 1u;
    place = (parent & ((1u << LEVEL_SHIFT) - 1u)) * 8u + lane % 8u;
    element = levels.first[level] + place;
    return place < levels.count[level];
}

// Appends this lane's value to a list if `wanted`.
__device__ __forceinline__ void append(unsigned* list, unsigned& length, bool wanted, unsigned value) {
    const unsigned lanes = __ballot_sync(FULL, wanted);
    if (wanted) { list[length + __popc(lanes & lanes_below())] = value; }
    length += __popc(lanes);
}

// About the acceleration at the middle of the box for G = 1: from monopoles of nodes not larger than their distance;
// what is nearer is softened by its radius (mirrors src/far/rough.rs). For whole warps.
__device__ __forceinline__ float estimated_acceleration(Scratch& scratch, const Levels& levels, const Tree& tree,
                                                        const TargetBox& box, float squared_softening, unsigned top) {
    float pull_x = 0.0f, pull_y = 0.0f, pull_z = 0.0f;
    if (lane_index() == 0u) { scratch.stack[0] = top << LEVEL_SHIFT; }
    unsigned depth = 1u;
    while (depth > 0u) {
        __syncwarp();
        unsigned level = 0u, place = 0u, element = 0u;
        const bool there = next_child(scratch, levels, depth, level, place, element);
        bool opened = false;
        if (there) {
            const Node node = tree.nodes[element];
            const float x = float(node.x - box.x), y = float(node.y - box.y), z = float(node.z - box.z);
            const float squared = x * x + (y * y + z * z), own = node.radius * node.radius;
            opened = level > 0u && node.radius >= 0.0f && squared <= own;
            if (!opened && node.radius >= 0.0f) {
                const float sum = squared + (squared <= own ? own : 0.0f) + squared_softening;
                const float inverse = sum > 0.0f ? ::rsqrtf(sum) : 0.0f;
                const float pull = node.mass * inverse * (inverse * inverse);
                pull_x += pull * x;
                pull_y += pull * y;
                pull_z += pull * z;
            }
        }
        __syncwarp();
        append(scratch.stack, depth, opened, level << LEVEL_SHIFT | place);
    }
    __syncwarp();
    pull_x = warp_sum(pull_x);
    pull_y = warp_sum(pull_y);
    pull_z = warp_sum(pull_z);
    return ::sqrtf(pull_x * pull_x + (pull_y * pull_y + pull_z * pull_z));
}

// Lets `count` clusters act, at most CLUSTER_PIECE. Floor: 14.5 instructions a lane, target and particle.
__device__ __forceinline__ void gather_clusters(Scratch& scratch, const unsigned* clusters, unsigned count,
                                                const Columns& columns, const TargetBox& box, Softening softening,
                                                Target (&targets)[2], Gathered (&gathered)[2]) {
    const unsigned lane = lane_index();
    constexpr unsigned ROUNDS = CLUSTER_PIECE * CLUSTER / WARP;
    __syncwarp();
    // All that is read is asked for before any of it is used.
    double x[ROUNDS], y[ROUNDS], z[ROUNDS], mass[ROUNDS];
#pragma unroll
    for (unsigned round = 0u; round < ROUNDS; ++round) {
        const unsigned index = round * (WARP / CLUSTER) + lane / CLUSTER;
        const unsigned row = index < count ? clusters[index] * CLUSTER + lane % CLUSTER : columns.rows;
        const bool there = row < columns.rows;
        mass[round] = there ? columns.mass[row] : 0.0;
        x[round] = there ? columns.x[row] : 0.0;
        y[round] = there ? columns.y[row] : 0.0;
        z[round] = there ? columns.z[row] : 0.0;
    }
#pragma unroll
    for (unsigned round = 0u; round < ROUNDS; ++round) {
        // Where a row has no mass its position may be anything.
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
        gather_point(source, softening, targets[0]);
        gather_point(source, softening, targets[1]);
    }
    collect(targets[0], gathered[0]);
    collect(targets[1], gathered[1]);
}

// Lets `count` near nodes act, at most NEAR_PIECE. Floor: 37 instructions a lane, target and node.
__device__ __forceinline__ void gather_near(Scratch& scratch, const unsigned* elements, unsigned count,
                                            const Tree& tree, const TargetBox& box, Real squared_softening,
                                            Target (&targets)[2], Gathered (&gathered)[2]) {
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
        gather_node(source, squared_softening, targets[0]);
        gather_node(source, squared_softening, targets[1]);
    }
    collect(targets[0], gathered[0]);
    collect(targets[1], gathered[1]);
}

// Adds `count` far nodes, at most FAR_PIECE, to the local expansion, of which the lanes keep a term or two each.
__device__ __forceinline__ void gather_far(const unsigned* elements, unsigned count, const Tree& tree,
                                           const TargetBox& box, Real radius, Real squared_softening, double& low,
                                           double& high) {
    const unsigned lane = lane_index();
    Real terms[LOCAL_TERMS];
#pragma unroll
    for (unsigned i = 0u; i < LOCAL_TERMS; ++i) { terms[i] = Real(0); }
    __syncwarp();
#pragma unroll 1
    for (unsigned index = lane; index < count; index += WARP) {
        const unsigned element = elements[index];
        const Node node = tree.nodes[element];
        const Multipole multipole = tree.multipoles[element];
        local_of_node(multipole, Real(node.x - box.x), Real(node.y - box.y), Real(node.z - box.z), radius,
                      squared_softening, terms);
    }
    __syncwarp();
    Real sum_low, sum_high;
    sum_of_terms(terms, sum_low, sum_high);
    low += double(sum_low);
    high += double(sum_high);
}

// Gravity on all rows: adds to the acceleration columns and sets the potential, but for rows that are ghosts. Their
// mass must be 0, their positions may be anything.
// `constant` is G; `own` is minus the potential of a unit mass at its own place for G = 1 (0 of points), which is
// taken off; `softening` is Plummer's length squared or the spline's support squared in the walk's unit, and
// `inverse_support` that of the spline. `interactions`, unless it is null, gets of each super-cluster the numbers of
// particles, near nodes and far nodes it met.
// Launch: a block of one warp a super-cluster. Floor: instructions, see the three functions above; a
// super-cluster reads 32 bytes a particle and 64 a node that it meets, mostly from caches.
extern "C" __global__ void __launch_bounds__(WARP, WALK_BLOCKS)
    gravity_walk(const double* x, const double* y, const double* z, const double* mass, const unsigned long long* id,
                 unsigned rows, double length_unit, double mass_unit, const Node* nodes, const Multipole* multipoles,
                 float size_by_angle, float range, float relative, float far, double squared_softening,
                 double inverse_support, double constant, double own, double* acceleration_x, double* acceleration_y,
                 double* acceleration_z, double* potential, unsigned* interactions) {
    __shared__ Scratch scratch;
    __shared__ Levels levels;
    const unsigned lane = lane_index(), levels_there = hierarchy_levels(rows);
    if (lane < levels_there) {
        levels.first[lane] = hierarchy_offset(rows, lane);
        levels.count[lane] = hierarchy_count(rows, lane);
    }
    __syncwarp();
    const unsigned super = blockIdx.x;
    const Columns columns = {x, y, z, mass, rows, length_unit, mass_unit};
    const Tree tree = {nodes, multipoles};

    // The targets and their box.
    const unsigned long long first_row = static_cast<unsigned long long>(super) * SUPER_CLUSTER + lane;
    const bool there[2] = {first_row < rows && id[first_row] != GHOST,
                           first_row + WARP < rows && id[first_row + WARP] != GHOST};
    if (!__any_sync(FULL, there[0] || there[1])) {
        if (interactions != nullptr && lane < 3u) { interactions[3ull * super + lane] = 0u; }
        return;
    }
    double place[2][3], lower[3] = {1e300, 1e300, 1e300}, upper[3] = {-1e300, -1e300, -1e300};
#pragma unroll
    for (unsigned half = 0u; half < 2u; ++half) {
        const unsigned long long row = first_row + half * WARP;
        place[half][0] = there[half] ? x[row] * length_unit : 0.0;
        place[half][1] = there[half] ? y[row] * length_unit : 0.0;
        place[half][2] = there[half] ? z[row] * length_unit : 0.0;
#pragma unroll
        for (unsigned d = 0u; d < 3u; ++d) {
            if (there[half]) {
                lower[d] = smaller(lower[d], place[half][d]);
                upper[d] = larger(upper[d], place[half][d]);
            }
        }
    }
    double middle[3];
    float half_edge[3];
#pragma unroll
    for (unsigned d = 0u; d < 3u; ++d) {
        lower[d] = warp_smallest(lower[d]);
        upper[d] = warp_largest(upper[d]);
        middle[d] = 0.5 * (lower[d] + upper[d]);
        half_edge[d] = round_up(larger(upper[d] - middle[d], middle[d] - lower[d]));
    }
    TargetBox box = {middle[0], middle[1], middle[2], half_edge[0], half_edge[1], half_edge[2], 0.0f, 0.0f};
    Target targets[2];
    float squared_radius = 0.0f;
#pragma unroll
    for (unsigned half = 0u; half < 2u; ++half) {
        const Real zero = Real(0);
        targets[half] = {zero, zero, zero, zero, zero, zero, zero};
        if (there[half]) {
            targets[half].x = Real(place[half][0] - box.x);
            targets[half].y = Real(place[half][1] - box.y);
            targets[half].z = Real(place[half][2] - box.z);
        }
        const float a = float(targets[half].x), b = float(targets[half].y), c = float(targets[half].z);
        squared_radius = larger(squared_radius, a * a + (b * b + c * c));
    }
    // The expansion is in units of the radius, which must not vanish.
    box.squared_radius = larger(warp_largest(squared_radius), 1e-24f);
    const Real radius = sqrt(Real(box.squared_radius));
    const Softening softening = {Real(squared_softening), Real(inverse_support)};
    const Real softening_of_node = softening_of_nodes(softening);
    box.acceleration =
        estimated_acceleration(scratch, levels, tree, box, float(softening_of_node), levels_there);

    const Opening opening = {size_by_angle, range, relative, far};
    Gathered gathered[2] = {{0.0, 0.0, 0.0, 0.0}, {0.0, 0.0, 0.0, 0.0}};
    double low = 0.0, high = 0.0;
    unsigned far_count = 0u, near_count = 0u, cluster_count = 0u;
    unsigned far_met = 0u, near_met = 0u, clusters_met = 0u;
    if (lane == 0u) { scratch.stack[0] = levels_there << LEVEL_SHIFT; }
    unsigned depth = 1u;
    while (depth > 0u) {
        __syncwarp();
        unsigned level = 0u, number = 0u, element = 0u;
        Verdict decided = SKIPPED;
        if (next_child(scratch, levels, depth, level, number, element)) {
            const Node node = nodes[element];
            decided = verdict(box, opening, float(node.x - box.x), float(node.y - box.y), float(node.z - box.z),
                              node.radius, node.mass);
        }
        __syncwarp();
        append(scratch.stack, depth, decided == OPENED && level > 0u, level << LEVEL_SHIFT | number);
        append(scratch.clusters, cluster_count, decided == OPENED && level == 0u, number);
        append(scratch.near_nodes, near_count, decided == NEAR, element);
        append(scratch.far_nodes, far_count, decided == FAR, element);
        const bool last = depth == 0u;
        while (cluster_count >= CLUSTER_PIECE || (last && cluster_count > 0u)) {
            const unsigned count = smaller(cluster_count, CLUSTER_PIECE);
            cluster_count -= count;
            clusters_met += count;
            gather_clusters(scratch, scratch.clusters + cluster_count, count, columns, box, softening, targets,
                            gathered);
        }
        while (near_count >= NEAR_PIECE || (last && near_count > 0u)) {
            const unsigned count = smaller(near_count, NEAR_PIECE);
            near_count -= count;
            near_met += count;
            gather_near(scratch, scratch.near_nodes + near_count, count, tree, box, softening_of_node, targets,
                        gathered);
        }
        while (far_count >= FAR_PIECE || (last && far_count > 0u)) {
            const unsigned count = smaller(far_count, FAR_PIECE);
            far_count -= count;
            far_met += count;
            gather_far(scratch.far_nodes + far_count, count, tree, box, radius, softening_of_node, low, high);
        }
    }
    __syncwarp();
    scratch.terms[lane] = Real(low);
    if (lane % 8u == 0u) { scratch.terms[WARP + lane / 8u] = Real(high); }
    __syncwarp();
    const double of_potential = constant * length_unit / mass_unit, of_pull = of_potential * length_unit;
#pragma unroll
    for (unsigned half = 0u; half < 2u; ++half) {
        gather_local(scratch.terms, Real(1) / radius, targets[half]);
        collect(targets[half], gathered[half]);
        if (there[half]) {
            const unsigned long long row = first_row + half * WARP;
            acceleration_x[row] += of_pull * gathered[half].x;
            acceleration_y[row] += of_pull * gathered[half].y;
            acceleration_z[row] += of_pull * gathered[half].z;
            potential[row] = constant * own * mass[row] - of_potential * gathered[half].potential;
        }
    }
    if (interactions != nullptr && lane < 3u) {
        interactions[3ull * super + lane] = lane == 0u ? clusters_met * CLUSTER : lane == 1u ? near_met : far_met;
    }
}
HILBRIUM_EXPORT(gravity_walk)

} // namespace hilbrium
