//! How much ranks send each other: a meter, and what the operations of a [`super::Communicator`] come to.
//!
//! Bytes are counted where they are received, from other ranks only; numbers of values that go ahead of the values are
//! counted too. A decomposition that is only simulated adds up the same with the functions below.

use std::ops::{Add, AddAssign, Sub};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// What one rank received.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Bytes.
    pub bytes: u64,
    /// Messages from one rank to another, none of them empty.
    pub messages: u64,
    /// Operations that all ranks take part in with equal parts: gathering, and exchanges of counts.
    pub collectives: u64,
}

impl Add for Traffic {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self {
            bytes: self.bytes + other.bytes,
            messages: self.messages + other.messages,
            collectives: self.collectives + other.collectives,
        }
    }
}

impl AddAssign for Traffic {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sub for Traffic {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self {
            bytes: self.bytes - other.bytes,
            messages: self.messages - other.messages,
            collectives: self.collectives - other.collectives,
        }
    }
}

/// Counts what a rank receives.
#[derive(Debug, Default)]
pub(super) struct Meter {
    bytes: AtomicU64,
    messages: AtomicU64,
    collectives: AtomicU64,
}

impl Meter {
    /// So many values came from the others in one operation of all ranks.
    pub fn collective(&self, values: usize, size: usize) {
        self.bytes.fetch_add((values * size) as u64, Relaxed);
        self.collectives.fetch_add(1, Relaxed);
    }

    /// So many values came from each of the others.
    pub fn exchange(&self, counts: impl Iterator<Item = usize>, size: usize) {
        for count in counts.filter(|&count| count > 0) {
            self.bytes.fetch_add((count * size) as u64, Relaxed);
            self.messages.fetch_add(1, Relaxed);
        }
    }

    pub fn read(&self) -> Traffic {
        Traffic {
            bytes: self.bytes.load(Relaxed),
            messages: self.messages.load(Relaxed),
            collectives: self.collectives.load(Relaxed),
        }
    }
}

/// The counts that go ahead of values: one 64-bit number of each other rank.
fn counts(ranks: usize) -> Traffic {
    Traffic { bytes: 8 * (ranks as u64 - 1), messages: 0, collectives: 1 }
}

/// [`super::Communicator::all_gather`] where the others have so many bytes together.
pub fn gathering(ranks: usize, others: u64) -> Traffic {
    if ranks == 1 {
        return Traffic::default();
    }
    counts(ranks) + Traffic { bytes: others, messages: 0, collectives: 1 }
}

/// [`super::Communicator::all_to_all`] where so many other ranks have something to send, so many bytes together.
pub fn sending(ranks: usize, bytes: u64, senders: u64) -> Traffic {
    counts(ranks) + exchanging(bytes, senders)
}

/// [`super::Communicator::exchange`] likewise.
pub fn exchanging(bytes: u64, senders: u64) -> Traffic {
    Traffic { bytes, messages: senders, collectives: 0 }
}

/// [`super::Communicator::agree`].
pub fn agreeing(ranks: usize) -> Traffic {
    counts(ranks)
}

/// A reduction of so many values of eight bytes, for `rank`.
pub fn reducing(ranks: usize, rank: usize, values: u64) -> Traffic {
    let others = ranks as u64 - 1;
    if ranks == 1 || values == 0 {
        Traffic::default()
    } else if (values as usize) < super::SHARED_REDUCTION {
        Traffic { bytes: 8 * others * values, messages: 0, collectives: 1 }
    } else {
        let border = |rank: usize| rank as u64 * values / ranks as u64;
        let own = border(rank + 1) - border(rank);
        let senders = if own > 0 { others } else { 0 };
        exchanging(8 * others * own, senders) + gathering(ranks, 8 * (values - own))
    }
}
