// Printed from src/device/arguments: change it there, then run
// HILBRIUM_PRINT=1 cargo test --test device kernel_arguments
#pragma once

#include "../arguments/layout.cuh"

namespace hilbrium {

// Part of a record: a window of the encoder that did not fit into the slot.
struct OverflowWindow {
    // The record.
    unsigned record;
    // Offset in the record, in bytes.
    unsigned offset;
    // Number of words.
    unsigned words;
    // The words: nibbles in the order of the record's bytes.
    unsigned code[64];
};
HILBRIUM_SIZE(OverflowWindow, 268)
HILBRIUM_OFFSET(OverflowWindow, record, 0)
HILBRIUM_OFFSET(OverflowWindow, offset, 4)
HILBRIUM_OFFSET(OverflowWindow, words, 8)
HILBRIUM_OFFSET(OverflowWindow, code, 12)

// Storage of the windows that do not fit into slots.
struct RecordOverflow {
    // The windows, in any order.
    OverflowWindow* windows;
    // Number of windows, initially 0. If it exceeds the capacity, those beyond were not stored.
    unsigned* count;
    // Number of windows that fit.
    unsigned capacity;
};
HILBRIUM_SIZE(RecordOverflow, 24)
HILBRIUM_OFFSET(RecordOverflow, windows, 0)
HILBRIUM_OFFSET(RecordOverflow, count, 8)
HILBRIUM_OFFSET(RecordOverflow, capacity, 16)

}  // namespace hilbrium
