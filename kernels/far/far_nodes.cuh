// Far nodes of a walk: collected in a list, and added to a local expansion one per lane.
#pragma once

#include "../far/local.cuh"
#include "../far/opening.cuh"

namespace hilbrium {

// Far nodes that are processed at once: eight per lane, so that the sum over the lanes (150 instructions) is
// cheap beside them. A walk step adds at most 32 to an incomplete chunk.
constexpr unsigned FAR_CHUNK = 256u;

// Nodes and their multipoles.
struct Tree {
    const Node* nodes;
    const Multipole* multipoles;
};

// Adds `count` far nodes, at most FAR_CHUNK, to the local expansion, whose terms are distributed over the
// lanes.
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

// Stores the terms of a local expansion that the lanes have, as `gather_local` reads them.
__device__ __forceinline__ void store_terms(Real* terms, double low, double high) {
    const unsigned lane = lane_index();
    terms[lane] = Real(low);
    if (lane % 8u == 0u) { terms[WARP + lane / 8u] = Real(high); }
}

} // namespace hilbrium
