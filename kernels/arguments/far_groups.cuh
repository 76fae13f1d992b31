// Printed from src/device/arguments: change it there, then run
// HILBRIUM_PRINT=1 cargo test --test device kernel_arguments
#pragma once

#include "../arguments/layout.cuh"
#include "../arguments/far_gravity.cuh"
#include "../pair/real.cuh"

namespace hilbrium {

struct Multipole;
struct Node;
struct TargetBox;

// Far fields and candidates of groups of super-clusters.
struct GroupsArguments {
    // Number of rows of this rank.
    unsigned rows;
    // Number of received elements.
    unsigned received;
    // Nodes of this rank, then those over the received elements.
    const Node* nodes;
    // Multipoles of nodes.
    const Multipole* multipoles;
    // The acceptance criterion of super-clusters.
    OpeningParameters opening;
    // Accepted error of a group's expansion over that of a super-cluster.
    float share;
    // Square of the softening length or of the spline's support.
    double squared_softening;
    // The first group.
    unsigned first;
    // The groups.
    GroupFields groups;
};
HILBRIUM_SIZE(GroupsArguments, 120)
HILBRIUM_OFFSET(GroupsArguments, rows, 0)
HILBRIUM_OFFSET(GroupsArguments, received, 4)
HILBRIUM_OFFSET(GroupsArguments, nodes, 8)
HILBRIUM_OFFSET(GroupsArguments, multipoles, 16)
HILBRIUM_OFFSET(GroupsArguments, opening, 24)
HILBRIUM_OFFSET(GroupsArguments, share, 56)
HILBRIUM_OFFSET(GroupsArguments, squared_softening, 64)
HILBRIUM_OFFSET(GroupsArguments, first, 72)
HILBRIUM_OFFSET(GroupsArguments, groups, 80)

}  // namespace hilbrium

extern "C" __global__ void gravity_groups(
    const __grid_constant__ hilbrium::GroupsArguments args);
