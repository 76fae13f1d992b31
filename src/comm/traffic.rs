//! Communication volume: a meter, and cost formulas for the operations of [`super::Communicator`].
//!
//! Bytes are counted at the receiver and only from other ranks. Counts that are exchanged ahead of the values
//! are included. A simulated decomposition uses the formulas and gives the same numbers as the meter.

use std::ops::{Add, AddAssign, Sub};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Traffic received by one rank.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Bytes.
    pub bytes: u64,
    /// Non-empty point-to-point messages.
    pub messages: u64,
    /// Collective operations with equal parts for all ranks: gathers, and exchanges of counts.
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

/// Counts the received traffic of a rank.
#[derive(Debug, Default)]
pub(super) struct Meter {
    bytes: AtomicU64,
    messages: AtomicU64,
    collectives: AtomicU64,
}

impl Meter {
    /// Counts a collective operation that received `values` values of `size` bytes from the other ranks.
    pub fn collective(&self, values: usize, size: usize) {
        self.bytes.fetch_add((values * size) as u64, Relaxed);
        self.collectives.fetch_add(1, Relaxed);
    }

    /// Counts one message per non-zero entry, of `count` values of `size` bytes.
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

/// Traffic of the counts that precede values: one 64-bit number from each other rank.
fn counts(ranks: usize) -> Traffic {
    Traffic { bytes: 8 * (ranks as u64 - 1), messages: 0, collectives: 1 }
}

/// Traffic of [`super::Communicator::all_gather`] if the other ranks have `others` bytes in total.
pub fn gathering(ranks: usize, others: u64) -> Traffic {
    if ranks == 1 {
        return Traffic::default();
    }
    counts(ranks) + Traffic { bytes: others, messages: 0, collectives: 1 }
}

/// Traffic of [`super::Communicator::all_to_all`] if `senders` other ranks send `bytes` bytes in total.
pub fn sending(ranks: usize, bytes: u64, senders: u64) -> Traffic {
    counts(ranks) + exchanging(bytes, senders)
}

/// Traffic of [`super::Communicator::exchange`] with the same arguments.
pub fn exchanging(bytes: u64, senders: u64) -> Traffic {
    Traffic { bytes, messages: senders, collectives: 0 }
}

/// Traffic of [`super::Communicator::agree`].
pub fn agreeing(ranks: usize) -> Traffic {
    counts(ranks)
}

/// Traffic of `rank` in a reduction of `values` values of eight bytes.
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
