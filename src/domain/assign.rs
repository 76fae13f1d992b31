//! Assignment of key ranges to ranks: coarse leaves of the global octree, cut into contiguous ranges of equal
//! work.
//!
//! The coarse leaves are a cornerstone array, as the fine leaves are, but cover the particles of all ranks.
//! They are replicated on all ranks, with some tens of leaves per rank. A node is divided exactly if it holds
//! more than the fine bucket size (so that the fine tree refines the coarse one) and one of these holds: it
//! exceeds its share of the particles, it exceeds its share of the work, or an equal-work cut falls into it.
//! The balance is therefore as good as with fine leaves only. Counts and work are integers. Hence sums,
//! leaves and cuts depend on the global state alone, not on the previous owners of the particles.

use super::DomainSettings;
use crate::comm::Communicator;
use crate::particles::{Field, Particles, SUPER_CLUSTER};
use crate::space::hilbert::END;
use crate::tree::leaves::Leaves;
use rayon::prelude::*;
use std::ops::Range;

/// A leaf may carry at most the mean work of a rank divided by this number, unless it is below the bucket
/// size.
const LEAF_SHARE: u64 = 16;

/// Upper bound of the work of one particle, so that sums cannot overflow.
const MOST_WORK: f64 = (1u64 << 32) as f64;

/// The coarse leaves and their owners.
#[derive(Clone, Debug)]
pub struct Assignment {
    leaves: Leaves,
    counts: Vec<u64>,
    /// Rank r owns the leaves `first_leaf[r]..first_leaf[r + 1]`.
    first_leaf: Vec<usize>,
}

impl Assignment {
    /// Assigns all keys to the first rank.
    pub(crate) fn new(ranks: usize) -> Self {
        let mut first_leaf = vec![1; ranks + 1];
        first_leaf[0] = 0;
        Self { leaves: Leaves::root(), counts: vec![0], first_leaf }
    }

    /// Returns the number of ranks.
    pub fn ranks(&self) -> usize {
        self.first_leaf.len() - 1
    }

    /// Returns the coarse leaves, the same on all ranks.
    pub fn leaves(&self) -> &Leaves {
        &self.leaves
    }

    /// Returns the number of particles of all ranks in each coarse leaf.
    pub fn counts(&self) -> &[u64] {
        &self.counts
    }

    /// Returns the coarse leaves of a rank; possibly none.
    pub fn leaves_of(&self, rank: usize) -> Range<usize> {
        self.first_leaf[rank]..self.first_leaf[rank + 1]
    }

    /// Returns the rank that owns a coarse leaf.
    pub fn owner(&self, leaf: usize) -> usize {
        self.first_leaf.partition_point(|&first| first <= leaf) - 1
    }

    /// Returns the key range of a rank; possibly empty.
    pub fn range(&self, rank: usize) -> Range<u64> {
        let leaves = self.leaves_of(rank);
        self.leaves.keys()[leaves.start]..self.leaves.keys()[leaves.end]
    }

    /// Updates leaves and cuts for particles with these sorted keys. `work` is the exclusive prefix sum of
    /// work: one entry more than particles, the first 0. Collective.
    pub(super) fn update(
        &mut self,
        comm: &Communicator,
        keys: &[u64],
        work: &[u64],
        settings: &DomainSettings,
    ) {
        let mut total = [keys.len() as u64, work[keys.len()]];
        comm.all_sum(&mut total);
        self.decide(total, settings, |leaves| {
            let mut sums = sums(leaves, keys, work);
            comm.all_sum(bytemuck::cast_slice_mut::<_, u64>(&mut sums));
            sums
        });
    }

    /// Updates leaves and cuts for a total of `total` particles and work. `sums_of` returns the particles and
    /// work in each of the given leaves. The result depends on the returned sums alone.
    pub(crate) fn decide(
        &mut self,
        total: [u64; 2],
        settings: &DomainSettings,
        mut sums_of: impl FnMut(&Leaves) -> Vec<[u64; 2]>,
    ) {
        let ranks = self.ranks() as u64;
        let bucket =
            (3 * total[0] / (ranks * settings.coarse_leaves_per_rank.max(1))).max(settings.bucket_size);
        let share = total[1] / (ranks * LEAF_SHARE);
        let divides = |before: u64, [count, work]: [u64; 2]| {
            count > settings.bucket_size
                && (count > bucket || work > share || cut_within(before..before + work, total[1], ranks))
        };
        loop {
            let sums = sums_of(&self.leaves);
            let Some(next) = refine_once(&self.leaves, &sums, &divides) else {
                self.counts = sums.iter().map(|sum| sum[0]).collect();
                self.first_leaf = cut_leaves(&sums, ranks as usize);
                return;
            };
            self.leaves = next;
        }
    }

