//! Storage for what exceeds the slots of list records.

use super::Output;
use super::twin::Element;

kernel_arguments! {
    unit "neighbors/overflow";

    /// Part of a record: a window of the encoder that did not fit into the slot.
    pub struct OverflowWindow {
        /// The record.
        pub record: u32,
        /// Offset in the record, in bytes.
        pub offset: u32,
        /// Number of words.
        pub words: u32,
        /// The words: nibbles in the order of the record's bytes.
        pub code: [u32; 64],
    }

    /// Storage of the windows that do not fit into slots.
    pub struct RecordOverflow {
        /// The windows, in any order.
        pub windows: Output<OverflowWindow>,
        /// Number of windows, initially 0. If it exceeds the capacity, those beyond were not stored.
        pub count: Output<u32>,
        /// Number of windows that fit.
        pub capacity: u32,
    }
}

impl Element for OverflowWindow {
    fn name() -> String {
        "OverflowWindow".into()
    }
}
