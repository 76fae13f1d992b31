// Printed from src/device/arguments: change it there, then run
// HILBRIUM_PRINT=1 cargo test --test device kernel_arguments
#pragma once

#include "../arguments/layout.cuh"

namespace hilbrium {

// A range of rows.
struct Rows {
    // The first row.
    unsigned begin;
    // One past the last row.
    unsigned end;
};
HILBRIUM_SIZE(Rows, 8)
HILBRIUM_OFFSET(Rows, begin, 0)
HILBRIUM_OFFSET(Rows, end, 4)

// The simulation box.
struct BoxParameters {
    // Lower corner.
    double lower[3];
    // Upper corner.
    double upper[3];
    // Edges along periodic dimensions, 0 along open ones.
    double period[3];
    // One over the period, 0 along open dimensions.
    double frequency[3];
    // Bit d: dimension d is periodic.
    unsigned periodic;
};
HILBRIUM_SIZE(BoxParameters, 104)
HILBRIUM_OFFSET(BoxParameters, lower, 0)
HILBRIUM_OFFSET(BoxParameters, upper, 24)
HILBRIUM_OFFSET(BoxParameters, period, 48)
HILBRIUM_OFFSET(BoxParameters, frequency, 72)
HILBRIUM_OFFSET(BoxParameters, periodic, 96)

// Columns of particles that move.
struct MovingColumns {
    // Positions.
    double* position[3];
    // Velocities.
    double* velocity[3];
    // Accelerations.
    const double* acceleration[3];
};
HILBRIUM_SIZE(MovingColumns, 72)
HILBRIUM_OFFSET(MovingColumns, position, 0)
HILBRIUM_OFFSET(MovingColumns, velocity, 24)
HILBRIUM_OFFSET(MovingColumns, acceleration, 48)

// Outcome of a drift.
struct DriftReport {
    // Bits of the rows left unchanged because their displacement would be too large.
    unsigned* left;
    // Number of such rows.
    unsigned* refused;
    // Largest squared velocity, or displacement of the Langevin step.
    unsigned long long* largest_square;
    // Displacement over the root of this square: the time step, or 1.
    double scale;
    // Where the displacement that this step may have goes, or null; negative if the step is not
    // performed.
    double* allowed;
    // Words of the previous step of a batch, or null: what it refused, its largest square, its first
    // row that is not finite, and what it was allowed.
    const unsigned long long* previous;
    // What the first step of a batch is allowed.
    double most;
};
HILBRIUM_SIZE(DriftReport, 56)
HILBRIUM_OFFSET(DriftReport, left, 0)
HILBRIUM_OFFSET(DriftReport, refused, 8)
HILBRIUM_OFFSET(DriftReport, largest_square, 16)
HILBRIUM_OFFSET(DriftReport, scale, 24)
HILBRIUM_OFFSET(DriftReport, allowed, 32)
HILBRIUM_OFFSET(DriftReport, previous, 40)
HILBRIUM_OFFSET(DriftReport, most, 48)

}  // namespace hilbrium
