//! Chunks of a sweep: their sizes, their evaluation, and the reduction of their sums.

use super::cell_input::CellInput;
use super::finish::{Finish, OutputRows, Outputs, RowCallback, write_reactions};
use super::inner::{Chunk, Side, SweepData};
use super::law::Reduction;
use super::law_lanes::LawLanes;
use super::reaction_buffer::reaction_row_values;
use super::sums::{ChunkSums, SweepSums};
use crate::neighbors::{ClusterList, GROUP, NeighborList, SUPER_CLUSTER, SectionMask};
use crate::parallel::{map_items, map_then_finalize, reduction_threads, split_range};
use crate::particles::{Field, Particles, ReactionExchange};
use crate::simd::{Instructions, Scalar};
use std::cell::RefCell;
use std::ops::Range;
use std::sync::OnceLock;

/// Rows per finish task.
pub(super) const FINISH_ROWS: usize = 32 * SUPER_CLUSTER;

/// Data of a sweep.
pub(super) struct SweepContext<'s, T: 'static> {
    /// The law.
    pub law: &'s dyn LawLanes<T>,
    /// Data shared by all chunks.
    pub data: &'s SweepData<T>,
    /// The list.
    pub list: &'s NeighborList,
    /// Particles, without outputs.
    pub particles: &'s Particles,
    /// Instructions of the lanes.
    pub instructions: Instructions,
    /// Callback on the outputs.
    pub row_callback: Option<&'s RowCallback<'s>>,
}

/// Lane pairs of a chunk and, on half lists, its sums.
type ChunkResult<T> = (u64, Option<ChunkSums<T>>);

