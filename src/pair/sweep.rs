//! The sweep: a law over a neighbor list, threads over chunks of super-clusters, lanes within.

use super::Precision;
use super::finish::{Finish, Outputs, Part, Present};
use super::inner::{Chunk, Shared};
use super::lane::{Instructions, Scalar, dispatch};
use super::law::PairLaw;
use super::pack::Packed;
use super::sums::ChunkSums;
use crate::neighbors::{NeighborList, SUPER_CLUSTER};
use crate::particles::{Field, Particles};
use crate::space::SimulationBox;
use rayon::prelude::*;
use std::ops::Range;

/// The circumstances of a sweep.
#[derive(Clone, Copy, Debug)]
pub struct Pass<'a> {
    /// The box, whose periods give the images.
    pub bx: &'a SimulationBox,
    /// Interaction radius of each row; the list was built with radii at least as large.
    pub radius: &'a [f64],
    /// The lanes' arithmetic.
    pub precision: Precision,
    /// Rows whose outputs are wanted, `None` for all: others keep theirs. Clusters without such a row are skipped
    /// on full lists.
    pub active: Option<&'a [bool]>,
}

/// What a sweep did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SweepStatistics {
    /// Lane pairs of which at least the distance was evaluated.
    pub lane_pairs: u64,
}

/// Evaluate a law for the owned rows over the listed pairs, write its outputs, and add the lane pairs spent on each
/// row to `Field::Work` where the particles have it.
///
/// The same bits for the same list and number of threads; on full lists for any number of threads.
pub fn sweep<L: PairLaw>(
    law: &L,
    pass: &Pass,
    list: &NeighborList,
    particles: &mut Particles,
) -> SweepStatistics {
    sweep_with(law, pass, list, particles, Instructions::Best)
}

/// [`sweep`] that takes from the particles inputs which nobody reads afterwards, as soon as they are packed for the lanes:
/// what is written can have their memory. What a law stores must not depend on them but through its sums.
pub fn sweep_spending<L: PairLaw>(
    law: &L,
    pass: &Pass,
    list: &NeighborList,
    particles: &mut Particles,
    spent: &[Field],
) -> SweepStatistics {
    check(pass, list, particles);
    sweep_as(law, pass, list, (particles, spent), Instructions::Best)
}

/// [`sweep`] in double precision, whatever the pass says.
pub fn sweep_double<L: PairLaw>(
    law: &L,
    pass: &Pass,
    list: &NeighborList,
    particles: &mut Particles,
) -> SweepStatistics {
    check(pass, list, particles);
    sweep_in::<L, f64>(law, pass, list, (particles, &[]), Instructions::Best)
}

/// What a pass must be for the particles.
fn check(pass: &Pass, list: &NeighborList, particles: &Particles) {
    assert_eq!(pass.radius.len(), particles.len(), "one radius per row");
    assert_eq!(list.owned(), particles.owned(), "the list belongs to other particles");
}

/// [`sweep`] with chosen instructions, for tests and benchmarks.
pub fn sweep_with<L: PairLaw>(
    law: &L,
    pass: &Pass,
    list: &NeighborList,
    particles: &mut Particles,
    instructions: Instructions,
) -> SweepStatistics {
    check(pass, list, particles);
    sweep_as(law, pass, list, (particles, &[]), instructions)
}

/// In the precision of the pass.
fn sweep_as<L: PairLaw>(
    law: &L,
    pass: &Pass,
    list: &NeighborList,
    particles: (&mut Particles, &[Field]),
    instructions: Instructions,
) -> SweepStatistics {
    if pass.precision == Precision::Mixed && instructions.have_single() {
        sweep_in::<L, f32>(law, pass, list, particles, instructions)
    } else {
        sweep_in::<L, f64>(law, pass, list, particles, instructions)
    }
}

