//! Foundations of parallel loops: loops with thread affinity, per-thread scratch memory, aligned arrays, sets
//! of rows.

mod aligned;
pub(crate) mod loops;
mod row_ranges;
mod scratch;

pub use aligned::Aligned;
pub(crate) use aligned::zeros;
pub use loops::{map_items, map_then_finalize, reduction_threads, set_reduction_threads, split_range};
pub use row_ranges::RowRanges;
pub(crate) use scratch::{Scratch, ScratchPool};