    /// Returns the box that starts the second half of a rank's boxes. Boxes are counted over the leaves in
    /// which super-clusters begin. The chosen one splits the particles of the rank most evenly. All ranks
    /// split its published boxes there, so that both sides have about equally many pairs whatever the leaves
    /// are. The second half is non-empty unless the rank is empty.
    pub(super) fn middle(&self, rank: usize) -> usize {
        let counts = self.counts[self.leaves_of(rank)].iter().map(|&count| count as usize);
        let half = counts.clone().sum::<usize>() / 2;
        let (mut before, mut boxes, mut middle) = (0usize, 0, (usize::MAX, 0));
        for count in counts {
            let begins = before.div_ceil(SUPER_CLUSTER)..(before + count).div_ceil(SUPER_CLUSTER);
            if !begins.is_empty() {
                middle = middle.min((before.abs_diff(half), boxes));
                boxes += 1;
            }
            before += count;
        }
        middle.1
    }

    /// Returns the coarse leaves, with those of `rank` refined down to `bucket_size` by its own sorted keys.
    pub(super) fn refined(&self, rank: usize, keys: &[u64], bucket_size: u64) -> Leaves {
        let coarse = self.leaves.keys();
        let own = self.leaves_of(rank);
        let parts: Vec<Vec<u64>> = own
            .clone()
            .into_par_iter()
            .map(|leaf| {
                let mut begins = Vec::new();
                let from = keys.partition_point(|&key| key < coarse[leaf]);
                let to = keys.partition_point(|&key| key < coarse[leaf + 1]);
                divide(&keys[from..to], coarse[leaf]..coarse[leaf + 1], bucket_size, &mut begins);
                begins
            })
            .collect();
        let mut all = coarse[..own.start].to_vec();
        all.extend(parts.iter().flatten());
        all.extend(&coarse[own.end..]);
        match Leaves::from_keys(all) {
            Some(leaves) => leaves,
            None => unreachable!("leaves divided in eights are a cornerstone array"),
        }
    }
}

/// Returns the prefix sums of the work of `rows`: one entry more than rows, the first 0.
pub(super) fn work_prefix_sums(particles: &Particles, rows: &[u32]) -> Vec<u64> {
    let mut running = Vec::with_capacity(rows.len() + 1);
    let mut sum = 0u64;
    running.push(0);
    let work = particles.has(Field::Work).then(|| particles.scalar(Field::Work));
    running.extend(rows.iter().map(|&row| {
        // Each particle has a base cost, independent of its neighbors.
        sum += 1 + work.map_or(0, |work| work[row as usize].min(MOST_WORK) as u64);
        sum
    }));
    running
}

/// Appends the first keys of the leaves below a node, which is divided while it holds more than `bucket_size`
/// keys.
fn divide(keys: &[u64], node: Range<u64>, bucket_size: u64, begins: &mut Vec<u64>) {
    let span = node.end - node.start;
    if keys.len() as u64 <= bucket_size || span == 1 {
        return begins.push(node.start);
    }
    let (eighth, mut rest) = (span / 8, keys);
    for first in (0..8).map(|child| node.start + child * eighth) {
        let (inside, behind) = rest.split_at(rest.partition_point(|&key| key - first < eighth));
        divide(inside, first..first + eighth, bucket_size, begins);
        rest = behind;
    }
}

/// Returns particles and work per leaf, from sorted keys and the prefix sums of their work.
pub(super) fn sums(leaves: &Leaves, keys: &[u64], work: &[u64]) -> Vec<[u64; 2]> {
    let own = |rows: &[usize]| [(rows[1] - rows[0]) as u64, work[rows[1]] - work[rows[0]]];
    leaves.first_rows(keys).windows(2).map(own).collect()
}

/// One refinement round: divides or merges nodes by one level towards the leaves that `divides` defines;
/// `None` if nothing changes. `divides` gets the work before a node and the node's sums. It must hold for a
/// node if it holds for one of its children.
fn refine_once(
    leaves: &Leaves,
    sums: &[[u64; 2]],
    divides: &impl Fn(u64, [u64; 2]) -> bool,
) -> Option<Leaves> {
    let keys = leaves.keys();
    let mut next = Vec::with_capacity(keys.len());
    let (mut leaf, mut before) = (0, 0);
    while leaf < leaves.len() {
        let (first, span) = (keys[leaf], keys[leaf + 1] - keys[leaf]);
        next.push(first);
        let siblings = span < END
            && first % (8 * span) == 0
            && keys.get(leaf + 8).is_some_and(|&end| end == first + 8 * span);
        if siblings {
            let parent =
                sums[leaf..leaf + 8].iter().fold([0, 0], |sum, own| [sum[0] + own[0], sum[1] + own[1]]);
            if !divides(before, parent) {
                (leaf, before) = (leaf + 8, before + parent[1]);
                continue;
            }
        }
        if span > 1 && divides(before, sums[leaf]) {
            next.extend((1..8).map(|child| first + child * (span / 8)));
        }
        (leaf, before) = (leaf + 1, before + sums[leaf][1]);
    }
    next.push(END);
    if next == keys {
        return None;
    }
    match Leaves::from_keys(next) {
        Some(leaves) => Some(leaves),
        None => unreachable!("leaves divided and merged in eights are a cornerstone array"),
    }
}