fn sweep_in<L: PairLaw, T: Scalar>(
    law: &L,
    pass: &Pass,
    list: &NeighborList,
    (particles, spent): (&mut Particles, &[Field]),
    instructions: Instructions,
) -> SweepStatistics {
    let symmetric = list.symmetric();
    let rows = Chosen::new(particles, pass.active, symmetric);
    let present = Present::take::<L>(particles);
    let spent = Spent::take(particles, spent);
    let packed = {
        let inputs: Vec<&[f64]> = components(L::INPUTS).map(|input| spent.column(particles, input)).collect();
        let position = particles.vector(Field::Position);
        Packed::<T>::new(law, position, pass.radius, &inputs, pass.bx, instructions)
    };
    // now the outputs can have the memory of what is packed
    drop(spent);
    let mut outputs = present.complete(particles.len());
    let shared = Shared { law, packed, rows, owned: particles.owned(), symmetric };
    let inputs = components(L::INPUTS).map(|(field, c)| {
        let there = particles.has(field);
        there.then(|| particles.component(field, c))
    });
    let finish = Finish { law, inputs: inputs.collect(), rows: &shared.rows };
    let lane_pairs = run_chunks(&shared, list, &finish, &mut outputs, instructions);
    outputs.give(particles);
    SweepStatistics { lane_pairs }
}

/// Evaluate a list chunk by chunk and write the outputs; returns the lane pairs.
///
/// A chunk of a full list has all sums of its rows, and writes them as soon as it is done. Chunks of half lists have sums
/// of rows of others too: they are joined when all are done.
fn run_chunks<L: PairLaw, T: Scalar>(
    shared: &Shared<L, T>,
    list: &NeighborList,
    finish: &Finish<L>,
    outputs: &mut Outputs,
    instructions: Instructions,
) -> u64 {
    let (chunks, owned) = (chunks(list), list.owned());
    let rows = |chunk: &Range<usize>| {
        (chunk.start * SUPER_CLUSTER).max(owned.start)..(chunk.end * SUPER_CLUSTER).min(owned.end)
    };
    let parts: Vec<Option<Part>> = match shared.symmetric {
        true => chunks.iter().map(|_| None).collect(),
        false => {
            let rows: Vec<Range<usize>> = chunks.iter().map(rows).collect();
            outputs.parts(&rows).into_iter().map(Some).collect()
        }
    };
    let evaluate = |(super_clusters, part): (Range<usize>, Option<Part>)| {
        let sums = dispatch(instructions, Chunk { shared, list, super_clusters });
        let lane_pairs = sums.lane_pairs;
        match part {
            Some(mut part) => {
                finish.part(&[sums], &mut part);
                (lane_pairs, None)
            }
            None => (lane_pairs, Some(sums)),
        }
    };
    let (lane_pairs, sums): (Vec<u64>, Vec<Option<ChunkSums>>) =
        chunks.into_par_iter().zip(parts).with_max_len(1).map(evaluate).unzip();
    let sums: Vec<ChunkSums> = sums.into_iter().flatten().collect();
    if !sums.is_empty() {
        let piece = |begin: usize| begin..owned.end.min(begin + PIECE);
        let rows: Vec<Range<usize>> = owned.clone().step_by(PIECE).map(piece).collect();
        outputs.parts(&rows).into_par_iter().for_each(|mut part| finish.part(&sums, &mut part));
    }
    lane_pairs.into_iter().sum()
}

/// The components of fields, in order.
fn components(fields: &'static [Field]) -> impl Iterator<Item = (Field, usize)> {
    fields.iter().flat_map(|&field| (0..field.components()).map(move |c| (field, c)))
}

/// Columns that are nobody's but the sweep's.
struct Spent(Vec<(Field, Vec<Vec<f64>>)>);

impl Spent {
    fn take(particles: &mut Particles, fields: &[Field]) -> Self {
        Spent(fields.iter().filter_map(|&field| Some((field, particles.take(field)?))).collect())
    }

    /// A component of a field, from wherever it is.
    fn column<'a>(&'a self, particles: &'a Particles, (field, component): (Field, usize)) -> &'a [f64] {
        match self.0.iter().find(|(own, _)| *own == field) {
            Some((_, columns)) => &columns[component],
            None => particles.component(field, component),
        }
    }
}

