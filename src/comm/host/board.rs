//! A board on which each rank of a host writes a few bytes that all read.
//!
//! Bytes of turn t are in half t % 2 of a rank's segment, and `turn >= t` says that they are there. A rank is at turn t + 2 when it has
//! read turn t + 1 of all, which they wrote after they had read turn t: so nobody reads any longer what it overwrites.

use super::{AllGather, Line, Looks, PAGE, Place, Segment, segments};
use std::sync::atomic::{AtomicU64, Ordering};

/// Most bytes of a rank.
pub(in crate::comm) const MOST: usize = 8 << 10;

/// Where bytes begin.
const BYTES: usize = PAGE;

/// The board of a host.
pub(in crate::comm) struct Board {
    place: Place,
    segments: Vec<Segment>,
    looks: Looks,
    turn: u64,
}

impl Board {
    /// The board of these ranks, or none of them has one. Collective.
    pub fn new(place: Place, all_gather: &AllGather) -> Option<Self> {
        let bytes = BYTES + 2 * MOST;
        let (segments, looks) = segments(place, bytes, bytes.next_multiple_of(PAGE), all_gather)?;
        Some(Self { place, segments, looks, turn: 0 })
    }

    /// Everybody's `mine` into `all`, by place: as long as that one's bytes, at most [`MOST`]. `idle` is called again and again while
    /// others are waited for. Collective.
    pub fn all_gather(&mut self, mine: &[u8], all: &mut [&mut [u8]], idle: &dyn Fn()) {
        self.turn += 1;
        let (turn, begin) = (self.turn, BYTES + (self.turn % 2) as usize * MOST);
        let turn_of = |segment: &Segment| segment.at::<Line<AtomicU64>>(0, 0).0.load(Ordering::Acquire);
        assert!(mine.len() <= MOST, "a board is for a few bytes");
        let segment = &self.segments[self.place.own];
        // SAFETY: within the map and the file. Nobody else writes here, and nobody reads: see above.
        unsafe { &mut *segment.bytes(begin..begin + mine.len()) }.copy_from_slice(mine);
        segment.at::<Line<AtomicU64>>(0, 0).0.store(turn, Ordering::Release);
        for (segment, bytes) in self.segments.iter().zip(all) {
            self.looks.until(idle, || turn_of(segment) >= turn);
            // SAFETY: within the map and the file of that rank, which wrote them before it said so and changes nothing of them as
            // long as this rank is in this turn.
            bytes.copy_from_slice(unsafe { &*segment.bytes(begin..begin + bytes.len()) });
        }
    }
}
