//! Point-to-point exchange through shared memory: the sender writes to its own segment, the receiver reads
//! there in place.
//!
//! A segment holds one [`Slot`] for each rank of the host, followed by the data. Protocol of a slot:
//! - `written` counts the messages that the owner has written for that rank, `read` those that the rank has
//!   read; `read <= written <= read + 1`.
//! - While `written > read`, the owner does not modify the data from `begin` on.
//!
//! A rank writes again after all ranks have read its messages of earlier exchanges, and reads after it has
//! written. This cannot deadlock: ranks in the earliest exchange never wait for free space. All of them
//! write, and each then finds its data.
//!
//! Consecutive messages are written one behind the other, then from the start of the segment again. Cache
//! lines that were just read are in the caches of other cores, and writing to them would fetch them from
//! these cores one by one.

use super::{AllGather, Atomics, Line, PAGE, Place, Segment, SpinLimit, segments};
use crate::simd::prefetch::prefetch_for_write;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

/// Size of the largest segment (bytes). Larger data is sent by message, whose cost is small compared with the
/// work on so many values.
pub(in crate::comm) const MAX_SEGMENT_BYTES: usize = 64 << 20;

/// Alignment of the data for each rank (bytes).
const ALIGNMENT: usize = 128;

/// Prefetches at most this many bytes before they are written: about the size of a core's private caches.
const PREFETCH_LIMIT: usize = 256 << 10;

/// Value of `begin` if the message was not written to the segment.
const NOT_IN_SEGMENT: u64 = u64::MAX;

/// State shared by a sender and a receiver. Each line is written by only one of the two.
#[repr(C)]
struct Slot {
    sender: Line<SenderState>,
    receiver: Line<AtomicU64>,
}

#[repr(C)]
struct SenderState {
    count: AtomicU64,
    begin: AtomicU64,
    bytes: AtomicU64,
}

// SAFETY: made of atomics, aligned to 128 bytes.
unsafe impl Atomics for Slot {}

/// Returns the offset of the data in a segment (bytes).
fn data_offset(ranks: usize) -> usize {
    (ranks * size_of::<Slot>()).next_multiple_of(PAGE)
}

/// Memory that a rank shares with the other ranks of its host.
pub(in crate::comm) struct HostMemory {
    place: Place,
    /// For each place on the host, the rank in the communicator.
    ranks: Vec<usize>,
    /// For each place on the host: the segment, the number of messages written for it, and the number read
    /// from it.
    segments: Vec<Segment>,
    spin_limit: SpinLimit,
    written: Vec<u64>,
    read: Vec<u64>,
    /// Range of the most recently written data.
    last: Range<usize>,
}

/// Messages received in one exchange. Dropping it allows the senders to write again.
pub(in crate::comm) struct ReceivedMessages<'m> {
    memory: &'m mut HostMemory,
    /// For each sender: its place, and the range of its data; `None` if the data is not in the segment.
    from: Vec<(usize, Option<Range<usize>>)>,
}

impl HostMemory {
    /// Creates shared memory for all ranks of a host. `ranks` maps a place on the host to the rank in the
    /// communicator. Returns `None` on all ranks if it fails on one. Collective.
    pub fn new(place: Place, ranks: Vec<usize>, largest: usize, all_gather: &AllGather) -> Option<Self> {
        let (segments, spin_limit) = segments(place, data_offset(place.count), largest, all_gather)?;
        let none = vec![0; place.count];
        Some(Self { place, ranks, segments, spin_limit, written: none.clone(), read: none, last: 0..0 })
    }

    /// Returns whether this rank shares memory with `rank` (rank in the communicator).
    pub fn is_shared_with(&self, rank: usize) -> bool {
        self.others().any(|place| self.ranks[place] == rank)
    }

    /// Iterates over the places of the other ranks. Each rank starts at a different one, to avoid contention
    /// on the first.
    fn others(&self) -> impl Iterator<Item = usize> + use<> {
        let Place { own, count } = self.place;
        (1..count).map(move |k| (own + k) % count)
    }

