//! The chunks of a sweep, and what becomes of their sums.

use super::finish::{Finish, Outputs, Part, Then};
use super::given::given_of_row;
use super::inner::{Chunk, Shared, Side};
use super::lane::{Instructions, Scalar, dispatch};
use super::law::{PairLaw, Reduction};
use super::sums::ChunkSums;
use crate::neighbors::{ClusterList, GROUP, Listed, NeighborList, SUPER_CLUSTER};
use crate::particles::{Field, GiveBack, Particles, Returned};
use crate::turns::{each, in_turns, runs, threads_split_for};
use std::cell::RefCell;
use std::ops::Range;
use std::sync::OnceLock;

/// Rows of a piece that is finished by one thread.
pub(super) const PIECE: usize = 32 * SUPER_CLUSTER;

/// What chunks of half lists have summed, and how many pairs all chunks took.
pub(super) struct Sums<T: Scalar> {
    chunks: Vec<ChunkSums<T>>,
    /// Lane pairs evaluated at least to their distance.
    pub lane_pairs: u64,
}

impl<T: Scalar> Sums<T> {
    /// None yet.
    pub fn new() -> Self {
        Sums { chunks: Vec::new(), lane_pairs: 0 }
    }

    /// Add what other ranks gave owned rows to what these were given here.
    fn add<L: PairLaw>(&mut self, owned: &Range<usize>, returned: &[Returned]) {
        // threads add to chunks of their own: one of those that have a row
        let mut chunk_of = vec![0; owned.end.div_ceil(SUPER_CLUSTER)];
        for (number, chunk) in self.chunks.iter().enumerate() {
            chunk_of[chunk.super_clusters.clone()].fill(number);
        }
        each(self.chunks.iter_mut().enumerate().collect(), |(number, chunk)| {
            for Returned { rows, sums } in returned {
                let mut records: &[T] = bytemuck::cast_slice(sums);
                for run in rows.iter().map(|run| owned.start + run.start..owned.start + run.end) {
                    let mut row = run.start;
                    while row < run.end {
                        let end = run.end.min((row / SUPER_CLUSTER + 1) * SUPER_CLUSTER);
                        let (own, behind) = records.split_at((end - row) * given_of_row::<L>());
                        if chunk_of[row / SUPER_CLUSTER] == number {
                            chunk.add::<L>(row..end, own, owned);
                        }
                        (row, records) = (end, behind);
                    }
                }
            }
        });
    }
}

/// What is swept.
pub(super) struct Sweeping<'s, 'a, L, T: 'static> {
    /// What all chunks share.
    pub shared: &'s Shared<'a, L, T>,
    /// The list.
    pub list: &'s NeighborList,
    /// The particles, without their outputs.
    pub particles: &'s Particles,
    /// The lanes that sweep.
    pub instructions: Instructions,
    /// What is done with the outputs.
    pub then: Option<&'s Then<'s>>,
}

/// Lane pairs of a chunk and, of a half list, its sums.
type Swept<T> = (u64, Option<ChunkSums<T>>);

impl<L: PairLaw, T: Scalar> Sweeping<'_, '_, L, T> {
    /// Evaluate the list, or a side of it, chunk by chunk.
    ///
    /// A chunk of a full list has all sums of its rows, and writes the outputs as soon as it is done. Chunks of half lists have
    /// sums of rows of others too: the outputs of the rows `joined` are written when the chunks that have sums of them are done, those of
    /// other rows not yet.
    pub fn run(
        &self,
        side: Option<Side>,
        joined: &[Range<usize>],
        outputs: &mut Outputs,
        sums: &mut Sums<T>,
    ) {
        let Sweeping { shared, list, particles, instructions, .. } = *self;
        let owned = list.owned();
        let chunks = match (list, side) {
            // such lists do not know
            (NeighborList::PerParticle(_), Some(Side::Inner)) => Vec::new(),
            _ => chunks(list, |list, super_cluster| {
                side.is_none_or(|side| side == shared.side(list, super_cluster))
            }),
        };
        let (mut own, mut then) = (Vec::new(), Vec::new());
        if shared.symmetric {
            let listed: Vec<Listed> = chunks.iter().map(|chunk| list.listed(chunk.clone())).collect();
            let needed = |rows: &Range<usize>| {
                (0..chunks.len()).filter(|chunk| listed[*chunk].may_have(rows.clone())).collect()
            };
            then = joined.iter().map(needed).zip(outputs.parts(joined)).collect();
        } else {
            let rows = |chunk: &Range<usize>| {
                (chunk.start * SUPER_CLUSTER).max(owned.start)..(chunk.end * SUPER_CLUSTER).min(owned.end)
            };
            own = outputs.parts(&chunks.iter().map(rows).collect::<Vec<_>>());
        }
        let (finish, position) = (self.finish(), particles.vector(Field::Position));
        let evaluate = |(super_clusters, part): (Range<usize>, Option<Part>)| -> Swept<T> {
            let sums = dispatch(instructions, Chunk { shared, list, position, super_clusters, side });
            let lane_pairs = sums.lane_pairs;
            match part {
                Some(mut part) => {
                    finish.part(&[&sums], &mut part);
                    (lane_pairs, None)
                }
                None => (lane_pairs, Some(sums)),
            }
        };
        let join = |swept: &[OnceLock<Swept<T>>], mut part: Part| {
            let swept = swept.iter().filter_map(|swept| swept.get()?.1.as_ref());
            let chunks: Vec<&ChunkSums<T>> = sums.chunks.iter().chain(swept).collect();
            finish.part(&chunks, &mut part);
        };
        let mut own = own.into_iter();
        let chunks = chunks.into_iter().map(|chunk| (chunk, own.next())).collect();
        for (lane_pairs, swept) in in_turns(chunks, evaluate, then, join) {
            sums.lane_pairs += lane_pairs;
            sums.chunks.extend(swept);
        }
    }

