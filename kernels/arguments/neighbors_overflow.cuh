// Printed from src/device/arguments: change it there, then run
// HILBRIUM_PRINT=1 cargo test --test device kernel_arguments
#pragma once

#include "../arguments/layout.cuh"

namespace hilbrium {

// A part of a record, as the encoder flushes it.
struct OverflowPart {
    // The record.
    unsigned record;
    // Offset of the part in the record, in bytes.
    unsigned offset;
    // Number of words.
    unsigned words;
    // The words: nibbles in the order of the record's bytes.
    unsigned code[64];
};
HILBRIUM_SIZE(OverflowPart, 268)
HILBRIUM_OFFSET(OverflowPart, record, 0)
HILBRIUM_OFFSET(OverflowPart, offset, 4)
HILBRIUM_OFFSET(OverflowPart, words, 8)
HILBRIUM_OFFSET(OverflowPart, code, 12)

// Storage of the parts that do not fit into slots.
struct RecordOverflow {
    // The parts, in any order.
    OverflowPart* parts;
    // Number of parts, initially 0. If it exceeds the capacity, the parts beyond were not stored.
    unsigned* count;
    // Number of parts that fit.
    unsigned capacity;
};
HILBRIUM_SIZE(RecordOverflow, 24)
HILBRIUM_OFFSET(RecordOverflow, parts, 0)
HILBRIUM_OFFSET(RecordOverflow, count, 8)
HILBRIUM_OFFSET(RecordOverflow, capacity, 16)

}  // namespace hilbrium