impl<T: Scalar> SweepContext<'_, T> {
    /// Evaluates the list, or one side of it, chunk by chunk.
    ///
    /// A chunk of a full list has all sums of its rows and writes their outputs at once. Chunks of half lists
    /// also have reactions on other rows: the outputs of the row ranges `joined` are written when the chunks
    /// with sums of them are done; those of other rows are not written yet.
    pub fn run(
        &self,
        side: Option<Side>,
        joined: &[Range<usize>],
        outputs: &mut Outputs,
        sums: &mut SweepSums<T>,
    ) {
        let SweepContext { law, data, list, particles, instructions, .. } = *self;
        let owned = list.owned();
        let chunks = match (list, side) {
            // Per-particle lists and cells do not distinguish sides.
            (NeighborList::PerParticle(_) | NeighborList::Cells(_), Some(Side::Inner)) => Vec::new(),
            _ => chunks(list, &|list, super_cluster| {
                side.is_none_or(|side| side == data.side(list, super_cluster))
            }),
        };
        let (mut own, mut finalizers) = (Vec::new(), Vec::new());
        if data.symmetric {
            let section_masks: Vec<SectionMask> =
                chunks.iter().map(|chunk| list.section_mask(chunk.clone())).collect();
            let needed = |rows: &Range<usize>| {
                (0..chunks.len()).filter(|chunk| section_masks[*chunk].may_contain(rows.clone())).collect()
            };
            finalizers = joined.iter().map(needed).zip(outputs.split_rows(joined)).collect();
        } else {
            let rows = |chunk: &Range<usize>| {
                (chunk.start * SUPER_CLUSTER).max(owned.start)..(chunk.end * SUPER_CLUSTER).min(owned.end)
            };
            own = outputs.split_rows(&chunks.iter().map(rows).collect::<Vec<_>>());
        }
        let (finish, position) = (self.finish(), particles.vector(Field::Position));
        let cells = match list {
            NeighborList::Cells(list) if !chunks.is_empty() => {
                Some(CellInput::new(list, &data.packed, position, law.shape().prepared))
            }
            _ => None,
        };
        let cells = cells.as_ref();
        let evaluate = |(super_clusters, part): (Range<usize>, Option<OutputRows>)| -> ChunkResult<T> {
            let sums = law.sweep(instructions, Chunk { data, list, position, super_clusters, side, cells });
            let lane_pairs = sums.lane_pairs;
            match part {
                Some(mut part) => {
                    finish.write_rows(law, &[&sums], &mut part);
                    (lane_pairs, None)
                }
                None => (lane_pairs, Some(sums)),
            }
        };
        let join = |swept: &[OnceLock<ChunkResult<T>>], mut part: OutputRows| {
            let swept = swept.iter().filter_map(|swept| swept.get()?.1.as_ref());
            let chunks: Vec<&ChunkSums<T>> = sums.chunks.iter().chain(swept).collect();
            finish.write_rows(law, &chunks, &mut part);
        };
        let mut own = own.into_iter();
        let chunks = chunks.into_iter().map(|chunk| (chunk, own.next())).collect();
        for (lane_pairs, swept) in map_then_finalize(chunks, evaluate, finalizers, join) {
            sums.lane_pairs += lane_pairs;
            sums.chunks.extend(swept);
        }
    }

    /// Returns reactions on halos to their owners, reduces the sums of chunks and other ranks over the owned
    /// rows `pieces`, and writes the outputs; rows without reactions from other ranks come first. Collective.
    pub fn return_reactions(
        &self,
        sums: &mut SweepSums<T>,
        exchange: &dyn ReactionExchange,
        pieces: &[Range<usize>],
        outputs: &mut Outputs,
    ) {
        let (law, columns) = (self.law, self.law.shape().sums);
        assert!(
            columns.iter().all(|sum| sum.reduction == Reduction::Sum),
            "reactions exchanged between ranks must be sums"
        );
        let (finish, owned, width) = (self.finish(), self.list.owned(), reaction_row_values(columns.len()));
        // Borrowed in sequence: sent to other ranks, reduced where others have no reactions, and added to.
        let sums = RefCell::new(sums);
        let of_rows = |rows: Range<usize>, records: &mut [u64]| {
            let sums = sums.borrow();
            let chunks: Vec<&ChunkSums<T>> = sums.chunks.iter().collect();
            let records = bytemuck::cast_slice_mut(records).chunks_mut(FINISH_ROWS * width);
            let pieces = split_range(rows, FINISH_ROWS).into_iter().zip(records).collect();
            map_items(pieces, |(rows, records)| {
                write_reactions(columns, self.instructions, &chunks, rows, records);
            });
        };
        let split = split_by_ranges(pieces, exchange.alone(), owned.start);
        let rows: Vec<Range<usize>> = split.iter().map(|(rows, _)| rows.clone()).collect();
        let parts = outputs.split_rows(&rows).into_iter().zip(&split);
        let (mut alone, mut others): (Vec<_>, Vec<_>) = parts.partition(|(_, (_, alone))| *alone);
        let join = |parts: &mut Vec<(OutputRows, _)>| {
            let sums = sums.borrow();
            let chunks: Vec<&ChunkSums<T>> = sums.chunks.iter().collect();
            map_items(parts.iter_mut().collect(), |(part, _)| finish.write_rows(law, &chunks, part));
        };
        let words = width * size_of::<T>() / size_of::<u64>();
        exchange.give_back(words, &of_rows, &mut || join(&mut alone), &mut |returned| {
            sums.borrow_mut().add(width, &owned, returned);
            join(&mut others);
        });
    }

    fn finish(&self) -> Finish<'_> {
        Finish::new(&self.law.shape(), self.particles, &self.data.rows, self.instructions, self.row_callback)
    }
}

/// Splits the row ranges `pieces` at the bounds of `runs`, which count from row `first`. Returns each part
/// and whether it is in a run.
fn split_by_ranges(
    pieces: &[Range<usize>],
    runs: &[Range<usize>],
    first: usize,
) -> Vec<(Range<usize>, bool)> {
    let mut split = Vec::with_capacity(pieces.len() + 2 * runs.len());
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
            split.push((begin..end, within));
            begin = end;
        }
    }
    split
}

/// Approximate super-clusters per chunk of a full list: enough to amortize a chunk's setup, few enough that
/// its sums stay in the cache and threads finish together.
const CHUNK_SUPER_CLUSTERS: usize = 32;

/// Chunks of a thread's share of a half list. Every chunk allocates and reduces reactions for all
/// super-clusters that it touches, so one chunk is large. The small ones are for work stealing.
struct ChunkSplit {
    /// Fraction of the share in the large chunk.
    large: f64,
    /// Number of small chunks with the rest.
    small: usize,
}

impl ChunkSplit {
    /// For threads with many super-clusters.
    const MANY: ChunkSplit = ChunkSplit { large: 0.9, small: 1 };

    /// For threads with few, whose cost is known less well.
    const FEW: ChunkSplit = ChunkSplit { large: 0.8, small: 3 };

    /// Super-clusters per thread from which on there are many.
    const MANY_SUPER_CLUSTERS: usize = 48;

    /// Selects the split for a number of swept super-clusters.
    fn of(swept: usize, threads: usize) -> Self {
        if swept < Self::MANY_SUPER_CLUSTERS * threads { Self::FEW } else { Self::MANY }
    }
}

