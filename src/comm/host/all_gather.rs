//! All-gather of small messages among the ranks of one host, through shared memory.
//!
//! Each rank writes its bytes to its own segment; all ranks read them. Segments are double-buffered: the
//! bytes of round t lie in half t % 2, and `round >= t` publishes them. A rank starts round t + 2 after it
//! has read round t + 1 of every rank. These wrote round t + 1 after they had read round t. Hence the half
//! that is overwritten has no reader left.

use super::{AllGather, Line, PAGE, Place, Segment, SpinLimit, segments};
use std::sync::atomic::{AtomicU64, Ordering};

/// Largest message of one rank (bytes).
pub(in crate::comm) const MAX_BYTES: usize = 8 << 10;

/// Offset of the message halves within a segment (bytes).
const DATA_OFFSET: usize = PAGE;

/// Shared-memory all-gather of the ranks of one host.
pub(in crate::comm) struct Board {
    place: Place,
    segments: Vec<Segment>,
    spin_limit: SpinLimit,
    round: u64,
}

impl Board {
    /// Creates the segments of these ranks. Returns `None` on all ranks if it fails on one. Collective.
    pub fn new(place: Place, all_gather: &AllGather) -> Option<Self> {
        let bytes = DATA_OFFSET + 2 * MAX_BYTES;
        let (segments, spin_limit) = segments(place, bytes, bytes.next_multiple_of(PAGE), all_gather)?;
        Some(Self { place, segments, spin_limit, round: 0 })
    }

    /// Gathers `mine` of each rank into `all`, indexed by place. `all[r]` has the length of rank r's message,
    /// at most [`MAX_BYTES`] bytes. Calls `idle` repeatedly while it waits for other ranks. Collective.
    pub fn all_gather(&mut self, mine: &[u8], all: &mut [&mut [u8]], idle: &dyn Fn()) {
        self.round += 1;
        let (round, begin) = (self.round, DATA_OFFSET + (self.round % 2) as usize * MAX_BYTES);
        let published_round =
            |segment: &Segment| segment.at::<Line<AtomicU64>>(0, 0).0.load(Ordering::Acquire);
        assert!(mine.len() <= MAX_BYTES, "a board is for a few bytes");
        let segment = &self.segments[self.place.own];
        // SAFETY: the range is within the map and the file. Only this rank writes here, and no rank reads
        // this half in this round (module documentation).
        unsafe { &mut *segment.bytes(begin..begin + mine.len()) }.copy_from_slice(mine);
        segment.at::<Line<AtomicU64>>(0, 0).0.store(round, Ordering::Release);
        for (segment, bytes) in self.segments.iter().zip(all) {
            self.spin_limit.wait_until(idle, || published_round(segment) >= round);
            // SAFETY: the range is within the map and the file of that rank. It wrote these bytes before it
            // published the round, and does not change them before this rank has finished the round.
            bytes.copy_from_slice(unsafe { &*segment.bytes(begin..begin + bytes.len()) });
        }
    }
}
