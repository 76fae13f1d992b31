// Builds the neighbor cluster list of each super-cluster: mirrors ClusterList::build bit for bit.
//
// One warp per super-cluster walks the hierarchy, tests the clusters and encodes those with pairs. The length
// of a record is not known in advance. The first kernel therefore writes the first bytes of each record to a
// slot of fixed size, the windows beyond to a common overflow, and stores the length. After a prefix sum, a
// second kernel moves slots and windows to their places in the list. Hence lists are the same bytes in every
// run, and records have any length.
#include "../device.cuh"
#include "../arguments/neighbors_build.cuh"
#include "../neighbors/walk.cuh"
#include "../order/long_first.cuh"

namespace hilbrium {

#ifndef HILBRIUM_PERIODIC
#define HILBRIUM_PERIODIC 1
#endif

// Warps per block, and resident warps per multiprocessor.
#ifndef HILBRIUM_WARPS
#define HILBRIUM_WARPS 2
#endif
#ifndef HILBRIUM_WARPS_THERE
#define HILBRIUM_WARPS_THERE 32
#endif
// Warps that share a record; more than one if there are few records.
#ifndef HILBRIUM_WARPS_OF_RECORD
#define HILBRIUM_WARPS_OF_RECORD 1
#endif
constexpr unsigned WARPS_OF_RECORD = HILBRIUM_WARPS_OF_RECORD;
constexpr unsigned BUILD_WARPS = WARPS_OF_RECORD > 1 ? WARPS_OF_RECORD : HILBRIUM_WARPS;
constexpr unsigned BUILD_BLOCKS = HILBRIUM_WARPS_THERE / BUILD_WARPS;

struct BuildMemory {
    ListRequest request;
    Frame frame;
    WalkMemory walk;
    CandidateMemory candidates;
    EncoderMemory encoder;
};

// Finds and encodes the neighbor clusters of a super-cluster. Sets, in all lanes, the number of entries, the
// length of the record (bytes), and one more than its last entry (0 if it has none).
__device__ __forceinline__ void build_record(const ListRequest& request, unsigned super_cluster,
                                             BuildMemory& memory, RecordPlace place, unsigned& count,
                                             unsigned& length, unsigned& end) {
    count = length = end = 0;
    if (request.extent[hierarchy_padded_count(request.rows, 0) + super_cluster].w < 0.0f) { return; }
    if (lane_index() == 0) { memory.request = request; }
    const Frame& frame = memory.frame;
    prepare(request, super_cluster, memory.frame);
    Encoder encoder{memory.encoder};
    encoder.begin(place);
    Candidates<HILBRIUM_PERIODIC, Encoder> candidates{request, memory.request, frame, memory.candidates,
                                                      encoder};
    Walk<HILBRIUM_PERIODIC> walk{request, frame, memory.walk};
    walk.begin();
    for (bool last = false; !last;) {
        while (candidates.waiting() < WARP && !walk.ended()) { walk.open<0>(candidates); }
        if (candidates.waiting() > 0) { candidates.decide(smaller(candidates.waiting(), WARP)); }
        last = walk.ended() && candidates.waiting() == 0;
        encoder.encode(last);
    }
    length = encoder.end();
    count = encoder.count();
    end = encoder.next();
}

// Nodes of level 1 that warps open together.
constexpr unsigned NODES_TOGETHER = 256;

// Ascending nodes of level 1 within reach of a super-cluster, in shared memory.
struct NearNodes {
    unsigned* nodes;
    unsigned count;

    __device__ __forceinline__ void add(unsigned lanes, unsigned node, float3, float4) {
        if (lanes >> lane_index() & 1) { nodes[count + __popc(lanes & lanes_below())] = node; }
        count += __popc(lanes);
    }
};

// Ascending clusters that a warp has found, in shared memory.
struct NearClusters {
    unsigned* clusters;
    unsigned count;