    /// Give the owners of halos what chunks have of these, join what chunks and other ranks have of the owned rows, which are in these
    /// pieces, and write the outputs: first of what others have nothing of. Collective.
    pub fn give_back(
        &self,
        sums: &mut Sums<T>,
        give_back: &dyn GiveBack,
        pieces: &[Range<usize>],
        outputs: &mut Outputs,
    ) {
        assert!(
            L::SUMS.iter().all(|sum| sum.reduction == Reduction::Sum),
            "what ranks give each other is added"
        );
        let (finish, owned) = (self.finish(), self.list.owned());
        // given to others, joined where these have nothing, and added to, one after the other
        let sums = RefCell::new(sums);
        let of_rows = |rows: Range<usize>, records: &mut [u64]| {
            let (sums, width) = (sums.borrow(), given_of_row::<L>());
            let chunks: Vec<&ChunkSums<T>> = sums.chunks.iter().collect();
            let records = bytemuck::cast_slice_mut(records).chunks_mut(PIECE * width);
            let pieces = runs(rows, PIECE).into_iter().zip(records).collect();
            each(pieces, |(rows, records)| finish.records_of(&chunks, rows, records));
        };
        let apart = apart(pieces, give_back.alone(), owned.start);
        let rows: Vec<Range<usize>> = apart.iter().map(|(rows, _)| rows.clone()).collect();
        let parts = outputs.parts(&rows).into_iter().zip(&apart);
        let (mut alone, mut others): (Vec<_>, Vec<_>) = parts.partition(|(_, (_, alone))| *alone);
        let join = |parts: &mut Vec<(Part, _)>| {
            let sums = sums.borrow();
            let chunks: Vec<&ChunkSums<T>> = sums.chunks.iter().collect();
            each(parts.iter_mut().collect(), |(part, _)| finish.part(&chunks, part));
        };
        let words = given_of_row::<L>() * size_of::<T>() / size_of::<u64>();
        give_back.give_back(words, &of_rows, &mut || join(&mut alone), &mut |returned| {
            sums.borrow_mut().add::<L>(&owned, returned);
            join(&mut others);
        });
    }

    fn finish(&self) -> Finish<'_, L> {
        Finish::new(self.shared.law, self.particles, &self.shared.rows, self.instructions, self.then)
    }
}

/// These pieces of rows cut where some runs of rows, counted from the first one, begin and end, and whether each is in one.
fn apart(pieces: &[Range<usize>], runs: &[Range<usize>], first: usize) -> Vec<(Range<usize>, bool)> {
    let mut apart = Vec::with_capacity(pieces.len() + 2 * runs.len());
    let mut runs = runs.iter().map(|run| first + run.start..first + run.end).peekable();
    for piece in pieces {
        let mut begin = piece.start;
        while begin < piece.end {
            while runs.next_if(|run| run.end <= begin).is_some() {}
            let (end, within) = match runs.peek() {
                Some(run) if run.start <= begin => (run.end, true),
                Some(run) => (run.start, false),
                None => (piece.end, false),
            };
            let end = end.min(piece.end);
            apart.push((begin..end, within));
            begin = end;
        }
    }
    apart
}

/// Super-clusters of a chunk of a full list, about: enough that what a chunk prepares is nothing beside it, and few enough that
/// its sums stay in the cache and no thread waits long for the last one.
const CHUNK: usize = 32;

/// The chunks of a thread's part of a half list. Each has reactions of its own for all super-clusters that it touches, which are made
/// and joined: one is large. Another thread takes the small ones if it is free before.
struct Parts {
    /// What of the part is in the large one.
    large: f64,
    /// In how many small ones the rest is.
    small: usize,
}

