// The hierarchy over rows: an implicit octree over rows that are sorted along the Hilbert curve.
//
// Level 0 consists of the clusters (rows 8n .. 8n + 8), level 1 of the super-clusters (64 rows), level k of
// groups of 8^(k+1) rows. Node n of level k > 0 has the children 8n .. 8n + 8 of level k - 1. Levels 0 and 1
// always exist, further ones until a level has at most 8 nodes: hierarchy_levels(rows) in total. Tree walks
// start at the last one.
//
// Memory: the nodes of all levels in sequence, level 0 first. Every level is padded with empty nodes to a
// multiple of 8, so that the 8 children of any node can be read and start at a multiple of 8. Node n of level
// k is element hierarchy_offset(rows, k) + n of
//     double center[3][nodes]   center of the box of the positions, in units of the simulation,
//     float4 extent[nodes]      x, y, z: half widths of that box, w: largest radius; both in the list's unit
//                               of length (positions times `scale`) and rounded up. w = -1, and all else
//                               0, for a node without particles (only ghosts, or beyond the last row),
// with nodes = hierarchy_nodes(rows). That is rows / 7 nodes of 40 bytes: 5.7 bytes per row.
// On every level, boxes are those of the particles themselves, not of the child boxes; radii do not widen
// them. Mirrors src/neighbors/cluster.rs (ClusterBox), whose boxes equal level 0 bit for bit.
#pragma once

#include "../device.cuh"

namespace hilbrium {

// Rows per node of a level: 8, 64, 512, ...
__device__ inline unsigned long long hierarchy_rows_of_node(unsigned level) { return 8ull << (3 * level); }

// Number of nodes of a level that have rows.
__device__ inline unsigned hierarchy_count(unsigned rows, unsigned level) {
    return unsigned((rows + hierarchy_rows_of_node(level) - 1) >> (3 * level + 3));
}

// Number of nodes of a level including padding to a multiple of 8; at least 8.
__device__ inline unsigned hierarchy_padded_count(unsigned rows, unsigned level) {
    const unsigned count = hierarchy_count(rows, level);
    return count == 0 ? 8 : (count + 7) & ~7u;
}

// First element of a level; for the number of levels, the total number of nodes.
__device__ inline unsigned hierarchy_offset(unsigned rows, unsigned level) {
    unsigned offset = 0;
    for (unsigned below = 0; below < level; ++below) {
        offset += hierarchy_padded_count(rows, below);
    }
    return offset;
}

// Number of levels: 2 up to 512 rows, at most 10.
__device__ inline unsigned hierarchy_levels(unsigned rows) {
    unsigned levels = 2;
    while (hierarchy_count(rows, levels - 1) > 8) {
        ++levels;
    }
    return levels;
}

// Total number of nodes.
__device__ inline unsigned hierarchy_nodes(unsigned rows) { return hierarchy_offset(rows, hierarchy_levels(rows)); }

// Rounds a length up to single precision, as `up` of src/neighbors/cluster.rs.
__device__ inline float round_up(double length) { return float(length * (1.0 + 2e-7)) + 1.17549435e-38f; }

} // namespace hilbrium
