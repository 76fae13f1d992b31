//! The decomposition over any number of ranks, found in one process: what [`super::Domain::sync`] decides, by the same
//! functions, without its messages, which are counted instead.

use super::DomainSettings;
use super::assign::{Assignment, running_work, sums};
use super::needed::{Own, OwnRows, union};
use crate::comm::traffic::{Traffic, agreeing, gathering, reducing, sending};
use crate::particles::{Field, Particles};
use crate::space::SimulationBox;
use crate::tree::bounds::Extent;
use rayon::prelude::*;
use std::ops::Range;
use std::time::Instant;

pub use super::exchange::Width;

/// How often a time is measured; the least counts.
const REPEATS: usize = 5;

/// What one rank has to do with the others, but for its tree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RankHalos {
    /// Boxes that it publishes.
    pub boxes: usize,
    /// Particles of others that it holds.
    pub received: usize,
    /// Ranks whose particles those are.
    pub senders: usize,
    /// Its particles that others hold, each as often as it is held.
    pub sent: usize,
    /// Ranks that hold them.
    pub receivers: usize,
    /// Ranks that it exchanges particles with, either way.
    pub peers: usize,
}

/// What one rank receives in [`super::Domain::sync`], by its parts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SyncTraffic {
    /// To fit the box.
    pub entering: Traffic,
    /// To sum particles and work over the coarse leaves.
    pub assigning: Traffic,
    /// Particles that come to their new owner.
    pub migrating: Traffic,
    /// The boxes of all ranks.
    pub publishing: Traffic,
    /// The halos.
    pub attaching: Traffic,
}

impl SyncTraffic {
    /// All of it.
    pub fn total(&self) -> Traffic {
        self.entering + self.assigning + self.migrating + self.publishing + self.attaching
    }
}

/// The ranks' shares of particles that are all here, in key order.
#[derive(Clone, Debug)]
pub struct Decomposition {
    settings: DomainSettings,
    assignment: Assignment,
    /// Coarse leaves of each round of the last assignment.
    rounds: Vec<usize>,
    first_rows: Vec<usize>,
}

impl Decomposition {
    /// So many ranks before their first particles.
    pub fn new(ranks: usize, settings: DomainSettings) -> Self {
        Self { settings, assignment: Assignment::new(ranks), rounds: Vec::new(), first_rows: Vec::new() }
    }

    /// Cut the curve anew for these particles, which are all owned here and in key order. As on real ranks, the coarse
    /// leaves of the last time are where it starts, which only makes a difference to the number of rounds.
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

    /// Number of ranks.
    pub fn ranks(&self) -> usize {
        self.assignment.ranks()
    }

    /// Who owns which coarse leaves.
    pub fn assignment(&self) -> &Assignment {
        &self.assignment
    }

    /// The rows of a rank.
    pub fn rows(&self, rank: usize) -> Range<usize> {
        self.first_rows[rank]..self.first_rows[rank + 1]
    }

    /// The rank of a row.
    pub fn rank_of(&self, row: usize) -> usize {
        self.first_rows.partition_point(|&first| first <= row) - 1
    }

    /// Who holds whose particles as halos, for pairs closer than the larger of their radii.
    pub fn halos(&self, bx: &SimulationBox, particles: &Particles, radius: &[f64]) -> Vec<RankHalos> {
        let own = |rank: usize| {
            let rows = self.rows(rank);
            let position = particles.vector(Field::Position).map(|column| &column[rows.clone()]);
            let rows = OwnRows { keys: &particles.key[rows.clone()], position, radius: &radius[rows] };
            Own::new(&self.assignment, rank, rows)
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

    /// What each rank receives in a [`super::Domain::sync`] that ends like this, when particles that travel have so many
    /// columns and `before` tells the rank that had the particle of a row.
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

    /// Coarse leaves of each round that the last assignment took; each is a sum over the ranks.
    pub fn rounds(&self) -> &[usize] {
        &self.rounds
    }

    /// Seconds that a rank takes, for each coarse leaf of all ranks, to find its rows in the leaves, to look for what is
    /// to be divided and merged, to cut, and to unite what the others publish. `particles` are those of all ranks.
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
        // Other programs only add to a time.
        (0..REPEATS).map(|_| once()).fold(f64::INFINITY, f64::min) / all.len() as f64
    }
}

/// Running work of all rows.
fn work(particles: &Particles) -> Vec<u64> {
    running_work(particles, &(0..particles.len() as u32).collect::<Vec<_>>())
}

/// Bytes that a rank keeps for each coarse leaf of all ranks: its key, its count, and a box.
pub const BYTES_PER_LEAF: usize = 2 * size_of::<u64>() + PUBLISHED;

/// Bytes that a rank gets in each sum over the coarse leaves of all ranks, a leaf: to add, and the sums.
pub const SUMMED_PER_LEAF: usize = 2 * size_of::<[u64; 2]>();

/// Bytes of a box that ranks publish.
pub const PUBLISHED: usize = size_of::<Extent>();
