//! Transpositions over ranks.

use crate::comm::Communicator;
use bytemuck::Pod;
use rayon::prelude::*;
use std::ops::Range;

/// Values that a group of ranks exchange, all to all. A buffer has the messages of all partners one behind
/// the other.
#[derive(Default)]
pub(super) struct Transposition {
    /// Ranks of the group, this one included.
    pub partners: Vec<usize>,
    /// Number of values for each partner.
    pub outgoing: Vec<usize>,
    /// Number of values from each partner.
    pub incoming: Vec<usize>,
}

impl Transposition {
    /// Number of values of the larger buffer.
    pub fn size(&self) -> usize {
        self.outgoing.iter().sum::<usize>().max(self.incoming.iter().sum())
    }

    /// Sends values to all partners and receives theirs. Collective over all ranks.
    pub fn run<T: Pod + Send + Sync>(&self, comm: &Communicator, from: &[T], to: &mut [T]) {
        exchange(comm, &self.partners, (&self.outgoing, from), (&self.incoming, to));
    }

    /// The inverse of [`Self::run`].
    pub fn run_back<T: Pod + Send + Sync>(&self, comm: &Communicator, from: &[T], to: &mut [T]) {
        exchange(comm, &self.partners, (&self.incoming, from), (&self.outgoing, to));
    }
}

fn exchange<T: Pod + Send + Sync>(
    comm: &Communicator,
    partners: &[usize],
    (outgoing, from): (&[usize], &[T]),
    (incoming, to): (&[usize], &mut [T]),
) {
    let size = comm.size();
    let (sent, received) = (by_rank(size, partners, outgoing), by_rank(size, partners, incoming));
    let others = |ranges: &[Range<usize>]| -> Vec<usize> {
        ranges
            .iter()
            .enumerate()
            .map(|(rank, range)| if rank == comm.rank() { 0 } else { range.len() })
            .collect()
    };
    let own = comm.rank();
    copy(&from[sent[own].clone()], &mut to[received[own].clone()]);
    comm.exchange_in_place(
        (&others(&sent), |rank, values: &mut [T]| copy(&from[sent[rank].clone()], values)),
        (&others(&received), |messages: &[&[T]]| {
            let of_others = messages.iter().zip(&received).filter(|(message, _)| !message.is_empty());
            of_others.for_each(|(message, range)| copy(message, &mut to[range.clone()]));
        }),
        || (),
    );
}

/// Ranges of the messages in a buffer, by rank.
fn by_rank(ranks: usize, partners: &[usize], counts: &[usize]) -> Vec<Range<usize>> {
    let (mut ranges, mut begin) = (vec![0..0; ranks], 0);
    for (&partner, &count) in partners.iter().zip(counts) {
        ranges[partner] = begin..begin + count;
        begin += count;
    }
    ranges
}

/// Copies values with all threads.
fn copy<T: Pod + Send + Sync>(from: &[T], to: &mut [T]) {
    const CHUNK: usize = 1 << 16;
    to.par_chunks_mut(CHUNK).zip(from.par_chunks(CHUNK)).for_each(|(to, from)| to.copy_from_slice(from));
}

/// Splits a buffer of messages, each of equal parts for all planes: the parts of each plane.
pub(super) fn by_plane<'b, T>(planes: usize, messages: &[usize], buffer: &'b [T]) -> Vec<Vec<&'b [T]>> {
    let (mut parts, mut rest) = (vec![Vec::new(); planes], buffer);
    for &count in messages {
        let (message, others) = rest.split_at(count);
        rest = others;
        let of_planes = parts.iter_mut().zip(message.chunks_exact((count / planes.max(1)).max(1)));
        of_planes.for_each(|(parts, part)| parts.push(part));
    }
    parts
}

/// [`by_plane`] to write.
pub(super) fn by_plane_mut<'b, T>(
    planes: usize,
    messages: &[usize],
    buffer: &'b mut [T],
) -> Vec<Vec<&'b mut [T]>> {
    let mut parts: Vec<Vec<&mut [T]>> = (0..planes).map(|_| Vec::new()).collect();
    let mut rest = buffer;
    for &count in messages {
        let (message, others) = rest.split_at_mut(count);
        rest = others;
        let of_planes = parts.iter_mut().zip(message.chunks_exact_mut((count / planes.max(1)).max(1)));
        of_planes.for_each(|(parts, part)| parts.push(part));
    }
    parts
}