    /// Writes `to[r]` bytes for each rank r of the communicator. Calls `write` once per receiver with a
    /// non-zero count, skipping this rank and ranks on other hosts. Calls `idle` repeatedly while it waits
    /// for other ranks. Returns true if the segment is too small; nothing is written then, and the receivers
    /// see the message as refused.
    pub fn write(&mut self, to: &[usize], mut write: impl FnMut(usize, &mut [u8]), idle: &dyn Fn()) -> bool {
        let others: Vec<usize> = self.others().filter(|&place| to[self.ranks[place]] > 0).collect();
        let segment = &mut self.segments[self.place.own];
        let read_by = |place: usize| segment.at::<Slot>(0, place).receiver.0.load(Ordering::Acquire);
        self.spin_limit.wait_until(idle, || {
            self.written.iter().enumerate().all(|(place, &written)| read_by(place) == written)
        });
        let room =
            others.iter().map(|&place| to[self.ranks[place]].next_multiple_of(ALIGNMENT)).sum::<usize>();
        let first = data_offset(self.place.count);
        let behind = (self.last.start == first).then_some(self.last.end);
        let free = behind.into_iter().chain([first]).find(|begin| segment.grow_to(begin + room).is_ok());
        let (mut begin, refused) = (free.unwrap_or(first), free.is_none());
        self.last = begin..begin + room;
        for &place in &others {
            let (rank, bytes) = (self.ranks[place], to[self.ranks[place]]);
            if !refused {
                prefetch_for_write(
                    segment.bytes(begin..begin + bytes).cast::<u8>(),
                    bytes.min(PREFETCH_LIMIT),
                );
                // SAFETY: the range is within the map and, after `grow_to`, within the file. Only this rank
                // writes here. No rank reads here: all have read the earlier messages, and this one is not
                // yet published.
                write(rank, unsafe { &mut *segment.bytes(begin..begin + bytes) });
            }
            let state = &segment.at::<Slot>(0, place).sender.0;
            self.written[place] += 1;
            state.begin.store(if refused { NOT_IN_SEGMENT } else { begin as u64 }, Ordering::Relaxed);
            state.bytes.store(bytes as u64, Ordering::Relaxed);
            state.count.store(self.written[place], Ordering::Release);
            begin += bytes.next_multiple_of(ALIGNMENT);
        }
        refused && !others.is_empty()
    }

    /// Waits until `from[r]` bytes from each rank r of the communicator can be read. Every rank must call
    /// [`Self::write`] first. Calls `idle` repeatedly while it waits.
    pub fn wait(&mut self, from: &[usize], idle: &dyn Fn()) -> ReceivedMessages<'_> {
        let others = self.others().filter(|&place| from[self.ranks[place]] > 0).collect::<Vec<_>>();
        let of = |place: usize| {
            let written = &self.segments[place].at::<Slot>(0, self.place.own).sender.0;
            self.spin_limit.wait_until(idle, || written.count.load(Ordering::Acquire) > self.read[place]);
            let bytes = written.bytes.load(Ordering::Relaxed) as usize;
            assert!(bytes == from[self.ranks[place]], "ranks disagree about the length of a message");
            match written.begin.load(Ordering::Relaxed) {
                NOT_IN_SEGMENT => (place, None),
                begin => (place, Some(begin as usize..begin as usize + bytes)),
            }
        };
        let from = others.into_iter().map(of).collect();
        ReceivedMessages { memory: self, from }
    }
}

impl ReceivedMessages<'_> {
    /// Returns the data of `rank` (rank in the communicator), if it was written to shared memory.
    pub fn of(&self, rank: usize) -> Option<&[u8]> {
        let (place, range) = self.from.iter().find(|(place, _)| self.memory.ranks[*place] == rank)?;
        let bytes = self.memory.segments[*place].bytes(range.clone()?);
        // SAFETY: the range is within the map and within the file of that rank, which grows it before it
        // publishes the message. The sender does not change the data before this rank has marked it as read.
        Some(unsafe { &*bytes })
    }

    /// Returns whether `rank` had data for this rank but no space for it in its segment.
    pub fn refused(&self, rank: usize) -> bool {
        self.from.iter().any(|(place, range)| range.is_none() && self.memory.ranks[*place] == rank)
    }
}

impl Drop for ReceivedMessages<'_> {
    fn drop(&mut self) {
        let HostMemory { place: Place { own, .. }, segments, read, .. } = &mut *self.memory;
        for (place, _) in &self.from {
            read[*place] += 1;
            segments[*place].at::<Slot>(0, *own).receiver.0.store(read[*place], Ordering::Release);
        }
    }
}
