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
};
HILBRIUM_SIZE(DriftReport, 24)
HILBRIUM_OFFSET(DriftReport, left, 0)
HILBRIUM_OFFSET(DriftReport, refused, 8)
HILBRIUM_OFFSET(DriftReport, largest_square, 16)

}  // namespace hilbrium