/// Returns the work before the first leaf of a rank under an equal-work partition.
fn work_before(rank: u64, total: u64, ranks: u64) -> u64 {
    (u128::from(total) * u128::from(rank) / u128::from(ranks)) as u64
}

/// Returns whether an equal-work cut lies strictly inside this interval of cumulative work.
fn cut_within(part: Range<u64>, total: u64, ranks: u64) -> bool {
    // The first rank whose work starts after the start of the interval.
    let behind = u128::from(part.start) + 1;
    let rank = (behind * u128::from(ranks)).div_ceil(u128::from(total.max(1))) as u64;
    rank < ranks && work_before(rank, total, ranks) < part.end
}

/// Returns the first leaf of each rank, and the number of leaves: the cuts nearest to equal work.
fn cut_leaves(sums: &[[u64; 2]], ranks: usize) -> Vec<usize> {
    let running: Vec<u64> = std::iter::once(0)
        .chain(sums.iter().scan(0, |sum, [_, work]| {
            *sum += work;
            Some(*sum)
        }))
        .collect();
    let total = running[sums.len()];
    let mut first_leaf: Vec<usize> = (0..ranks)
        .map(|rank| {
            let wanted = work_before(rank as u64, total, ranks as u64);
            let above = running.partition_point(|&work| work < wanted);
            match above.checked_sub(1) {
                Some(below) if wanted - running[below] <= running[above] - wanted => below,
                _ => above,
            }
        })
        .collect();
    first_leaf.push(sums.len());
    first_leaf
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn cuts_are_found_within_parts(total in 0..200u64, ranks in 1..12u64, ends in (0..200u64, 0..200u64)) {
            let part = ends.0.min(ends.1).min(total)..ends.0.max(ends.1).min(total);
            let expected = (0..ranks).any(|rank| {
                let begin = work_before(rank, total, ranks);
                part.start < begin && begin < part.end
            });
            prop_assert_eq!(cut_within(part, total, ranks), expected);
        }

        #[test]
        fn ranks_have_as_much_work_as_others_up_to_a_small_leaf(
            mut keys in prop::collection::vec(0..END, 200..2000),
            ranks in 1..6usize,
            heavy in 1..9u64,
        ) {
            keys.sort_unstable();
            keys.dedup();
            // The second half costs more per particle.
            let cost = |k: usize| if 2 * k < keys.len() { 1 } else { heavy };
            let work: Vec<u64> = std::iter::once(0)
                .chain((0..keys.len()).scan(0, |sum, k| {
                    *sum += cost(k);
                    Some(*sum)
                }))
                .collect();
            let settings = DomainSettings { bucket_size: 8, coarse_leaves_per_rank: 2, ..DomainSettings::default() };
            let total = [keys.len() as u64, work[keys.len()]];
            let mut assignment = Assignment::new(ranks);
            assignment.decide(total, &settings, |leaves| sums(leaves, &keys, &work));
            for rank in 1..ranks {
                let first = keys.partition_point(|&key| key < assignment.range(rank).start);
                let away = work[first].abs_diff(work_before(rank as u64, total[1], ranks as u64));
                prop_assert!(2 * away <= settings.bucket_size * heavy, "{} of {}", away, total[1]);
            }
            for rank in 0..ranks {
                let own = |leaves: Range<usize>| assignment.counts()[leaves].iter().sum::<u64>() as usize;
                let leaves = assignment.leaves_of(rank);
                let half = own(leaves.clone()) / 2;
                let before = |leaf: usize| own(leaves.start..leaf);
                let begins = |leaf: &usize| before(*leaf).div_ceil(SUPER_CLUSTER) < before(leaf + 1).div_ceil(SUPER_CLUSTER);
                let away: Vec<usize> = leaves.clone().filter(begins).map(|leaf| before(leaf).abs_diff(half)).collect();
                let middle = assignment.middle(rank);
                prop_assert!(middle < away.len().max(1));
                prop_assert_eq!(away.get(middle), away.iter().min());
            }
            // The result is independent of the initial leaves.
            let mut again = Assignment::new(ranks);
            again.decide(total, &DomainSettings { coarse_leaves_per_rank: 50, ..settings }, |leaves| sums(leaves, &keys, &work));
            again.decide(total, &settings, |leaves| sums(leaves, &keys, &work));
            prop_assert_eq!(again.leaves().keys(), assignment.leaves().keys());
        }
    }
}
