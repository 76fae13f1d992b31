// Printed from src/device/arguments: change it there, then run
// HILBRIUM_PRINT=1 cargo test --test device kernel_arguments
#pragma once

#include "../arguments/layout.cuh"
#include "../pair/real.cuh"

namespace hilbrium {

namespace pair { struct Real4; }

// A grid of cells; the index of cell (x, y, z) is x + nx (y + ny z).
struct CellGrid {
    // Lower corner.
    double lower[3];
    // Upper corner.
    double upper[3];
    // Widths of a cell.
    double width[3];
    // One over the widths.
    double inverse[3];
    // Cells of each dimension.
    unsigned counts[3];
    // Bit d: dimension d is periodic.
    unsigned periodic;
};
HILBRIUM_SIZE(CellGrid, 112)
HILBRIUM_OFFSET(CellGrid, lower, 0)
HILBRIUM_OFFSET(CellGrid, upper, 24)
HILBRIUM_OFFSET(CellGrid, width, 48)
HILBRIUM_OFFSET(CellGrid, inverse, 72)
HILBRIUM_OFFSET(CellGrid, counts, 96)
HILBRIUM_OFFSET(CellGrid, periodic, 108)

// Particles in the order of cells; within a cell in that of rows.
struct CellParticles {
    // Offsets from the cell's center, with the squared radius or the first prepared value.
    const pair::Real4* position;
    // Further prepared values: columns of groups of four.
    const pair::Real4* further;
    // Squared radii, if each row has its own cutoff.
    const Real* squared_radius;
    // Their rows.
    const unsigned* rows;
    // Their cells.
    const unsigned* cells;
    // First particle of each cell, then the number of particles.
    const unsigned* starts;
    // Elements of a column.
    unsigned long long stride;
};
HILBRIUM_SIZE(CellParticles, 56)
HILBRIUM_OFFSET(CellParticles, position, 0)
HILBRIUM_OFFSET(CellParticles, further, 8)
HILBRIUM_OFFSET(CellParticles, squared_radius, 16)
HILBRIUM_OFFSET(CellParticles, rows, 24)
HILBRIUM_OFFSET(CellParticles, cells, 32)
HILBRIUM_OFFSET(CellParticles, starts, 40)
HILBRIUM_OFFSET(CellParticles, stride, 48)

// A sweep over cells.
struct CellPass {
    // The grid.
    CellGrid grid;
    // The particles.
    CellParticles particles;
    // The first row whose sums are wanted.
    unsigned begin;
    // One past the last row whose sums are wanted.
    unsigned end;
    // Not 0 for rows whose sums are wanted, or null for all rows.
    const unsigned char* active;
    // Common cutoff of all pairs, for laws that have one.
    double cutoff;
    // Sums of rows.
    Real* sums;
};
HILBRIUM_SIZE(CellPass, 200)
HILBRIUM_OFFSET(CellPass, grid, 0)
HILBRIUM_OFFSET(CellPass, particles, 112)
HILBRIUM_OFFSET(CellPass, begin, 168)
HILBRIUM_OFFSET(CellPass, end, 172)
HILBRIUM_OFFSET(CellPass, active, 176)
HILBRIUM_OFFSET(CellPass, cutoff, 184)
HILBRIUM_OFFSET(CellPass, sums, 192)

// The work of blocks: sub-boxes with particles, in slices of their particles.
struct CellTasks {
    // Sub-box of each task; x is the fastest.
    const unsigned* boxes;
    // Number of each task within its sub-box.
    const unsigned* slices;
    // Number of tasks.
    const unsigned long long* count;
    // Cells of a sub-box.
    unsigned shape[3];
    // Particles of a slice.
    unsigned slice;
};
HILBRIUM_SIZE(CellTasks, 40)
HILBRIUM_OFFSET(CellTasks, boxes, 0)
HILBRIUM_OFFSET(CellTasks, slices, 8)
HILBRIUM_OFFSET(CellTasks, count, 16)
HILBRIUM_OFFSET(CellTasks, shape, 24)
HILBRIUM_OFFSET(CellTasks, slice, 36)

}  // namespace hilbrium
