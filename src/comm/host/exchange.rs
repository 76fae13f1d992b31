//! What goes from rank to rank of a host: a rank writes there what goes to another, which reads it where it lies.
//!
//! A segment has a [`Slot`] for each rank of the host, then values. For each slot:
//! - `written` counts what the owner has written for that rank, `read` what that rank has read of it, and
//!   `read <= written <= read + 1`.
//! - While `written > read` the values from `begin` on stay.
//!
//! A rank writes anew when all have read what it wrote in earlier exchanges, and reads when it has written. So none waits for ever:
//! those in the earliest exchange wait for nobody's room, all of them write, and then have what they read.
//!
//! It writes behind what it wrote last, and then at the beginning again: what others have just read is in the caches of their cores, and
//! to write a line of it means to ask these cores for it, one after the other.

use super::{AllGather, Atomics, Line, Looks, PAGE, Place, Segment, segments};
use crate::claim::claim;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes of the largest segment: what is larger goes by message, and costs little beside the work on so many values.
pub(in crate::comm) const LARGEST: usize = 64 << 20;

/// Values for different ranks begin at multiples of so many bytes.
const ALIGNMENT: usize = 128;

/// So many bytes are claimed before they are written: what a core's own caches have room for.
const CLAIMED: usize = 256 << 10;

/// `begin` of what was not written here.
const ELSEWHERE: u64 = u64::MAX;

/// What two ranks know of each other, in lines that only one of them writes.
#[repr(C)]
struct Slot {
    of_owner: Line<Written>,
    of_reader: Line<AtomicU64>,
}

#[repr(C)]
struct Written {
    count: AtomicU64,
    begin: AtomicU64,
    bytes: AtomicU64,
}

// SAFETY: made of atomics, aligned to 128 bytes.
unsafe impl Atomics for Slot {}

/// Where values begin.
fn values_of(ranks: usize) -> usize {
    (ranks * size_of::<Slot>()).next_multiple_of(PAGE)
}

/// What a rank shares with the others of its host.
pub(in crate::comm) struct HostMemory {
    place: Place,
    /// The number of each rank of the host among all ranks.
    ranks: Vec<usize>,
    /// By rank of the host: its segment, how much was written for it, and how much of it was read.
    segments: Vec<Segment>,
    looks: Looks,
    written: Vec<u64>,
    read: Vec<u64>,
    /// Where the last values were written.
    last: Range<usize>,
}

/// What came from others. When it is dropped, they may write anew.
pub(in crate::comm) struct Arrived<'m> {
    memory: &'m mut HostMemory,
    /// By place, of those who have written: where; nowhere, if not here.
    from: Vec<(usize, Option<Range<usize>>)>,
}

impl HostMemory {
    /// Memory of these ranks, which are all of a host, or none of them has any: by place their number among all ranks. Collective.
    pub fn new(place: Place, ranks: Vec<usize>, largest: usize, all_gather: &AllGather) -> Option<Self> {
        let (segments, looks) = segments(place, values_of(place.count), largest, all_gather)?;
        let none = vec![0; place.count];
        Some(Self { place, ranks, segments, looks, written: none.clone(), read: none, last: 0..0 })
    }

    /// Whether this one and that of all ranks share memory.
    pub fn is_shared_with(&self, rank: usize) -> bool {
        self.others().any(|place| self.ranks[place] == rank)
    }

    /// The places of other ranks. Every rank begins with another one, lest all read of the first at once.
    fn others(&self) -> impl Iterator<Item = usize> + use<> {
        let Place { own, count } = self.place;
        (1..count).map(move |k| (own + k) % count)
    }