/// Super-clusters of a chunk of a full list, about: enough that what a chunk prepares is nothing beside it, and few enough that
/// its sums stay in the cache and no thread waits long for the last one.
const CHUNK: usize = 32;

/// Contiguous runs of super-clusters of about equal numbers of entries. Each chunk of a half list has its own
/// reactions, so there are fewer of them; their number is a function of the number of threads alone.
fn chunks(list: &NeighborList) -> Vec<Range<usize>> {
    let owned = list.owned();
    let all = owned.start / SUPER_CLUSTER..owned.end.div_ceil(SUPER_CLUSTER);
    if owned.is_empty() {
        return Vec::new();
    }
    let cost = |super_cluster: usize| match list {
        NeighborList::Clustered(list) => list.entries(super_cluster) + 1,
        NeighborList::PerParticle(list) => {
            let rows = super_cluster * SUPER_CLUSTER..(super_cluster + 1) * SUPER_CLUSTER;
            let rows = rows.start.max(owned.start)..rows.end.min(owned.end);
            1 + rows.map(|row| list.neighbors(row).len()).sum::<usize>()
        }
    };
    let costs: Vec<usize> = all.clone().map(cost).collect();
    let pieces = match (rayon::current_num_threads(), list.symmetric()) {
        (1, true) => 1,
        (threads, true) => 2 * threads,
        (threads, false) => (8 * threads).max(all.len() / CHUNK),
    };
    let share = costs.iter().sum::<usize>().div_ceil(pieces).max(1);
    let (mut chunks, mut begin, mut sum) = (Vec::new(), all.start, 0);
    for (super_cluster, cost) in all.clone().zip(costs) {
        sum += cost;
        if sum >= share {
            chunks.push(begin..super_cluster + 1);
            (begin, sum) = (super_cluster + 1, 0);
        }
    }
    if begin < all.end {
        chunks.push(begin..all.end);
    }
    chunks
}

/// Rows of a piece that is finished by one thread.
const PIECE: usize = 32 * SUPER_CLUSTER;

/// Which rows a sweep is for.
pub struct Chosen {
    owned: Range<usize>,
    /// Rows that get outputs; `None`: all owned ones.
    written: Option<Vec<bool>>,
    /// Rows whose pairs are evaluated, where these are others; the inner `None`: all owned ones.
    wanted: Option<Option<Vec<bool>>>,
}

impl Chosen {
    /// Owned rows that are no ghosts and active. On half lists an inactive particle's pairs act on active ones.
    fn new(particles: &Particles, active: Option<&[bool]>, symmetric: bool) -> Self {
        let owned = particles.owned();
        let any_ghost = particles.id[owned.clone()].par_chunks(PIECE).any(|ids| ids.contains(&u64::MAX));
        let of = |active: Option<&[bool]>| {
            let chosen = |row: usize| {
                owned.contains(&row) && !particles.ghost(row) && active.is_none_or(|active| active[row])
            };
            let rows = || (0..particles.len()).into_par_iter().with_min_len(PIECE).map(chosen).collect();
            (any_ghost || active.is_some()).then(rows)
        };
        let others = symmetric && active.is_some();
        Chosen { written: of(active), wanted: others.then(|| of(None)), owned: owned.clone() }
    }

    /// Whether an owned row gets outputs.
    #[inline(always)]
    pub fn written(&self, row: usize) -> bool {
        self.written.as_ref().is_none_or(|written| written[row])
    }

    /// Whether pairs of any of some rows are evaluated.
    #[inline(always)]
    pub fn wanted(&self, rows: Range<usize>) -> bool {
        let rows = rows.start.max(self.owned.start)..rows.end.min(self.owned.end);
        let wanted = self.wanted.as_ref().unwrap_or(&self.written);
        !rows.is_empty() && wanted.as_ref().is_none_or(|wanted| wanted[rows].contains(&true))
    }
}
