// Printed from src/device/arguments: change it there, then run
// HILBRIUM_PRINT=1 cargo test --test device kernel_arguments
#pragma once

#include "../arguments/layout.cuh"
#include "../pair/real.cuh"

namespace hilbrium {

struct TargetBox;

// The particles of a rank.
struct GravitySources {
    // Positions.
    const double* position[3];
    // Masses.
    const double* mass;
    // Identities.
    const unsigned long long* id;
    // Number of rows.
    unsigned rows;
    // Factor that brings lengths to order one.
    double length_unit;
    // Factor that brings masses to order one.
    double mass_unit;
};
HILBRIUM_SIZE(GravitySources, 64)
HILBRIUM_OFFSET(GravitySources, position, 0)
HILBRIUM_OFFSET(GravitySources, mass, 24)
HILBRIUM_OFFSET(GravitySources, id, 32)
HILBRIUM_OFFSET(GravitySources, rows, 40)
HILBRIUM_OFFSET(GravitySources, length_unit, 48)
HILBRIUM_OFFSET(GravitySources, mass_unit, 56)

// The multipole acceptance criterion (kernels/far/opening.cuh).
struct OpeningParameters {
    // A cluster, and a larger node, is accepted beyond this times its radius.
    float size_by_angle[2];
    // A node is accepted beyond its radius plus this, the range of softening.
    float range;
    // Accepted error over the acceleration: of a cluster, and of a larger node (relative criterion).
    float relative[2];
    // Accepted error of the local expansion over the acceleration.
    float far;
    // Periodic box: cut of the short-range part.
    float cut;
    // Periodic box: radius above which a node is opened.
    float widest;
};
HILBRIUM_SIZE(OpeningParameters, 32)
HILBRIUM_OFFSET(OpeningParameters, size_by_angle, 0)
HILBRIUM_OFFSET(OpeningParameters, range, 8)
HILBRIUM_OFFSET(OpeningParameters, relative, 12)
HILBRIUM_OFFSET(OpeningParameters, far, 20)
HILBRIUM_OFFSET(OpeningParameters, cut, 24)
HILBRIUM_OFFSET(OpeningParameters, widest, 28)

// Fields and candidates of groups of eight super-clusters (kernels/far/groups.cu).
struct GroupFields {
    // Boxes of all groups.
    const TargetBox* boxes;
    // Terms of the expansions of some groups.
    Real* terms;
    // Candidates of these groups.
    unsigned* candidates;
    // Three counts of each of these groups, or null.
    unsigned* counts;
    // Most candidates of a group.
    unsigned capacity;
};
HILBRIUM_SIZE(GroupFields, 40)
HILBRIUM_OFFSET(GroupFields, boxes, 0)
HILBRIUM_OFFSET(GroupFields, terms, 8)
HILBRIUM_OFFSET(GroupFields, candidates, 16)
HILBRIUM_OFFSET(GroupFields, counts, 24)
HILBRIUM_OFFSET(GroupFields, capacity, 32)

// The force split of a periodic box (kernels/far/split.cuh), in the walk's unit of length. All zero in an
// open box.
struct SplitArguments {
    // Edges of the box.
    double period[3];
    // Lower corner of all particles, or below.
    double lower[3];
    // Upper corner of all particles, or above.
    double upper[3];
    // Cut of the short-range part.
    double cut;
    // Factor of the squared distance in the variable of the polynomials.
    double scale;
    // Coefficients of five polynomials in double precision, 18 each.
    double in_double[90];
    // The same in single precision, 9 each, and one unused.
    float in_single[46];
};
HILBRIUM_SIZE(SplitArguments, 992)
HILBRIUM_OFFSET(SplitArguments, period, 0)
HILBRIUM_OFFSET(SplitArguments, lower, 24)
HILBRIUM_OFFSET(SplitArguments, upper, 48)
HILBRIUM_OFFSET(SplitArguments, cut, 72)
HILBRIUM_OFFSET(SplitArguments, scale, 80)
HILBRIUM_OFFSET(SplitArguments, in_double, 88)
HILBRIUM_OFFSET(SplitArguments, in_single, 808)

}  // namespace hilbrium
