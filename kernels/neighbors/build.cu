// Builds the neighbor cluster list of each super-cluster: mirrors ClusterList::build bit for bit.
//
// One warp per super-cluster walks the hierarchy, tests the clusters and encodes those with pairs. The length
// of a record is not known in advance. The first kernel therefore writes each record to a slot of fixed size
// and stores its length. After a prefix sum, a second kernel compacts the records in order. Records longer
// than a slot are built again, directly at their destination. Hence lists are the same bytes in every run,
// and of any length.
//
// Pruning (HILBRIUM_PRUNE) takes the candidate clusters from the records of a longer list instead of the
// walk: mirrors ClusterList::prune.
#include "../device.cuh"
#include "../neighbors/walk.cuh"

namespace hilbrium {

#ifndef HILBRIUM_PERIODIC
#define HILBRIUM_PERIODIC 1
#endif
#ifndef HILBRIUM_PRUNE
#define HILBRIUM_PRUNE 0
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

// Records of a longer list, for pruning.
struct LongerList {
    const unsigned char* data;
    const unsigned long long* offsets;
    const unsigned* counts;
};

// Finds and encodes the neighbor clusters of a super-cluster. Sets, in all lanes, the number of entries, the
// length of the record (bytes), and one more than its last entry (0 if it has none).
__device__ __forceinline__ void build_record(const ListRequest& request, LongerList longer, unsigned first,
                                             unsigned record, BuildMemory& memory, RecordPlace place,
                                             unsigned& count, unsigned& length, unsigned& end) {
    const unsigned super_cluster = first + record;
    count = length = end = 0;
    if (request.extent[hierarchy_padded_count(request.rows, 0) + super_cluster].w < 0.0f) { return; }
    if (lane_index() == 0) { memory.request = request; }
    const Frame& frame = memory.frame;
    prepare(request, super_cluster, memory.frame);
    Encoder encoder{memory.encoder};
    encoder.begin(place);
    Candidates<HILBRIUM_PERIODIC> candidates{request, memory.request, frame, memory.candidates, encoder};
#if HILBRIUM_PRUNE
    RecordScan<HILBRIUM_PERIODIC> source{request, frame, {longer.data, longer.offsets[record], longer.counts[record]}};
#else
    Walk<HILBRIUM_PERIODIC> source{request, frame, memory.walk};
    source.begin();
#endif
    for (bool last = false; !last;) {
        while (candidates.waiting() < WARP && !source.ended()) { source.open(candidates); }
        if (candidates.waiting() > 0) { candidates.decide(smaller(candidates.waiting(), WARP)); }
        last = source.ended() && candidates.waiting() == 0;
        encoder.encode(last);
    }
    length = encoder.end();
    count = encoder.count();
    end = encoder.next();
}

#define HILBRIUM_BUILD_PARAMETERS                                                                                    \
    HILBRIUM_REQUEST_PARAMETERS, const unsigned char *longer_data, const unsigned long long *longer_offsets,         \
        const unsigned *longer_counts, unsigned first, unsigned super_clusters, unsigned slot

// Writes the records of super-clusters that fit into slots of `slot` bytes (a multiple of 4), and the entry
// counts and lengths of all records. unfit[0], initially 0, counts the records that do not fit; their numbers
// follow. If foreign rows follow the owned ones, from the next super-cluster on, `inner` and `outer` become 1
// and 0 for records without such rows, 0 and 1 for others; otherwise both are null.
// Launch: one warp per super-cluster, blocks of BUILD_WARPS. Floor: about 13,000 instructions per
// super-cluster at 194 neighbors, symmetric; memory traffic is the boxes and positions of the surroundings,
// mostly from caches.
extern "C" __global__ void __launch_bounds__(BUILD_WARPS * 32, BUILD_BLOCKS)
    list_build(HILBRIUM_BUILD_PARAMETERS, unsigned char* slots, unsigned* counts, unsigned* lengths, unsigned* unfit,
               unsigned char* inner, unsigned char* outer) {
    __shared__ BuildMemory memory[BUILD_WARPS];
    const unsigned record = warp_of_grid();
    if (record >= super_clusters) { return; }
    const ListRequest request = HILBRIUM_REQUEST;
    unsigned count, length, end;
    const RecordPlace place = {slots + static_cast<unsigned long long>(slot) * record, slot, true};
    build_record(request, {longer_data, longer_offsets, longer_counts}, first, record, memory[warp_of_block()], place,
                 count, length, end);
    if (lane_index() == 0) {
        if (outer != nullptr) {
            const unsigned others = (owned_end + SUPER_CLUSTER - 1u) / SUPER_CLUSTER * CLUSTERS;
            inner[record] = end > others ? 0 : 1;
            outer[record] = end > others ? 1 : 0;
        }
        counts[record] = count;
        lengths[record] = length;
        if (length > slot) { unfit[1 + atomicAdd(unfit, 1u)] = record; }
    }
}
HILBRIUM_EXPORT(list_build)

// Builds the records that did not fit into slots, directly at their destination. Launch: any number of blocks
// of BUILD_WARPS.
extern "C" __global__ void __launch_bounds__(BUILD_WARPS * 32, BUILD_BLOCKS)
    list_rebuild(HILBRIUM_BUILD_PARAMETERS, const unsigned* unfit, const unsigned long long* offsets,
                 unsigned char* data) {
    __shared__ BuildMemory memory[BUILD_WARPS];
    const ListRequest request = HILBRIUM_REQUEST;
    for (unsigned k = warp_of_grid(); k < *unfit; k += warps_of_grid()) {
        const unsigned record = unfit[1 + k];
        const unsigned long long begin = offsets[record];
        const RecordPlace place = {data + begin, static_cast<unsigned>(offsets[record + 1] - begin), false};
        unsigned count, length, end;
        build_record(request, {longer_data, longer_offsets, longer_counts}, first, record, memory[warp_of_block()],
                     place, count, length, end);
    }
}
HILBRIUM_EXPORT(list_rebuild)

// Moves the records that fit into slots to their destination. Launch: one warp per record, blocks of whole
// warps. Floor: the bytes of the list, twice.
extern "C" __global__ void list_place(unsigned records, unsigned slot, const unsigned char* slots,
                                      const unsigned long long* offsets, unsigned char* data) {
    const unsigned record = warp_of_grid();
    if (record >= records) { return; }
    const unsigned long long begin = offsets[record];
    const unsigned length = static_cast<unsigned>(offsets[record + 1] - begin);
    if (length > slot) { return; }
    const unsigned char* from = slots + static_cast<unsigned long long>(slot) * record;
    for (unsigned byte = lane_index(); byte < length; byte += WARP) { data[begin + byte] = from[byte]; }
}
HILBRIUM_EXPORT(list_place)

// The largest finite coordinate magnitude of the boxes of the first `clusters` elements of a hierarchy.
// `magnitude` is initially 0. Launch: any grid. Floor: 40 bytes per cluster.
extern "C" __global__ void list_magnitude(unsigned clusters, const double* center, const float4* extent,
                                          unsigned nodes, double unit, unsigned long long* magnitude) {
    double largest = 0.0;
    for (unsigned long long cluster = thread_of_grid(); cluster < clusters; cluster += threads_of_grid()) {
        const float4 box = extent[cluster];
        if (box.w < 0.0f) { continue; }
        double own = 0.0;
        own = fmax(own, plus(fabs(center[cluster]), times(double(box.x), unit)));
        own = fmax(own, plus(fabs(center[nodes + cluster]), times(double(box.y), unit)));
        own = fmax(own, plus(fabs(center[2ull * nodes + cluster]), times(double(box.z), unit)));
        if (own <= 1.7976931348623157e308) { largest = fmax(largest, own); }
    }
    largest = warp_largest(largest);
    // The bit patterns of non-negative doubles are ordered like their values.
    if (lane_index() == 0) { atomicMax(magnitude, static_cast<unsigned long long>(__double_as_longlong(largest))); }
}
HILBRIUM_EXPORT(list_magnitude)

}  // namespace hilbrium
