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

// The tree walk.
struct WalkArguments {
    // The particles.
    GravitySources sources;
    // Boxes of targets.
    const TargetBox* boxes;
    // Super-clusters in the order of their walks.
    const unsigned* order;
    // The first super-cluster of this batch, a multiple of 8.
    unsigned first;
    // Groups from that of the first super-cluster on.
    GroupFields groups;
    // Nodes of this rank, then those over the received elements.
    const Node* nodes;
    // Multipoles of nodes.
    const Multipole* multipoles;
    // Number of received elements.
    unsigned received;
    // Cluster of each received element, or NO_PARTICLES.
    const unsigned* places;
    // Coordinates and masses of received clusters.
    const double* particles;
    // The acceptance criterion.
    OpeningParameters opening;
    // The force split of a periodic box.
    SplitArguments split;
    // Square of the softening length or of the spline's support.
    double squared_softening;
    // One over the spline's support.
    double inverse_support;
    // The gravitational constant.
    double constant;
    // Minus the self-potential of a unit mass for G = 1.
    double own;
    // Added to each potential: that of the neutralizing background of a periodic box.
    double background;
    // Accelerations, incremented.
    double* acceleration[3];
    // Potentials.
    double* potential;
    // Particles, near and far nodes of each super-cluster, or null.
    unsigned* interactions;
};
HILBRIUM_SIZE(WalkArguments, 1272)
HILBRIUM_OFFSET(WalkArguments, sources, 0)
HILBRIUM_OFFSET(WalkArguments, boxes, 64)
HILBRIUM_OFFSET(WalkArguments, order, 72)
HILBRIUM_OFFSET(WalkArguments, first, 80)
HILBRIUM_OFFSET(WalkArguments, groups, 88)
HILBRIUM_OFFSET(WalkArguments, nodes, 128)
HILBRIUM_OFFSET(WalkArguments, multipoles, 136)
HILBRIUM_OFFSET(WalkArguments, received, 144)
HILBRIUM_OFFSET(WalkArguments, places, 152)
HILBRIUM_OFFSET(WalkArguments, particles, 160)
HILBRIUM_OFFSET(WalkArguments, opening, 168)
HILBRIUM_OFFSET(WalkArguments, split, 200)
HILBRIUM_OFFSET(WalkArguments, squared_softening, 1192)
HILBRIUM_OFFSET(WalkArguments, inverse_support, 1200)
HILBRIUM_OFFSET(WalkArguments, constant, 1208)
HILBRIUM_OFFSET(WalkArguments, own, 1216)
HILBRIUM_OFFSET(WalkArguments, background, 1224)
HILBRIUM_OFFSET(WalkArguments, acceleration, 1232)
HILBRIUM_OFFSET(WalkArguments, potential, 1256)
HILBRIUM_OFFSET(WalkArguments, interactions, 1264)

}  // namespace hilbrium

extern "C" __global__ void gravity_walk(
    const __grid_constant__ hilbrium::WalkArguments args);
