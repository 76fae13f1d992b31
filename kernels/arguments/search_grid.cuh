// Printed from src/device/arguments: change it there, then run
// HILBRIUM_PRINT=1 cargo test --test device kernel_arguments
#pragma once

#include "../arguments/layout.cuh"
#include "../pair/real.cuh"

namespace hilbrium {

namespace pair { struct Real4; }

// A grid of cells.
struct SearchGrid {
    // Lower corner of the first cell.
    double lower[3];
    // Upper corner of the box; used along periodic dimensions.
    double upper[3];
    // Widths of cells, at least the largest distance of a pair.
    double width[3];
    // One over the widths.
    double scale[3];
    // Numbers of cells.
    unsigned cells[3];
    // Bit d: dimension d is periodic.
    unsigned periodic;
};
HILBRIUM_SIZE(SearchGrid, 112)
HILBRIUM_OFFSET(SearchGrid, lower, 0)
HILBRIUM_OFFSET(SearchGrid, upper, 24)
HILBRIUM_OFFSET(SearchGrid, width, 48)
HILBRIUM_OFFSET(SearchGrid, scale, 72)
HILBRIUM_OFFSET(SearchGrid, cells, 96)
HILBRIUM_OFFSET(SearchGrid, periodic, 108)

// Rows of particles.
struct SearchRows {
    // Positions.
    const double* position[3];
    // Identities, or null without ghosts.
    const unsigned long long* id;
    // Number of rows.
    unsigned count;
};
HILBRIUM_SIZE(SearchRows, 40)
HILBRIUM_OFFSET(SearchRows, position, 0)
HILBRIUM_OFFSET(SearchRows, id, 24)
HILBRIUM_OFFSET(SearchRows, count, 32)

// The columns that are packed beside positions.
struct SearchColumns {
    // Interaction radii, or null where all pairs have one cutoff.
    const double* radius;
    // The law's input columns, then null.
    const double* inputs[20];
};
HILBRIUM_SIZE(SearchColumns, 168)
HILBRIUM_OFFSET(SearchColumns, radius, 0)
HILBRIUM_OFFSET(SearchColumns, inputs, 8)

// Places: rows packed in the order of cells.
struct Places {
    // Offsets from the cell's center, with the squared radius, the first prepared value or the row.
    pair::Real4* position;
    // Further prepared values: columns of groups of four.
    pair::Real4* further;
    // Squared radii, if each row has its own cutoff.
    Real* squared_radius;
    // Rows of places, or null where the position holds the row.
    unsigned* row;
    // Number of places of a column.
    unsigned count;
};
HILBRIUM_SIZE(Places, 40)
HILBRIUM_OFFSET(Places, position, 0)
HILBRIUM_OFFSET(Places, further, 8)
HILBRIUM_OFFSET(Places, squared_radius, 16)
HILBRIUM_OFFSET(Places, row, 24)
HILBRIUM_OFFSET(Places, count, 32)

// The sums of a search.
struct SearchSums {
    // Common cutoff of all pairs, for laws that have one.
    double cutoff;
    // The first row whose sums are wanted.
    unsigned begin;
    // One past the last such row.
    unsigned end;
    // Not 0 for rows whose sums are wanted, or null for all of them.
    const unsigned char* active;
    // Sums of rows.
    Real* sums;
};
HILBRIUM_SIZE(SearchSums, 32)
HILBRIUM_OFFSET(SearchSums, cutoff, 0)
HILBRIUM_OFFSET(SearchSums, begin, 8)
HILBRIUM_OFFSET(SearchSums, end, 12)
HILBRIUM_OFFSET(SearchSums, active, 16)
HILBRIUM_OFFSET(SearchSums, sums, 24)

}  // namespace hilbrium
