// Printed from src/device/arguments: change it there, then run
// HILBRIUM_PRINT=1 cargo test --test device kernel_arguments
#pragma once

#include "../arguments/layout.cuh"
#include "../arguments/far_gravity.cuh"

namespace hilbrium {

struct Multipole;
struct Node;

// Multipoles of levels 0 to 2.
struct MomentsOfRowsArguments {
    // The particles.
    GravitySources sources;
    // Nodes.
    Node* nodes;
    // Multipoles of nodes.
    Multipole* multipoles;
};
HILBRIUM_SIZE(MomentsOfRowsArguments, 80)
HILBRIUM_OFFSET(MomentsOfRowsArguments, sources, 0)
HILBRIUM_OFFSET(MomentsOfRowsArguments, nodes, 64)
HILBRIUM_OFFSET(MomentsOfRowsArguments, multipoles, 72)

// Multipoles of a level from the one below.
struct MomentsOfLevelArguments {
    // Number of rows.
    unsigned rows;
    // The level.
    unsigned level;
    // Nodes.
    Node* nodes;
    // Multipoles of nodes.
    Multipole* multipoles;
};
HILBRIUM_SIZE(MomentsOfLevelArguments, 24)
HILBRIUM_OFFSET(MomentsOfLevelArguments, rows, 0)
HILBRIUM_OFFSET(MomentsOfLevelArguments, level, 4)
HILBRIUM_OFFSET(MomentsOfLevelArguments, nodes, 8)
HILBRIUM_OFFSET(MomentsOfLevelArguments, multipoles, 16)

// Radii of nodes.
struct NodeRadiiArguments {
    // Number of rows.
    unsigned rows;
    // The level whose spheres are enclosed.
    unsigned from;
    // Nodes.
    Node* nodes;
};
HILBRIUM_SIZE(NodeRadiiArguments, 16)
HILBRIUM_OFFSET(NodeRadiiArguments, rows, 0)
HILBRIUM_OFFSET(NodeRadiiArguments, from, 4)
HILBRIUM_OFFSET(NodeRadiiArguments, nodes, 8)

}  // namespace hilbrium

extern "C" __global__ void gravity_moments_of_rows(
    const __grid_constant__ hilbrium::MomentsOfRowsArguments args);
extern "C" __global__ void gravity_moments_of_level(
    const __grid_constant__ hilbrium::MomentsOfLevelArguments args);
extern "C" __global__ void gravity_radii(
    const __grid_constant__ hilbrium::NodeRadiiArguments args);
