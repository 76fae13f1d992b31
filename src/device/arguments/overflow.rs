//! Storage for the parts of list records that exceed their slots.

use super::Output;
use super::twin::Element;

kernel_arguments! {
    unit "neighbors/overflow";

    /// A part of a record, as the encoder flushes it.
    pub struct OverflowPart {
        /// The record.
        pub record: u32,
        /// Offset of the part in the record, in bytes.
        pub offset: u32,
        /// Number of words.
        pub words: u32,
        /// The words: nibbles in the order of the record's bytes.
        pub code: [u32; 64],
    }

    /// Storage of the parts that do not fit into slots.
    pub struct RecordOverflow {
        /// The parts, in any order.
        pub parts: Output<OverflowPart>,
        /// Number of parts, initially 0. If it exceeds the capacity, the parts beyond were not stored.
        pub count: Output<u32>,
        /// Number of parts that fit.
        pub capacity: u32,
    }
}

impl Element for OverflowPart {
    fn name() -> String {
        "OverflowPart".into()
    }
}
