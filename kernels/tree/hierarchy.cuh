// The hierarchy over rows: an implicit octree of what is sorted along the Hilbert curve.
//
// Level 0 are the clusters (rows 8n .. 8n + 8), level 1 the super-clusters (64 rows), level k groups of 8^(k+1) rows;
// node n of level k > 0 has the children 8n .. 8n + 8 of level k - 1. Levels 0 and 1 are always there, further ones
// until a level has at most 8 nodes: hierarchy_levels(rows) of them, the last one is where walks begin.
//
// Memory: the nodes of all levels one after another, level 0 first; every level is filled up to a multiple of 8 with
// empty nodes, so that the 8 children of any node may be read, and begin at a multiple of 8. Node n of level k is
// element hierarchy_offset(rows, k) + n of
//     double center[3][nodes]   middle of the box of the positions, units of the simulation,
//     float4 extent[nodes]      x, y, z: half the edges of that box, w: the largest radius; both in the list's unit of
//                               length (positions times `scale`) and rounded up. w = -1, and all else 0, of a node
//                               without particles (ghosts alone, or beyond the last row),
// with nodes = hierarchy_nodes(rows). That is rows / 7 nodes of 40 bytes: 5.7 bytes a row.
// Boxes are those of the particles themselves on every level, not of the boxes below; radii do not widen them.
// Mirrors src/neighbors/cluster.rs (ClusterBox), of which level 0 has the same bits.
#pragma once

#include "../device.cuh"

namespace hilbrium {

// Rows of a node of a level: 8, 64, 512, ...
__device__ inline unsigned long long hierarchy_rows_of_node(unsigned level) { return 8ull << (3 * level); }

// Nodes of a level that have rows.
__device__ inline unsigned hierarchy_count(unsigned rows, unsigned level) {
    return unsigned((rows + hierarchy_rows_of_node(level) - 1) >> (3 * level + 3));
}

// Nodes of a level, the empty ones included that fill it up to a multiple of 8; at least 8.
__device__ inline unsigned hierarchy_padded_count(unsigned rows, unsigned level) {
    const unsigned count = hierarchy_count(rows, level);
    return count == 0 ? 8 : (count + 7) & ~7u;
}

// Where a level begins; of the number of levels: the number of all nodes.
__device__ inline unsigned hierarchy_offset(unsigned rows, unsigned level) {
    unsigned offset = 0;
    for (unsigned below = 0; below < level; ++below) {
        offset += hierarchy_padded_count(rows, below);
    }
    return offset;
}

// The number of levels: 2 up to 512 rows, 10 at most.
__device__ inline unsigned hierarchy_levels(unsigned rows) {
    unsigned levels = 2;
    while (hierarchy_count(rows, levels - 1) > 8) {
        ++levels;
    }
    return levels;
}

// The number of all nodes.
__device__ inline unsigned hierarchy_nodes(unsigned rows) { return hierarchy_offset(rows, hierarchy_levels(rows)); }

// Rounds a length up to single precision, as `up` of src/neighbors/cluster.rs.
__device__ inline float round_up(double length) { return float(length * (1.0 + 2e-7)) + 1.17549435e-38f; }

} // namespace hilbrium