/// Approximate fraction of the list per chunk. For half lists it depends on the number of threads and of
/// `swept` super-clusters alone.
fn chunk_shares(symmetric: bool, swept: usize) -> Vec<f64> {
    let threads = reduction_threads();
    match (symmetric, threads) {
        (true, 1) => vec![1.0],
        (true, _) => {
            let ChunkSplit { large, small } = ChunkSplit::of(swept, threads);
            let small = std::iter::repeat_n((1.0 - large) / small as f64, small);
            let of_thread = std::iter::once(large).chain(small).map(|part| part / threads as f64);
            (0..threads).flat_map(|_| of_thread.clone()).collect()
        }
        (false, _) => {
            let chunks = (8 * rayon::current_num_threads()).max(swept / CHUNK_SUPER_CLUSTERS);
            vec![1.0 / chunks as f64; chunks]
        }
    }
}

/// Splits the list into consecutive ranges of super-clusters of about equal cost; only some super-clusters
/// are swept.
fn chunks(list: &NeighborList, swept: &dyn Fn(&ClusterList, usize) -> bool) -> Vec<Range<usize>> {
    let owned = list.owned();
    let all = owned.start / SUPER_CLUSTER..owned.end.div_ceil(SUPER_CLUSTER);
    if owned.is_empty() {
        return Vec::new();
    }
    let unswept = |super_cluster| list.clusters().is_some_and(|list| !swept(list, super_cluster));
    let cost = |super_cluster: usize| match list {
        _ if unswept(super_cluster) => 0,
        NeighborList::Clustered(list) => list.entries(super_cluster) + 1,
        // Loading a cluster's records costs about as much as one word of entries.
        NeighborList::Tiled(list) => list.words(super_cluster) + list.clusters().entries(super_cluster) + 1,
        NeighborList::PerParticle(list) => {
            let rows = super_cluster * SUPER_CLUSTER..(super_cluster + 1) * SUPER_CLUSTER;
            let rows = rows.start.max(owned.start)..rows.end.min(owned.end);
            1 + rows.map(|row| list.neighbors(row).len()).sum::<usize>()
        }
        NeighborList::Cells(list) => 1 + list.cost(super_cluster) as usize,
    };
    let costs: Vec<usize> = all.clone().map(cost).collect();
    let total = costs.iter().sum::<usize>() as f64;
    if total == 0.0 {
        return Vec::new();
    }
    let shares = chunk_shares(list.symmetric(), costs.iter().filter(|cost| **cost > 0).count());
    let ends: Vec<f64> = shares
        .iter()
        .scan(0.0, |end, share| {
            *end += share * total;
            Some(*end)
        })
        .collect();
    // A group of tiles loads its segment once.
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
    use crate::neighbors::Coding;
    use crate::parallel::loops::tests::on;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn ranges_are_split_at_the_bounds_of_runs(
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
            let split = split_by_ranges(&pieces, &runs, first);
            let (cut, alone): (Vec<Range<usize>>, Vec<bool>) = split.into_iter().unzip();
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
        fn chunks_are_contiguous_and_cover_the_swept_super_clusters(
            entries in prop::collection::vec((0u32..60, any::<bool>()), 1..300),
            threads in 1usize..6,
            symmetric: bool,
        ) {
            let clusters: Vec<Vec<u32>> = entries.iter().map(|(count, _)| (0..*count).collect()).collect();
            let owned = 0..entries.len() * SUPER_CLUSTER;
            let list = ClusterList::from_clusters(owned, symmetric, Coding::Plain, &clusters);
            let list = NeighborList::Clustered(list);
            let chunks = on(threads, || chunks(&list, &|_, super_cluster| entries[super_cluster].1));
            prop_assert!(chunks.iter().all(|chunk| !chunk.is_empty()));
            prop_assert!(chunks.windows(2).all(|two| two[0].end == two[1].start));
            let in_chunk = |super_cluster| chunks.iter().any(|chunk| chunk.contains(&super_cluster));
            prop_assert!((0..entries.len()).all(|k| !entries[k].1 || in_chunk(k)));
            if symmetric {
                let swept = entries.iter().filter(|(_, swept)| *swept).count();
                let ChunkSplit { large, small } = ChunkSplit::of(swept, threads);
                let most = if threads == 1 { 1 } else { (1 + small) * threads };
                prop_assert!(chunks.len() <= most);
                // No chunk is much larger than its share.
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
