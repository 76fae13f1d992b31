//! The decomposition over any number of ranks, simulated in one process. It uses the functions of
//! [`super::Domain::sync`] without messages and computes their traffic instead.

use super::DomainSettings;
use super::assign::{Assignment, sums, work_prefix_sums};
use super::halo_selection::{OwnBoxes, OwnRows, union};
use crate::comm::traffic::{Traffic, agreeing, gathering, reducing, sending};
use crate::particles::{Field, Particles};
use crate::space::SimulationBox;
use crate::tree::bounds::Extent;
use rayon::prelude::*;
use std::ops::Range;
use std::time::Instant;

pub use super::migrate::Width;

/// Number of repetitions of a timing; the minimum counts.
const REPEATS: usize = 5;

/// Halo statistics of one rank.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RankHalos {
    /// Boxes that it publishes.
    pub boxes: usize,
    /// Halo particles that it receives.
    pub received: usize,
    /// Ranks that own these halo particles.
    pub senders: usize,
    /// Own particles that it sends as halos, counted once per receiver.
    pub sent: usize,
    /// Ranks that receive them.
    pub receivers: usize,
    /// Ranks with which it exchanges halos in either direction.
    pub peers: usize,
}

/// Traffic that one rank receives in [`super::Domain::sync`], by phase.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SyncTraffic {
    /// Fitting the box.
    pub entering: Traffic,
    /// Summing particles and work over the coarse leaves.
    pub assigning: Traffic,
    /// Migrating particles to their new owners.
    pub migrating: Traffic,
    /// Gathering the boxes of all ranks.
    pub publishing: Traffic,
    /// Receiving the halos.
    pub attaching: Traffic,
}

impl SyncTraffic {
    /// Returns the sum of all phases.
    pub fn total(&self) -> Traffic {
        self.entering + self.assigning + self.migrating + self.publishing + self.attaching
    }
}

/// The partition, over simulated ranks, of particles that are all in this process in key order.
#[derive(Clone, Debug)]
pub struct Decomposition {
    settings: DomainSettings,
    assignment: Assignment,
    /// Number of coarse leaves in each round of the last assignment.
    rounds: Vec<usize>,
    first_rows: Vec<usize>,
}

impl Decomposition {
    /// Creates a decomposition over `ranks` ranks, without particles.
    pub fn new(ranks: usize, settings: DomainSettings) -> Self {
        Self { settings, assignment: Assignment::new(ranks), rounds: Vec::new(), first_rows: Vec::new() }
    }

    /// Partitions these particles, which must all be owned here and in key order. As on real ranks, the
    /// iteration starts from the previous coarse leaves, which affects only the number of rounds.
    pub fn assign(&mut self, particles: &Particles) {
        let work = work(particles);
        let keys = &particles.key;
        self.rounds.clear();
        self.assignment.decide([keys.len() as u64, work[keys.len()]], &self.settings, |leaves| {
            self.rounds.push(leaves.len());
            sums(leaves, keys, &work)
        });
        let first = |rank: usize| keys.partition_point(|&key| key < self.assignment.range(rank).start);
        self.first_rows = (0..self.ranks()).map(first).chain([keys.len()]).collect();
    }

    /// Returns the number of ranks.
    pub fn ranks(&self) -> usize {
        self.assignment.ranks()
    }

    /// Returns the coarse leaves and their owners.
    pub fn assignment(&self) -> &Assignment {
        &self.assignment
    }

    /// Returns the rows of a rank.
    pub fn rows(&self, rank: usize) -> Range<usize> {
        self.first_rows[rank]..self.first_rows[rank + 1]
    }

    /// Returns the rank of a row.
    pub fn rank_of(&self, row: usize) -> usize {
        self.first_rows.partition_point(|&first| first <= row) - 1
    }