    __device__ __forceinline__ void take(unsigned lanes, unsigned cluster) {
        if (lanes >> lane_index() & 1) { clusters[count + __popc(lanes & lanes_below())] = cluster; }
        count += __popc(lanes);
    }
};

struct TogetherMemory {
    ListRequest request;
    Frame frame;
    WalkMemory walk;
    EncoderMemory encoder;
    CandidateMemory candidates[WARPS_OF_RECORD];
    unsigned nodes[NODES_TOGETHER];
    unsigned clusters[NODES_TOGETHER * CLUSTERS];
    unsigned cluster_count[WARPS_OF_RECORD];
    unsigned node_count;
    bool ended;
};

// As build_record, by all warps of a block: the first walks to the nodes of level 1 and encodes, all test the
// clusters of these nodes, each those of a range. All warps must call; the first one has the results.
__device__ __forceinline__ void build_record_together(const ListRequest& request, unsigned super_cluster,
                                                      TogetherMemory& memory, RecordPlace place,
                                                      unsigned& count, unsigned& length, unsigned& end) {
    count = length = end = 0;
    if (request.extent[hierarchy_padded_count(request.rows, 0) + super_cluster].w < 0.0f) { return; }
    const unsigned warp = warp_of_block(), lane = lane_index();
    if (threadIdx.x == 0) { memory.request = request; }
    Encoder encoder{memory.encoder};
    Walk<HILBRIUM_PERIODIC> walk{request, memory.frame, memory.walk};
    if (warp == 0) {
        prepare(request, super_cluster, memory.frame);
        encoder.begin(place);
        walk.begin();
    }
    for (bool last = false; !last;) {
        __syncthreads();
        if (warp == 0) {
            NearNodes nodes{memory.nodes, 0};
            while (nodes.count + WARP <= NODES_TOGETHER && !walk.ended()) { walk.template open<1>(nodes); }
            if (lane == 0) {
                memory.node_count = nodes.count;
                memory.ended = walk.ended();
            }
        }
        __syncthreads();
        last = memory.ended;
        // whole groups of four nodes
        const unsigned groups = (memory.node_count + 3) / 4;
        const unsigned first = 4 * (groups * warp / WARPS_OF_RECORD);
        const unsigned behind = smaller(4 * (groups * (warp + 1) / WARPS_OF_RECORD), memory.node_count);
        NearClusters clusters{memory.clusters + CLUSTERS * first, 0};
        Candidates<HILBRIUM_PERIODIC, NearClusters> candidates{request, memory.request, memory.frame,
                                                               memory.candidates[warp], clusters};
        for (unsigned node = first; node < behind || candidates.waiting() > 0;) {
            for (; candidates.waiting() < WARP && node < behind; node += 4) {
                const unsigned own = node + lane / CLUSTERS;
                const bool there = own < behind;
                walk.open_node(there ? memory.nodes[own] : 0, there, candidates);
            }
            if (candidates.waiting() > 0) { candidates.decide(smaller(candidates.waiting(), WARP)); }
        }
        if (lane == 0) { memory.cluster_count[warp] = clusters.count; }
        __syncthreads();
        if (warp == 0) {
            for (unsigned other = 0; other < WARPS_OF_RECORD; ++other) {
                const unsigned first_node = 4 * (groups * other / WARPS_OF_RECORD);
                const unsigned* const theirs = memory.clusters + CLUSTERS * first_node;
                const unsigned theirs_count = memory.cluster_count[other];
                for (unsigned begin = 0; begin < theirs_count; begin += WARP) {
                    const bool there = begin + lane < theirs_count;
                    encoder.take(__ballot_sync(FULL, there), there ? theirs[begin + lane] : 0);
                    encoder.encode(false);
                }
            }
            encoder.encode(last);
        }
    }
    if (warp == 0) {
        length = encoder.end();
        count = encoder.count();
        end = encoder.next();
    }
}

// Orders the builds of records, long ones first. `placed` is initially 0. Launch: one thread per record,
// blocks of whole warps. Floor: 148 bytes per record.
extern "C" __global__ void list_order(const __grid_constant__ ListOrderArguments args) {
    const unsigned record = static_cast<unsigned>(thread_of_grid()), super_cluster = args.first + record;
    const bool there = record < args.super_clusters;
    bool scattered = false;
    if (there) {
        const auto squared_diagonal = [&](unsigned element) {
            const float4 extent = args.extent[element];
            return extent.w < 0.0f ? 0.0f : square(extent.x) + square(extent.y) + square(extent.z);
        };
        float smallest = 1e30f;
        for (unsigned k = 0; k < CLUSTERS; ++k) {
            const float own = squared_diagonal(CLUSTERS * super_cluster + k);
            smallest = own > 0.0f ? fminf(smallest, own) : smallest;
        }
        const float whole = squared_diagonal(hierarchy_padded_count(args.rows, 0) + super_cluster);
        scattered = whole > square(SCATTERED) * smallest;
    }
    place_long_first(args.order, args.placed, 0, args.super_clusters, record, there, scattered);
}
HILBRIUM_EXPORT(list_order)

// Writes the first `slot` bytes of each super-cluster's record (a multiple of 4) to its slot and the windows
// beyond to the overflow, and the entry counts and lengths of all records. If foreign rows follow the owned
// ones, from the next super-cluster on, `interior` and `boundary` become 1 and 0 for records without such
// rows, 0 and 1 for others; otherwise both are null.
// Launch: one warp per super-cluster, blocks of BUILD_WARPS; or one block of WARPS_OF_RECORD warps, if that
// is more than one. Floor: about 13,000 instructions per super-cluster at 194 neighbors, symmetric; memory
// traffic is the boxes and positions of the surroundings, mostly from caches.
extern "C" __global__ void __launch_bounds__(BUILD_WARPS * 32, BUILD_BLOCKS)
    list_build(const __grid_constant__ ListBuildArguments args) {
    const unsigned task = warp_of_grid() / WARPS_OF_RECORD, slot = args.slot;
    if (task >= args.super_clusters) { return; }
    const unsigned record = args.order == nullptr ? task : args.order[task];
    const ListRequest request = list_request(args.search);
    unsigned count, length, end;
    const RecordPlace place = {args.slots + static_cast<unsigned long long>(slot) * record, slot, record,
                               args.overflow};
    if constexpr (WARPS_OF_RECORD > 1) {
        __shared__ TogetherMemory memory;
        build_record_together(request, args.first + record, memory, place, count, length, end);
    } else {
        __shared__ BuildMemory memory[BUILD_WARPS];
        build_record(request, args.first + record, memory[warp_of_block()], place, count, length, end);
    }
    if (lane_index() == 0 && (WARPS_OF_RECORD == 1 || warp_of_block() == 0)) {
        if (args.boundary != nullptr) {
            const unsigned others = (request.owned_end + SUPER_CLUSTER - 1u) / SUPER_CLUSTER * CLUSTERS;
            args.interior[record] = end > others ? 0 : 1;
            args.boundary[record] = end > others ? 1 : 0;
        }
        args.counts[record] = count;
        args.lengths[record] = length;
    }
}
HILBRIUM_EXPORT(list_build)

// Moves slots, and the windows beyond them, to their destination. Launch: one warp per record and window,
// blocks of whole warps. Floor: the bytes of the list, twice.
extern "C" __global__ void list_place(const __grid_constant__ ListPlaceArguments args) {
    const unsigned long long* const offsets = args.offsets;
    const unsigned warp = warp_of_grid();
    unsigned record = warp, offset = 0, bytes = args.slot;
    const unsigned char* from = args.slots + static_cast<unsigned long long>(args.slot) * record;
    if (warp >= args.records) {
        if (warp - args.records >= args.overflow_count) { return; }
        const OverflowWindow& window = args.overflow[warp - args.records];
        record = window.record;
        offset = window.offset;
        bytes = 4u * window.words;
        from = reinterpret_cast<const unsigned char*>(window.code);
    }
    const unsigned long long begin = offsets[record] + offset;
    const unsigned long long rest = offsets[record + 1] - begin;
    if (rest < bytes) { bytes = static_cast<unsigned>(rest); }
    for (unsigned byte = lane_index(); byte < bytes; byte += WARP) { args.data[begin + byte] = from[byte]; }
}
HILBRIUM_EXPORT(list_place)

// The largest finite coordinate magnitude of the boxes of the first `clusters` elements of a hierarchy.
// `magnitude` is initially 0. Launch: any grid. Floor: 40 bytes per cluster.
extern "C" __global__ void list_magnitude(const __grid_constant__ ListMagnitudeArguments args) {
    const double* const center = args.center;
    const double unit = args.unit;
    double largest = 0.0;
    const unsigned long long threads = threads_of_grid();
    for (unsigned long long cluster = thread_of_grid(); cluster < args.clusters; cluster += threads) {
        const float4 box = args.extent[cluster];
        if (box.w < 0.0f) { continue; }
        double own = 0.0;
        own = fmax(own, plus(fabs(center[cluster]), times(double(box.x), unit)));
        own = fmax(own, plus(fabs(center[args.nodes + cluster]), times(double(box.y), unit)));
        own = fmax(own, plus(fabs(center[2ull * args.nodes + cluster]), times(double(box.z), unit)));
        if (own <= 1.7976931348623157e308) { largest = fmax(largest, own); }
    }
    largest = warp_largest(largest);
    // The bit patterns of non-negative doubles are ordered like their values.
    if (lane_index() == 0) {
        atomicMax(args.magnitude, static_cast<unsigned long long>(__double_as_longlong(largest)));
    }
}
HILBRIUM_EXPORT(list_magnitude)

}  // namespace hilbrium
