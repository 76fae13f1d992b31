// Targets of the gravity walk: the box and an estimated acceleration of each super-cluster, and boxes that
// combine many super-clusters for other ranks.
#include "../far/opening.cuh"
#include "../arguments/far_targets.cuh"
#include "../far/stack.cuh"
#include "../order/long_first.cuh"

namespace hilbrium {

// An acceleration in single precision, for G = 1.
struct Pull {
    float x, y, z;
};

// Adds a node as a point mass, softened by its radius if the center of the target box lies inside (mirrors
// src/far/acceleration_estimate.rs). `squared` is the squared distance of (x, y, z).
__device__ __forceinline__ void add_monopole(const Node& node, float x, float y, float z, float squared,
                                             float squared_softening, Pull& pull) {
    const float own = node.radius * node.radius;
    const float sum = squared + (squared <= own ? own : 0.0f) + squared_softening;
    const float inverse = sum > 0.0f ? ::rsqrtf(sum) : 0.0f;
    const float factor = node.mass * inverse * (inverse * inverse);
    pull.x += factor * x;
    pull.y += factor * y;
    pull.z += factor * z;
}

// Estimates the acceleration at the center of the box for G = 1: from monopoles of nodes no larger than their
// distance, and of the `other_count` coarse nodes of other ranks at any distance. All lanes must call.
__device__ __forceinline__ float estimated_acceleration(unsigned* stack, const Levels& levels, unsigned top,
                                                        const Node* nodes, const Node* others, unsigned other_count,
                                                        const TargetBox& box, float squared_softening) {
    Pull pull = {0.0f, 0.0f, 0.0f};
    if (lane_index() == 0u) { stack[0] = top << LEVEL_SHIFT; }
    unsigned depth = 1u;
    while (depth > 0u) {
        __syncwarp();
        unsigned level = 0u, place = 0u, element = 0u;
        const bool there = next_child(stack, levels, depth, level, place, element);
        bool opened = false;
        if (there) {
            const Node node = nodes[element];
            const float x = float(node.x - box.x), y = float(node.y - box.y), z = float(node.z - box.z);
            const float squared = x * x + (y * y + z * z);
            opened = level > 0u && node.radius >= 0.0f && squared <= node.radius * node.radius;
            if (!opened && node.radius >= 0.0f) {
                add_monopole(node, x, y, z, squared, squared_softening, pull);
            }
        }
        __syncwarp();
        append(stack, depth, opened, level << LEVEL_SHIFT | place);
    }
    for (unsigned other = lane_index(); other < other_count; other += WARP) {
        const Node node = others[other];
        const float x = float(node.x - box.x), y = float(node.y - box.y), z = float(node.z - box.z);
        if (node.radius >= 0.0f) {
            add_monopole(node, x, y, z, x * x + (y * y + z * z), squared_softening, pull);
        }
    }
    __syncwarp();
    pull.x = warp_sum(pull.x);
    pull.y = warp_sum(pull.y);
    pull.z = warp_sum(pull.z);
    return ::sqrtf(pull.x * pull.x + (pull.y * pull.y + pull.z * pull.z));
}

// Combines the bounds of all lanes to a box: center and half widths.
__device__ __forceinline__ TargetBox box_of_bounds(double (&lower)[3], double (&upper)[3]) {
    double middle[3];
    float half[3];
#pragma unroll
    for (unsigned d = 0u; d < 3u; ++d) {
        lower[d] = warp_smallest(lower[d]);
        upper[d] = warp_largest(upper[d]);
        middle[d] = 0.5 * (lower[d] + upper[d]);
        half[d] = round_up(larger(upper[d] - middle[d], middle[d] - lower[d]));
    }
    return {middle[0], middle[1], middle[2], half[0], half[1], half[2], 0.0f, 0.0f};
}

// Whether the walk of a super-cluster is long: its box is large beside its smallest cluster. All lanes must
// call.
__device__ __forceinline__ bool is_scattered(const Node* clusters, unsigned count, const TargetBox& box) {
    const unsigned lane = lane_index();
    const float own = lane < CLUSTERS && lane < count ? clusters[lane].radius : NOTHING_ACTS;
    const float smallest = warp_smallest(own > 0.0f ? own : 1e30f);
    const float limit = SCATTERED * smallest;
    return squared_radius_of_box(box) > limit * limit;
}

// Puts a super-cluster into the order of the walks of its batch. All lanes must call.
__device__ __forceinline__ void put_in_order(const TargetsArguments& args, unsigned super, bool long_walk) {
    const unsigned batch = super / args.batch, first = batch * args.batch;
    place_long_first(args.order, args.placed + 2u * batch, first, smaller(first + args.batch, gridDim.x), super,
                     lane_index() == 0u, long_walk);
}

// Computes the boxes of all super-clusters, and the order of their walks within batches; `placed` holds two
// zeros per batch. Launch: one block of one warp per super-cluster. Floor: 32 bytes per row, 52 bytes written
// per super-cluster, and 25 instructions per lane for every 32 nodes that the estimate visits.
extern "C" __global__ void __launch_bounds__(WARP)
    gravity_targets(const __grid_constant__ TargetsArguments args) {
    const double* const position[3] = {args.sources.position[0], args.sources.position[1],
                                       args.sources.position[2]};
    const unsigned long long* const id = args.sources.id;
    const unsigned rows = args.sources.rows;
    const double length_unit = args.sources.length_unit;
    TargetBox* const boxes = args.boxes;
    __shared__ unsigned stack[STACK];
    __shared__ Levels levels;
    const unsigned lane = lane_index(), super = blockIdx.x;
    const unsigned long long first_row = static_cast<unsigned long long>(super) * SUPER_CLUSTER + lane;
    const bool there[2] = {first_row < rows && id[first_row] != GHOST,
                           first_row + WARP < rows && id[first_row + WARP] != GHOST};
    if (!__any_sync(FULL, there[0] || there[1])) {
        if (lane == 0u) { boxes[super] = {0.0, 0.0, 0.0, 0.0f, 0.0f, 0.0f, NOBODY_THERE, 0.0f}; }
        put_in_order(args, super, false);
        return;
    }
    double place[2][3], lower[3] = {1e300, 1e300, 1e300}, upper[3] = {-1e300, -1e300, -1e300};
#pragma unroll
    for (unsigned half = 0u; half < 2u; ++half) {
        const unsigned long long row = first_row + half * WARP;
        place[half][0] = there[half] ? position[0][row] * length_unit : 0.0;
        place[half][1] = there[half] ? position[1][row] * length_unit : 0.0;
        place[half][2] = there[half] ? position[2][row] * length_unit : 0.0;
#pragma unroll
        for (unsigned d = 0u; d < 3u; ++d) {
            if (there[half]) {
                lower[d] = smaller(lower[d], place[half][d]);
                upper[d] = larger(upper[d], place[half][d]);
            }
        }
    }
    TargetBox box = box_of_bounds(lower, upper);
    float squared_radius = 0.0f;
#pragma unroll
    for (unsigned half = 0u; half < 2u; ++half) {
        const float a = there[half] ? float(place[half][0] - box.x) : 0.0f,
                    b = there[half] ? float(place[half][1] - box.y) : 0.0f,
                    c = there[half] ? float(place[half][2] - box.z) : 0.0f;
        squared_radius = larger(squared_radius, a * a + (b * b + c * c));
    }
    // The expansion is scaled by the radius, which must not be zero.
    box.squared_radius = larger(warp_largest(squared_radius), 1e-24f);
    const unsigned top = init_levels(levels, rows, 0u);
    box.acceleration = estimated_acceleration(stack, levels, top, args.nodes, args.others, args.other_count,
                                              box, args.squared_softening);
    const unsigned first_cluster = CLUSTERS * super;
    put_in_order(args, super,
                 is_scattered(args.nodes + first_cluster, hierarchy_count(rows, 0u) - first_cluster, box));
    if (lane == 0u) { boxes[super] = box; }
}
HILBRIUM_EXPORT(gravity_targets)

// Computes the boxes of the nodes of a level from 1 on: the union of their super-clusters' boxes, with the
// smallest acceleration. Launch: one block of one warp per node. Floor: 48 bytes per super-cluster.
extern "C" __global__ void __launch_bounds__(WARP)
    gravity_join_boxes(const __grid_constant__ JoinBoxesArguments args) {
    const unsigned lane = lane_index(), shift = 3u * (args.level - 1u);
    const unsigned long long first = static_cast<unsigned long long>(blockIdx.x) << shift;
    const unsigned long long count = hierarchy_count(args.rows, 1u);
    const unsigned long long end = smaller(first + (1ull << shift), count);
    double lower[3] = {1e300, 1e300, 1e300}, upper[3] = {-1e300, -1e300, -1e300};
    float acceleration = 1e30f;
    bool anybody = false;
    for (unsigned long long super = first + lane; super < end; super += WARP) {
        const TargetBox box = args.boxes[super];
        if (box.squared_radius == NOBODY_THERE) { continue; }
        const double middle[3] = {box.x, box.y, box.z};
        const float half[3] = {box.half_x, box.half_y, box.half_z};
#pragma unroll
        for (unsigned d = 0u; d < 3u; ++d) {
            lower[d] = smaller(lower[d], middle[d] - double(half[d]));
            upper[d] = larger(upper[d], middle[d] + double(half[d]));
        }
        acceleration = smaller(acceleration, box.acceleration);
        anybody = true;
    }
    __syncwarp();
    TargetBox box = box_of_bounds(lower, upper);
    box.acceleration = warp_smallest(acceleration);
    box.squared_radius = __any_sync(FULL, anybody) ? 0.0f : NOBODY_THERE;
    if (lane == 0u) { args.joined[blockIdx.x] = box; }
}
HILBRIUM_EXPORT(gravity_join_boxes)

} // namespace hilbrium
