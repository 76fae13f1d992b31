// Printed from src/device/arguments: change it there, then run
// HILBRIUM_PRINT=1 cargo test --test device kernel_arguments
#pragma once

#include "../arguments/layout.cuh"
#include "../arguments/search_grid.cuh"
#include "../pair/real.cuh"

namespace hilbrium {

namespace pair { struct Real4; }

// Rows moved to the sections of their coarse cells.
struct MoveToSectionsArguments {
    // Rows.
    SearchRows rows;
    // Columns to pack.
    SearchColumns columns;
    // Coarse cells.
    SearchGrid grid;
    // Width of borders.
    double reach;
    // First places of sections, then their ends.
    unsigned* sections;
    // Packed rows.
    Places places;
    // Sums, set for rows without a place.
    Real* sums;
};
HILBRIUM_SIZE(MoveToSectionsArguments, 384)
HILBRIUM_OFFSET(MoveToSectionsArguments, rows, 0)
HILBRIUM_OFFSET(MoveToSectionsArguments, columns, 40)
HILBRIUM_OFFSET(MoveToSectionsArguments, grid, 208)
HILBRIUM_OFFSET(MoveToSectionsArguments, reach, 320)
HILBRIUM_OFFSET(MoveToSectionsArguments, sections, 328)
HILBRIUM_OFFSET(MoveToSectionsArguments, places, 336)
HILBRIUM_OFFSET(MoveToSectionsArguments, sums, 376)

// A search of coarse cells.
struct SearchTwoLevelArguments {
    // Packed rows.
    Places places;
    // Ends of sections, four per cell.
    const unsigned* sections;
    // Items: cell and first particle.
    const unsigned* items;
    // Number of items.
    const unsigned* item_count;
    // Number of items taken, initially 0.
    unsigned* items_taken;
    // Most particles of an item.
    unsigned item_particles;
    // Coarse cells.
    SearchGrid grid;
    // Numbers of local cells.
    unsigned local[3];
    // Local cells per length.
    double local_scale[3];
    // Largest distance of a pair.
    double reach;
    // Sums.
    SearchSums sums;
};
HILBRIUM_SIZE(SearchTwoLevelArguments, 272)
HILBRIUM_OFFSET(SearchTwoLevelArguments, places, 0)
HILBRIUM_OFFSET(SearchTwoLevelArguments, sections, 40)
HILBRIUM_OFFSET(SearchTwoLevelArguments, items, 48)
HILBRIUM_OFFSET(SearchTwoLevelArguments, item_count, 56)
HILBRIUM_OFFSET(SearchTwoLevelArguments, items_taken, 64)
HILBRIUM_OFFSET(SearchTwoLevelArguments, item_particles, 72)
HILBRIUM_OFFSET(SearchTwoLevelArguments, grid, 80)
HILBRIUM_OFFSET(SearchTwoLevelArguments, local, 192)
HILBRIUM_OFFSET(SearchTwoLevelArguments, local_scale, 208)
HILBRIUM_OFFSET(SearchTwoLevelArguments, reach, 232)
HILBRIUM_OFFSET(SearchTwoLevelArguments, sums, 240)

}  // namespace hilbrium

extern "C" __global__ void move_to_sections(
    const __grid_constant__ hilbrium::MoveToSectionsArguments args);
extern "C" __global__ void search_two_level(
    const __grid_constant__ hilbrium::SearchTwoLevelArguments args);