    /// `to[r]` bytes go to rank r of all ranks, which `write` is to write, once for each to which some go; ranks that share no memory
    /// with this one, and itself, are left out. `idle` is called again and again while others are waited for. Returns whether there was
    /// no room, and nothing is written: then it is refused on the other side too.
    pub fn write(&mut self, to: &[usize], mut write: impl FnMut(usize, &mut [u8]), idle: &dyn Fn()) -> bool {
        let others: Vec<usize> = self.others().filter(|&place| to[self.ranks[place]] > 0).collect();
        let segment = &mut self.segments[self.place.own];
        let read_by = |place: usize| segment.at::<Slot>(0, place).of_reader.0.load(Ordering::Acquire);
        self.looks.until(idle, || {
            self.written.iter().enumerate().all(|(place, &written)| read_by(place) == written)
        });
        let room =
            others.iter().map(|&place| to[self.ranks[place]].next_multiple_of(ALIGNMENT)).sum::<usize>();
        let first = values_of(self.place.count);
        let behind = (self.last.start == first).then_some(self.last.end);
        let free = behind.into_iter().chain([first]).find(|begin| segment.reach(begin + room).is_ok());
        let (mut begin, refused) = (free.unwrap_or(first), free.is_none());
        self.last = begin..begin + room;
        for &place in &others {
            let (rank, bytes) = (self.ranks[place], to[self.ranks[place]]);
            if !refused {
                claim(segment.bytes(begin..begin + bytes).cast::<u8>(), bytes.min(CLAIMED));
                // SAFETY: within the map, and within the file, which reaches as far. Nobody else writes here, and nobody reads: all
                // have read what was written before, and do not know of this yet.
                write(rank, unsafe { &mut *segment.bytes(begin..begin + bytes) });
            }
            let known = &segment.at::<Slot>(0, place).of_owner.0;
            self.written[place] += 1;
            known.begin.store(if refused { ELSEWHERE } else { begin as u64 }, Ordering::Relaxed);
            known.bytes.store(bytes as u64, Ordering::Relaxed);
            known.count.store(self.written[place], Ordering::Release);
            begin += bytes.next_multiple_of(ALIGNMENT);
        }
        refused && !others.is_empty()
    }

    /// Wait for what comes, `from[r]` bytes from rank r of all ranks; each rank has to write first. `idle` as above.
    pub fn wait(&mut self, from: &[usize], idle: &dyn Fn()) -> Arrived<'_> {
        let others = self.others().filter(|&place| from[self.ranks[place]] > 0).collect::<Vec<_>>();
        let of = |place: usize| {
            let written = &self.segments[place].at::<Slot>(0, self.place.own).of_owner.0;
            self.looks.until(idle, || written.count.load(Ordering::Acquire) > self.read[place]);
            let bytes = written.bytes.load(Ordering::Relaxed) as usize;
            assert!(bytes == from[self.ranks[place]], "ranks disagree about the length of a message");
            match written.begin.load(Ordering::Relaxed) {
                ELSEWHERE => (place, None),
                begin => (place, Some(begin as usize..begin as usize + bytes)),
            }
        };
        let from = others.into_iter().map(of).collect();
        Arrived { memory: self, from }
    }
}

impl Arrived<'_> {
    /// What came from that of all ranks, if something came here.
    pub fn of(&self, rank: usize) -> Option<&[u8]> {
        let (place, range) = self.from.iter().find(|(place, _)| self.memory.ranks[*place] == rank)?;
        let bytes = self.memory.segments[*place].bytes(range.clone()?);
        // SAFETY: within the map, and within the file of that rank, which reaches as far before it says that it has written; it changes
        // nothing of them before this rank says that it has read.
        Some(unsafe { &*bytes })
    }

    /// Whether that of all ranks has not written here what was to come from it.
    pub fn refused(&self, rank: usize) -> bool {
        self.from.iter().any(|(place, range)| range.is_none() && self.memory.ranks[*place] == rank)
    }
}

impl Drop for Arrived<'_> {
    fn drop(&mut self) {
        let HostMemory { place: Place { own, .. }, segments, read, .. } = &mut *self.memory;
        for (place, _) in &self.from {
            read[*place] += 1;
            segments[*place].at::<Slot>(0, *own).of_reader.0.store(read[*place], Ordering::Release);
        }
    }
}
