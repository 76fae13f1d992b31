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
constexpr unsigned BUILD_WARPS = HILBRIUM_WARPS, BUILD_BLOCKS = HILBRIUM_WARPS_THERE / HILBRIUM_WARPS;

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
    Candidates<HILBRIUM_PERIODIC> candidates{request, memory.request, frame, memory.candidates, encoder};
    Walk<HILBRIUM_PERIODIC> walk{request, frame, memory.walk};
    walk.begin();
    for (bool last = false; !last;) {
        while (candidates.waiting() < WARP && !walk.ended()) { walk.open(candidates); }
        if (candidates.waiting() > 0) { candidates.decide(smaller(candidates.waiting(), WARP)); }
        last = walk.ended() && candidates.waiting() == 0;
        encoder.encode(last);
    }
    length = encoder.end();
    count = encoder.count();
    end = encoder.next();
}

// Writes the first `slot` bytes of each super-cluster's record (a multiple of 4) to its slot and the windows
// beyond to the overflow, and the entry counts and lengths of all records. If foreign rows follow the owned
// ones, from the next super-cluster on, `interior` and `boundary` become 1 and 0 for records without such
// rows, 0 and 1 for others; otherwise both are null.
// Launch: one warp per super-cluster, blocks of BUILD_WARPS. Floor: about 13,000 instructions per
// super-cluster at 194 neighbors, symmetric; memory traffic is the boxes and positions of the surroundings,
// mostly from caches.
extern "C" __global__ void __launch_bounds__(BUILD_WARPS * 32, BUILD_BLOCKS)
    list_build(const __grid_constant__ ListBuildArguments args) {
    __shared__ BuildMemory memory[BUILD_WARPS];
    const unsigned record = warp_of_grid(), slot = args.slot;
    if (record >= args.super_clusters) { return; }
    const ListRequest request = list_request(args.search);
    unsigned count, length, end;
    const RecordPlace place = {args.slots + static_cast<unsigned long long>(slot) * record, slot, record,
                               args.overflow};
    build_record(request, args.first + record, memory[warp_of_block()], place, count, length, end);
    if (lane_index() == 0) {
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
