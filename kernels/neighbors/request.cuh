// Input of all neighbor searches: mirrors ListRequest and Near of src/neighbors.
#pragma once

#include "../device.cuh"
#include "../arguments/neighbors_search.cuh"
#include "../tree/hierarchy.cuh"

namespace hilbrium {

// Columns of all rows, the hierarchy over them, and the requested pairs.
struct ListRequest {
    unsigned rows;
    unsigned owned_begin;  // a multiple of 64
    unsigned owned_end;
    bool symmetric;
    const double* position[3];
    const double* radius;
    const unsigned long long* id;
    const double* center;  // of the hierarchy: center[d * nodes + element]
    const float4* extent;
    unsigned nodes;
    double scale;      // one over the unit of length, both powers of two
    double period[3];  // edges of periodic dimensions, 0 for open ones
    double slack;      // above the absolute error of a distance in double precision

    __device__ __forceinline__ double widest_period() const { return larger(larger(period[0], period[1]), period[2]); }

    // Returns whether a row has neighbors in this list: it is owned and not a ghost.
    __device__ __forceinline__ bool acts(unsigned row) const {
        return row >= owned_begin && row < owned_end && row < rows && id[row] != GHOST;
    }

    // Returns whether a row can be a neighbor.
    __device__ __forceinline__ bool exists(unsigned row) const { return row < rows && id[row] != GHOST; }
};

// Bound of the error of distances: 16 ulp of the largest coordinate magnitude plus the largest period.
__device__ __forceinline__ double slack_of(double magnitude, double widest_period) {
    return 16.0 * 2.220446049250313e-16 * (magnitude + widest_period);
}

// Builds the request of a kernel's arguments. Without a magnitude, the slack is 0.
__device__ __forceinline__ ListRequest list_request(const ListSearch& search) {
    const double* const period = search.period;
    return {search.rows,
            search.owned.begin,
            search.owned.end,
            search.symmetric != 0,
            {search.position[0], search.position[1], search.position[2]},
            search.radius,
            search.id,
            search.center,
            search.extent,
            search.nodes,
            search.scale,
            {period[0], period[1], period[2]},
            search.magnitude == nullptr
                ? 0.0
                : slack_of(*search.magnitude, larger(larger(period[0], period[1]), period[2]))};
}

}  // namespace hilbrium
