// Assigns the pairs of two super-clusters to one of them in a half list: mirrors src/neighbors/half.rs.
#pragma once

#include "../neighbors/request.cuh"

namespace hilbrium {

// Returns whether all clusters in [begin, end) belong to super-clusters that list this one, so that it does
// not list them. The whole super-clusters form a closed loop along the curve, and each lists the half of them
// that follows it.
__device__ __forceinline__ bool listed_there(const ListRequest& request, unsigned super_cluster, unsigned begin,
                                             unsigned end) {
    const unsigned first = request.owned_begin / CLUSTER;
    const unsigned owned_end = request.owned_end == request.rows ? request.rows + SUPER_CLUSTER - 1 : request.owned_end;
    const unsigned count = owned_end / SUPER_CLUSTER - first / CLUSTERS, clusters = CLUSTERS * count;
    const unsigned place = super_cluster - first / CLUSTERS, own = CLUSTERS * place;
    if (begin < first || end > first + clusters) { return false; }
    // A partial super-cluster lists no whole one.
    if (place >= count) { return true; }
    const unsigned listed = 1 + (count - 1) / 2 + (count % 2 == 0 && place < count / 2 ? 1 : 0);
    const unsigned from = begin - first, to = end - first;
    if (from >= own) { return from - own >= CLUSTERS * listed; }
    return to <= own && from + clusters - own >= CLUSTERS * listed;
}

}  // namespace hilbrium
