// Printed from src/device/arguments: change it there, then run
// HILBRIUM_PRINT=1 cargo test --test device kernel_arguments
#pragma once

#include "../arguments/layout.cuh"
#include "../arguments/far_gravity.cuh"

namespace hilbrium {

struct Multipole;
struct Node;
struct TargetBox;

// One level of the cuts for other ranks.
struct CutArguments {
    // Number of rows.
    unsigned rows;
    // The level.
    unsigned level;
    // Nodes.
    const Node* nodes;
    // Boxes of other ranks.
    const TargetBox* boxes;
    // The first box of each section, then the number of boxes.
    const unsigned* first_box;
    // Number of sections: ranks with boxes.
    unsigned sections;
    // The acceptance criterion.
    OpeningParameters opening;
    // Marks.
    unsigned char* marks;
};
HILBRIUM_SIZE(CutArguments, 80)
HILBRIUM_OFFSET(CutArguments, rows, 0)
HILBRIUM_OFFSET(CutArguments, level, 4)
HILBRIUM_OFFSET(CutArguments, nodes, 8)
HILBRIUM_OFFSET(CutArguments, boxes, 16)
HILBRIUM_OFFSET(CutArguments, first_box, 24)
HILBRIUM_OFFSET(CutArguments, sections, 32)
HILBRIUM_OFFSET(CutArguments, opening, 36)
HILBRIUM_OFFSET(CutArguments, marks, 72)

// Counts of the cuts' elements.
struct CountCutArguments {
    // Number of rows.
    unsigned rows;
    // Number of sections.
    unsigned sections;
    // Marks.
    const unsigned char* marks;
    // Elements of each warp.
    unsigned* elements;
    // Clusters with particles of each warp.
    unsigned* clusters;
    // Totals of elements and clusters of each section, initially 0.
    unsigned* totals;
};
HILBRIUM_SIZE(CountCutArguments, 40)
HILBRIUM_OFFSET(CountCutArguments, rows, 0)
HILBRIUM_OFFSET(CountCutArguments, sections, 4)
HILBRIUM_OFFSET(CountCutArguments, marks, 8)
HILBRIUM_OFFSET(CountCutArguments, elements, 16)
HILBRIUM_OFFSET(CountCutArguments, clusters, 24)
HILBRIUM_OFFSET(CountCutArguments, totals, 32)

// Packing of the cuts' elements.
struct PackCutArguments {
    // The particles.
    GravitySources sources;
    // Number of sections.
    unsigned sections;
    // Marks.
    const unsigned char* marks;
    // Number of elements before each warp.
    const unsigned long long* elements_before;
    // Number of clusters with particles before each warp.
    const unsigned long long* clusters_before;
    // Offset added to the cluster numbers of each section.
    const unsigned* shift;
    // Nodes.
    const Node* nodes;
    // Multipoles of nodes.
    const Multipole* multipoles;
    // Nodes of the elements.
    Node* packed_nodes;
    // Multipoles of the elements.
    Multipole* packed_multipoles;
    // Cluster of each element, or NO_PARTICLES.
    unsigned* places;
    // Coordinates and masses of clusters.
    double* particles;
};
HILBRIUM_SIZE(PackCutArguments, 152)
HILBRIUM_OFFSET(PackCutArguments, sources, 0)
HILBRIUM_OFFSET(PackCutArguments, sections, 64)
HILBRIUM_OFFSET(PackCutArguments, marks, 72)
HILBRIUM_OFFSET(PackCutArguments, elements_before, 80)
HILBRIUM_OFFSET(PackCutArguments, clusters_before, 88)
HILBRIUM_OFFSET(PackCutArguments, shift, 96)
HILBRIUM_OFFSET(PackCutArguments, nodes, 104)
HILBRIUM_OFFSET(PackCutArguments, multipoles, 112)
HILBRIUM_OFFSET(PackCutArguments, packed_nodes, 120)
HILBRIUM_OFFSET(PackCutArguments, packed_multipoles, 128)
HILBRIUM_OFFSET(PackCutArguments, places, 136)
HILBRIUM_OFFSET(PackCutArguments, particles, 144)

}  // namespace hilbrium

extern "C" __global__ void gravity_cut(
    const __grid_constant__ hilbrium::CutArguments args);
extern "C" __global__ void gravity_count_cut(
    const __grid_constant__ hilbrium::CountCutArguments args);
extern "C" __global__ void gravity_pack_cut(
    const __grid_constant__ hilbrium::PackCutArguments args);