    /// Returns the halo statistics of each rank, for pairs closer than the larger of their two radii (length
    /// unit, one per row).
    pub fn halos(&self, bx: &SimulationBox, particles: &Particles, radius: &[f64]) -> Vec<RankHalos> {
        let own = |rank: usize| {
            let rows = self.rows(rank);
            let position = particles.vector(Field::Position).map(|column| &column[rows.clone()]);
            let rows = OwnRows { keys: &particles.key[rows.clone()], position, radius: &radius[rows] };
            OwnBoxes::new(&self.assignment, rank, rows)
        };
        let ranks = self.ranks();
        let published: Vec<Vec<Extent>> =
            (0..ranks).into_par_iter().map(|rank| own(rank).boxes().to_vec()).collect();
        let extents: Vec<Extent> = published.iter().map(|boxes| union(boxes.iter().copied())).collect();
        let sent: Vec<Vec<(usize, usize)>> = (0..ranks)
            .into_par_iter()
            .map(|sender| {
                let own = own(sender);
                let across = self.settings.across;
                let needed = |rank: usize| {
                    let theirs = (rank, &published[rank][..]);
                    own.needed(theirs, &extents[rank], bx, across).rows()
                };
                let others = (0..ranks).filter(|&rank| rank != sender).map(|rank| (rank, needed(rank)));
                others.filter(|(_, count)| *count > 0).collect()
            })
            .collect();
        let mut halos: Vec<RankHalos> = published
            .iter()
            .zip(&sent)
            .map(|(boxes, to)| RankHalos {
                boxes: boxes.len(),
                sent: to.iter().map(|(_, count)| count).sum(),
                receivers: to.len(),
                peers: to.len(),
                ..RankHalos::default()
            })
            .collect();
        for (sender, to) in sent.iter().enumerate() {
            for &(receiver, count) in to {
                halos[receiver].received += count;
                halos[receiver].senders += 1;
                let mutual = sent[receiver].binary_search_by_key(&sender, |(rank, _)| *rank).is_ok();
                halos[receiver].peers += usize::from(!mutual);
            }
        }
        halos
    }

    /// Returns the traffic of each rank in the [`super::Domain::sync`] that led to this state. `width` is the
    /// number of columns that travel. `before(row)` returns the previous rank of a row.
    pub fn traffic(
        &self,
        width: Width,
        halos: &[RankHalos],
        before: impl Fn(usize) -> usize + Sync,
    ) -> Vec<SyncTraffic> {
        let ranks = self.ranks();
        let [of_migrant, of_halo] = [width.migrant, width.halo].map(|columns| 8 * columns as u64);
        let boxes: usize = halos.iter().map(|halos| halos.boxes).sum();
        let of_rank = |rank: usize| {
            let halos = &halos[rank];
            let mut from: Vec<usize> = self.rows(rank).map(&before).filter(|&old| old != rank).collect();
            let migrants = from.len() as u64;
            from.sort_unstable();
            from.dedup();
            let others = (boxes - halos.boxes) * PUBLISHED;
            let rounds = self.rounds.iter().map(|&leaves| reducing(ranks, rank, 2 * leaves as u64));
            SyncTraffic {
                entering: agreeing(ranks) + reducing(ranks, rank, 6),
                assigning: rounds.fold(reducing(ranks, rank, 2), |all, round| all + round),
                migrating: sending(ranks, of_migrant * migrants, from.len() as u64),
                publishing: gathering(ranks, others as u64),
                attaching: sending(ranks, of_halo * halos.received as u64, halos.senders as u64),
            }
        };
        (0..ranks).into_par_iter().map(of_rank).collect()
    }

    /// Returns the number of coarse leaves in each round of the last assignment; each round is a sum over the
    /// ranks.
    pub fn rounds(&self) -> &[usize] {
        &self.rounds
    }

    /// Measures the time (s) per coarse leaf of all ranks that a rank spends on the replicated work:
    /// assigning rows to leaves, dividing and merging, cutting, and uniting the published boxes. `particles`
    /// are those of all ranks.
    pub fn seconds_per_leaf(&self, particles: &Particles) -> f64 {
        let work = work(particles);
        let all = sums(self.assignment.leaves(), &particles.key, &work);
        let own = &particles.key[self.rows(0)];
        let boxes = vec![Extent::NOTHING; all.len()];
        let once = || {
            let mut assignment = self.assignment.clone();
            let start = Instant::now();
            let mut of_own = sums(assignment.leaves(), own, &work[..=own.len()]);
            assignment.decide([particles.len() as u64, work[particles.len()]], &self.settings, |_| {
                of_own.copy_from_slice(&all);
                of_own.clone()
            });
            std::hint::black_box((union(boxes.iter().copied()), assignment));
            start.elapsed().as_secs_f64()
        };
        // Other processes can only increase a time.
        (0..REPEATS).map(|_| once()).fold(f64::INFINITY, f64::min) / all.len() as f64
    }
}

/// Returns the prefix sums of the work of all rows.
fn work(particles: &Particles) -> Vec<u64> {
    work_prefix_sums(particles, &(0..particles.len() as u32).collect::<Vec<_>>())
}

/// Bytes that a rank stores per coarse leaf of all ranks: its key, its count, and a box.
pub const BYTES_PER_LEAF: usize = 2 * size_of::<u64>() + PUBLISHED;

/// Bytes per leaf that a rank handles in one sum over the coarse leaves of all ranks: the summands and the
/// sums.
pub const SUMMED_PER_LEAF: usize = 2 * size_of::<[u64; 2]>();

/// Size of a published box (bytes).
pub const PUBLISHED: usize = size_of::<Extent>();