impl Parts {
    /// Of a thread that has many super-clusters.
    const MANY: Parts = Parts { large: 0.9, small: 1 };

    /// Of one that has few, whose cost is not known as well.
    const FEW: Parts = Parts { large: 0.8, small: 3 };

    /// Super-clusters of a thread that are many.
    const ENOUGH: usize = 48;

    /// Where so many super-clusters are swept.
    fn of(swept: usize, threads: usize) -> Self {
        if swept < Self::ENOUGH * threads { Self::FEW } else { Self::MANY }
    }
}

/// What part of a list each chunk is, about; of half lists a function of the numbers of threads and of `swept` super-clusters alone.
fn shares(symmetric: bool, swept: usize) -> Vec<f64> {
    let threads = threads_split_for();
    match (symmetric, threads) {
        (true, 1) => vec![1.0],
        (true, _) => {
            let Parts { large, small } = Parts::of(swept, threads);
            let small = std::iter::repeat_n((1.0 - large) / small as f64, small);
            let of_thread = std::iter::once(large).chain(small).map(|part| part / threads as f64);
            (0..threads).flat_map(|_| of_thread.clone()).collect()
        }
        (false, _) => {
            let chunks = (8 * rayon::current_num_threads()).max(swept / CHUNK);
            vec![1.0 / chunks as f64; chunks]
        }
    }
}

