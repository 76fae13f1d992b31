//! The sweep: a law over a neighbor list, threads over chunks of super-clusters, lanes within.

use super::Precision;
use super::inner::{Chunk, Shared};
use super::lane::{Instructions, Scalar, dispatch};
use super::law::{Columns, PairLaw, Sum};
use super::pack::Packed;
use super::sums::ChunkSums;
use crate::neighbors::{CLUSTER, NeighborList, SUPER_CLUSTER};
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

/// [`sweep`] in double precision, whatever the pass says.
pub fn sweep_double<L: PairLaw>(
    law: &L,
    pass: &Pass,
    list: &NeighborList,
    particles: &mut Particles,
) -> SweepStatistics {
    check(pass, list, particles);
    sweep_in::<L, f64>(law, pass, list, particles, Instructions::Best)
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
    particles: &mut Particles,
    instructions: Instructions,
) -> SweepStatistics {
    let owned = particles.owned();
    let rows = Chosen::new(particles, pass.active, list.symmetric());
    let packed = Packed::<T>::new::<L>(law, particles, pass.bx, pass.radius, instructions);
    let symmetric = list.symmetric();
    let shared = Shared { law, packed, rows, owned: owned.clone(), symmetric };
    let chunks: Vec<ChunkSums> = chunks(list)
        .into_par_iter()
        .map(|super_clusters| dispatch(instructions, Chunk { shared: &shared, list, super_clusters }))
        .collect();
    let rows = shared.rows;
    finish::<L>(law, &chunks, &rows, particles);
    if particles.has(Field::Work) {
        let work = particles.scalar_mut(Field::Work);
        for chunk in &chunks {
            let first = chunk.super_clusters.start * SUPER_CLUSTER;
            let end = (chunk.super_clusters.end * SUPER_CLUSTER).min(owned.end);
            for (row, spent) in (first..end).zip(&chunk.work).filter(|(row, _)| rows.written(*row)) {
                work[row] += spent;
            }
        }
    }
    SweepStatistics { lane_pairs: chunks.iter().map(|chunk| chunk.lane_pairs).sum() }
}

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
        (threads, false) => 8 * threads,
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

/// The components of fields, in order.
fn components(fields: &'static [Field]) -> Vec<(Field, usize)> {
    fields.iter().flat_map(|&field| (0..field.components()).map(move |c| (field, c))).collect()
}

/// Join the chunks' sums in their order, finish each particle, and write its outputs.
fn finish<L: PairLaw>(law: &L, chunks: &[ChunkSums], rows: &Chosen, particles: &mut Particles) {
    let owned = particles.owned();
    let (inputs, outputs) = particles.columns(&components(L::INPUTS), &components(L::OUTPUTS));
    let mut pieces: Vec<Vec<&mut [f64]>> = Vec::new();
    pieces.resize_with(owned.len().div_ceil(PIECE), || Vec::with_capacity(outputs.len()));
    for column in outputs {
        for (piece, part) in pieces.iter_mut().zip(column[owned.clone()].chunks_mut(PIECE)) {
            piece.push(part);
        }
    }
    pieces.into_par_iter().enumerate().for_each(|(piece, mut outputs)| {
        let mut joined = Vec::new();
        let first = owned.start + piece * PIECE;
        let end = owned.end.min(first + PIECE);
        // owned rows begin with a super-cluster
        for begin in (first..end).step_by(SUPER_CLUSTER) {
            let mut blocks =
                chunks.iter().filter_map(|chunk| chunk.blocks.super_cluster(begin / SUPER_CLUSTER));
            let Some(only) = blocks.next() else { continue };
            let mut sums = only;
            if let Some(second) = blocks.next() {
                joined.clear();
                joined.extend_from_slice(only);
                std::iter::once(second).chain(blocks).for_each(|block| join(L::SUMS, &mut joined, block));
                sums = &joined;
            }
            for row in (begin..end.min(begin + SUPER_CLUSTER)).filter(|&row| rows.written(row)) {
                let (cluster, lane) = ((row - begin) / CLUSTER, row % CLUSTER);
                let cluster = &sums[cluster * L::SUMS.len() * CLUSTER..];
                let sums = L::Sums::<f64>::from_columns(|c| cluster[c * CLUSTER + lane]);
                let own = L::Particle::<f64>::from_columns(|c| inputs[c][row]);
                let finished = law.finish(own, sums).to_columns();
                for (output, value) in outputs.iter_mut().zip(finished.as_ref()) {
                    output[row - first] = *value;
                }
            }
        }
    });
}

/// Join a block with the sums of the same super-cluster.
fn join(columns: &[Sum], sums: &mut [f64], block: &[f64]) {
    let pairs = sums.chunks_exact_mut(CLUSTER).zip(block.chunks_exact(CLUSTER));
    for (k, (totals, values)) in pairs.enumerate() {
        let reduction = columns[k % columns.len()].reduction;
        for (total, value) in totals.iter_mut().zip(values) {
            *total = reduction.join(*total, *value);
        }
    }
}

/// Which rows a sweep is for.
pub struct Chosen {
    owned: Range<usize>,
    /// Rows that get outputs; `None`: all owned ones.
    written: Option<Vec<bool>>,
    /// Rows whose pairs are evaluated; `None`: all owned ones.
    wanted: Option<Vec<bool>>,
}

impl Chosen {
    /// Owned rows that are no ghosts and active. On half lists an inactive particle's pairs act on active ones.
    fn new(particles: &Particles, active: Option<&[bool]>, symmetric: bool) -> Self {
        let owned = particles.owned();
        let any_ghost = particles.id[owned.clone()].contains(&u64::MAX);
        let of = |active: Option<&[bool]>| {
            let chosen = |row: usize| {
                owned.contains(&row) && !particles.ghost(row) && active.is_none_or(|active| active[row])
            };
            (any_ghost || active.is_some()).then(|| (0..particles.len()).map(chosen).collect::<Vec<bool>>())
        };
        Chosen { written: of(active), wanted: of(active.filter(|_| !symmetric)), owned: owned.clone() }
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
        !rows.is_empty() && self.wanted.as_ref().is_none_or(|wanted| wanted[rows].contains(&true))
    }
}
