// Which of two super-clusters has their pairs in a half list: mirrors src/neighbors/half.rs.
#pragma once

#include "request.cuh"

namespace hilbrium {

// Whether all clusters from `begin` to before `end` are of super-clusters that list another one, which therefore does not
// list them: the half of the whole ones that it follows along the curve, where this is closed.
__device__ __forceinline__ bool listed_there(const ListRequest& request, unsigned super_cluster, unsigned begin,
                                             unsigned end) {
    const unsigned first = request.owned_begin / CLUSTER;
    const unsigned owned_end = request.owned_end == request.rows ? request.rows + SUPER_CLUSTER - 1 : request.owned_end;
    const unsigned count = owned_end / SUPER_CLUSTER - first / CLUSTERS, clusters = CLUSTERS * count;
    const unsigned place = super_cluster - first / CLUSTERS, own = CLUSTERS * place;
    if (begin < first || end > first + clusters) { return false; }
    // one that is not whole lists none of these
    if (place >= count) { return true; }
    const unsigned listed = 1 + (count - 1) / 2 + (count % 2 == 0 && place < count / 2 ? 1 : 0);
    const unsigned from = begin - first, to = end - first;
    if (from >= own) { return from - own >= CLUSTERS * listed; }
    return to <= own && from + clusters - own >= CLUSTERS * listed;
}

}  // namespace hilbrium