/// Contiguous runs of super-clusters, of which some are swept.
fn chunks(list: &NeighborList, swept: impl Fn(&ClusterList, usize) -> bool) -> Vec<Range<usize>> {
    let owned = list.owned();
    let all = owned.start / SUPER_CLUSTER..owned.end.div_ceil(SUPER_CLUSTER);
    if owned.is_empty() {
        return Vec::new();
    }
    let unswept = |super_cluster| list.clusters().is_some_and(|list| !swept(list, super_cluster));
    let cost = |super_cluster: usize| match list {
        _ if unswept(super_cluster) => 0,
        NeighborList::Clustered(list) => list.entries(super_cluster) + 1,
        // as long as four entries of a tile take, its records are brought for a cluster
        NeighborList::Tiled(list) => list.words(super_cluster) + list.clusters().entries(super_cluster) + 1,
        NeighborList::PerParticle(list) => {
            let rows = super_cluster * SUPER_CLUSTER..(super_cluster + 1) * SUPER_CLUSTER;
            let rows = rows.start.max(owned.start)..rows.end.min(owned.end);
            1 + rows.map(|row| list.neighbors(row).len()).sum::<usize>()
        }
    };
    let costs: Vec<usize> = all.clone().map(cost).collect();
    let total = costs.iter().sum::<usize>() as f64;
    if total == 0.0 {
        return Vec::new();
    }
    let shares = shares(list.symmetric(), costs.iter().filter(|cost| **cost > 0).count());
    let ends: Vec<f64> = shares
        .iter()
        .scan(0.0, |end, share| {
            *end += share * total;
            Some(*end)
        })
        .collect();
    // what a group of tiles shares is brought once
    let group = if let NeighborList::Tiled(_) = list { GROUP } else { 1 };
    let (mut chunks, mut begin, mut sum, mut done) = (Vec::new(), all.start, 0, 0);
    let mut ends = ends.into_iter().peekable();
    for (super_cluster, cost) in all.clone().zip(costs) {
        sum += cost;
        let (end, reached) = (super_cluster + 1, |share: &f64| sum as f64 >= *share);
        if (end - all.start).is_multiple_of(group) && ends.next_if(reached).is_some() {
            chunks.push(begin..end);
            (begin, done) = (end, sum);
            while ends.next_if(reached).is_some() {}
        }
    }
    if sum > done {
        chunks.push(begin..all.end);
    }
    chunks
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::laws::lennard_jones;
    use crate::neighbors::Coding;
    use crate::pair::Forces;
    use crate::runs::Runs;
    use crate::turns::tests::on;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_comes_back_is_added_to_each_row_once(
            rows in prop::collection::btree_set(0..600u32, 0..200),
            cut in 1..10usize,
            threads in 1..4usize,
        ) {
            type Law = Forces<lennard_jones::Law<f64>>;
            let (owned, width) = (SUPER_CLUSTER..SUPER_CLUSTER + 600, given_of_row::<Law>());
            let end = owned.end.div_ceil(SUPER_CLUSTER);
            let chunk = |own: Range<usize>| ChunkSums::<f32>::new(Law::SUMS, own, 0, 0..end);
            let mut sums = Sums { chunks: vec![chunk(1..cut), chunk(cut..end)], lane_pairs: 0 };
            let value = |row: usize, k: usize| (10 * row + k) as f32;
            let mut records = vec![0_u64; rows.len() * width / 2];
            let places = bytemuck::cast_slice_mut(&mut records).chunks_exact_mut(width).zip(&rows);
            places.for_each(|(record, &row)| record.copy_from_slice(&[0, 1, 2, 3].map(|k| value(row as usize, k))));
            let runs = Runs::of(&rows.iter().copied().collect::<Vec<u32>>());
            let returned = [Returned { rows: &runs, sums: &records }, Returned { rows: &runs, sums: &records }];
            on(threads, || sums.add::<Law>(&owned, &returned));
            for row in 0..600 {
                let place = owned.start + row;
                let having: Vec<&ChunkSums<f32>> =
                    sums.chunks.iter().filter(|chunk| chunk.have(place / SUPER_CLUSTER)).collect();
                let total = |k: usize| {
                    let of_chunk = |chunk: &&ChunkSums<f32>| {
                        let given: &[f32] = bytemuck::cast_slice(chunk.given(place / SUPER_CLUSTER).unwrap());
                        given[place % SUPER_CLUSTER * width + k]
                    };
                    having.iter().map(of_chunk).sum::<f32>()
                };
                let twice = |k: usize| if rows.contains(&(row as u32)) { 2.0 * value(row, k) } else { 0.0 };
                prop_assert!(having.len() <= 1, "one chunk has a row");
                prop_assert_eq!([0, 1, 2, 3].map(total), [0, 1, 2, 3].map(twice), "row {}", row);
            }
        }

        #[test]
        fn pieces_are_cut_where_runs_begin_and_end(
            lengths in prop::collection::vec(1usize..50, 0..8),
            gaps in prop::collection::vec((1usize..40, 1usize..40), 0..8),
            first in 0usize..10,
        ) {
            let follow = |end: &mut usize, length: usize| {
                let begin = std::mem::replace(end, *end + length);
                Some(begin..*end)
            };
            let pieces: Vec<Range<usize>> = lengths.iter().scan(first, |end, &length| follow(end, length)).collect();
            let runs: Vec<Range<usize>> = gaps
                .iter()
                .scan(0, |end, &(gap, length)| {
                    *end += gap;
                    follow(end, length)
                })
                .collect();
            let rows = |ranges: &[Range<usize>]| ranges.iter().cloned().flatten().collect::<Vec<usize>>();
            let apart = apart(&pieces, &runs, first);
            let (cut, alone): (Vec<Range<usize>>, Vec<bool>) = apart.into_iter().unzip();
            prop_assert_eq!(rows(&cut), rows(&pieces));
            prop_assert!(cut.iter().all(|cut| pieces.iter().any(|all| all.start <= cut.start && cut.end <= all.end)));
            for (cut, alone) in cut.into_iter().zip(alone) {
                prop_assert!(!cut.is_empty());
                for row in cut {
                    prop_assert_eq!(alone, runs.iter().any(|run| run.contains(&(row - first))));
                }
            }
        }

        #[test]
        fn chunks_follow_each_other_and_have_what_is_swept(
            entries in prop::collection::vec((0u32..60, any::<bool>()), 1..300),
            threads in 1usize..6,
            symmetric: bool,
        ) {
            let clusters: Vec<Vec<u32>> = entries.iter().map(|(count, _)| (0..*count).collect()).collect();
            let owned = 0..entries.len() * SUPER_CLUSTER;
            let list = ClusterList::from_clusters(owned, symmetric, Coding::Plain, &clusters);
            let list = NeighborList::Clustered(list);
            let chunks = on(threads, || chunks(&list, |_, super_cluster| entries[super_cluster].1));
            prop_assert!(chunks.iter().all(|chunk| !chunk.is_empty()));
            prop_assert!(chunks.windows(2).all(|two| two[0].end == two[1].start));
            let in_chunk = |super_cluster| chunks.iter().any(|chunk| chunk.contains(&super_cluster));
            prop_assert!((0..entries.len()).all(|k| !entries[k].1 || in_chunk(k)));
            if symmetric {
                let swept = entries.iter().filter(|(_, swept)| *swept).count();
                let Parts { large, small } = Parts::of(swept, threads);
                let most = if threads == 1 { 1 } else { (1 + small) * threads };
                prop_assert!(chunks.len() <= most);
                // none has much more than its share
                let cost = |k: usize| if entries[k].1 { entries[k].0 as f64 + 1.0 } else { 0.0 };
                let total: f64 = (0..entries.len()).map(cost).sum();
                let share = if threads == 1 { 1.0 } else { large / threads as f64 };
                for chunk in chunks {
                    let own: f64 = chunk.map(cost).sum();
                    prop_assert!(own <= share * total + 61.0, "{own} of {total}");
                }
            }
        }
    }
}
