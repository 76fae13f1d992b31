// Printed from src/device/arguments: change it there, then run
// HILBRIUM_PRINT=1 cargo test --test device kernel_arguments
#pragma once

#include "../arguments/layout.cuh"
#include "../arguments/far_gravity.cuh"

namespace hilbrium {

struct Node;
struct TargetBox;

// Boxes of targets with an estimate of their acceleration.
struct TargetsArguments {
    // The particles.
    GravitySources sources;
    // Nodes of this rank.
    const Node* nodes;
    // Coarse nodes of other ranks.
    const Node* others;
    // Number of coarse nodes.
    unsigned other_count;
    // Squared softening length.
    float squared_softening;
    // The boxes.
    TargetBox* boxes;
    // Super-clusters of a batch of walks.
    unsigned batch;
    // Super-clusters in the order of their walks.
    unsigned* order;
    // Numbers of long and of other walks put into the order of each batch.
    unsigned* placed;
};
HILBRIUM_SIZE(TargetsArguments, 120)
HILBRIUM_OFFSET(TargetsArguments, sources, 0)
HILBRIUM_OFFSET(TargetsArguments, nodes, 64)
HILBRIUM_OFFSET(TargetsArguments, others, 72)
HILBRIUM_OFFSET(TargetsArguments, other_count, 80)
HILBRIUM_OFFSET(TargetsArguments, squared_softening, 84)
HILBRIUM_OFFSET(TargetsArguments, boxes, 88)
HILBRIUM_OFFSET(TargetsArguments, batch, 96)
HILBRIUM_OFFSET(TargetsArguments, order, 104)
HILBRIUM_OFFSET(TargetsArguments, placed, 112)

// Boxes of the nodes of a level.
struct JoinBoxesArguments {
    // Number of rows.
    unsigned rows;
    // The level, at least 1.
    unsigned level;
    // Boxes of super-clusters.
    const TargetBox* boxes;
    // Boxes of the level's nodes.
    TargetBox* joined;
};
HILBRIUM_SIZE(JoinBoxesArguments, 24)
HILBRIUM_OFFSET(JoinBoxesArguments, rows, 0)
HILBRIUM_OFFSET(JoinBoxesArguments, level, 4)
HILBRIUM_OFFSET(JoinBoxesArguments, boxes, 8)
HILBRIUM_OFFSET(JoinBoxesArguments, joined, 16)

}  // namespace hilbrium

extern "C" __global__ void gravity_targets(
    const __grid_constant__ hilbrium::TargetsArguments args);
extern "C" __global__ void gravity_join_boxes(
    const __grid_constant__ hilbrium::JoinBoxesArguments args);
