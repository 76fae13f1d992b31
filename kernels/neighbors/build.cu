// Building the list of neighbor clusters of super-clusters: mirrors ClusterList::build, with the same bits.
//
// One warp a super-cluster walks the hierarchy, decides upon the clusters it meets, and codes those it has pairs with.
// A record's length is not known before, so that a first kernel writes each into a slot of its own and notes lengths;
// after a prefix sum a second one moves them together, in order, and records longer than a slot are made once more,
// straight where they belong. So lists are the same bytes in every run, and of any length.
//
// Pruning (HILBRIUM_PRUNE) takes the clusters from the records of a longer list in place of the walk: mirrors
// ClusterList::prune.
#include "../device.cuh"
#include "../neighbors/walk.cuh"

namespace hilbrium {

#ifndef HILBRIUM_PERIODIC
#define HILBRIUM_PERIODIC 1
#endif
#ifndef HILBRIUM_PRUNE
#define HILBRIUM_PRUNE 0
#endif

// Warps of a block, and of them on a multiprocessor.
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
struct Longer {
    const unsigned char* data;
    const unsigned long long* offsets;
    const unsigned* counts;
};

// Finds and codes the neighbor clusters of a super-cluster; entries and bytes of the record, in all lanes, and where
// its last entry ends, 0 where it has none.
__device__ __forceinline__ void build_record(const ListRequest& request, Longer longer, unsigned first, unsigned record,
                                             BuildMemory& memory, RecordPlace place, unsigned& count,
                                             unsigned& length, unsigned& end) {
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
    Listed<HILBRIUM_PERIODIC> source{request, frame, {longer.data, longer.offsets[record], longer.counts[record]}};
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

// Writes the records of super-clusters that fit in slots of `slot` bytes (a multiple of 4), of all of them the entries
// and the lengths, and which do not fit: their number, 0 before, and behind it the records. Where rows of others are
// behind the owned ones, from the next super-cluster on, `inner` and `outer` become 1 and 0 for each record that has
// none of them, 0 and 1 for others; without such rows both are null. One warp a super-cluster, blocks of BUILD_WARPS.
// Floor: about 13,000 instructions a super-cluster at 194 neighbors, symmetric; bytes: what the boxes and positions of
// the surroundings take in caches.
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

// Builds the records once more that did not fit in slots, straight where they belong. Any number of blocks of
// BUILD_WARPS.
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

// Moves the records that fitted in slots to where they belong. One warp a record, blocks of whole warps. Floor: the
// bytes of the list, twice.
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

// The largest magnitude of a coordinate of a cluster's box, not counting what is not finite: of the first `clusters`
// elements of a hierarchy. `magnitude` must be 0 before. Any grid. Floor: 40 bytes a cluster.
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
    // doubles that are not negative are in the order of their bits
    if (lane_index() == 0) { atomicMax(magnitude, static_cast<unsigned long long>(__double_as_longlong(largest))); }
}
HILBRIUM_EXPORT(list_magnitude)

}  // namespace hilbrium
