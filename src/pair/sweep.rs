//! The sweep: a law over a neighbor list, threads over chunks of super-clusters, lanes within.

use super::Precision;
use super::inner::{Chunk, Shared};
use super::lane::{Instructions, Scalar, dispatch};
use super::law::{Columns, PairLaw};
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

/// [`sweep`] with chosen instructions, for tests and benchmarks.
pub fn sweep_with<L: PairLaw>(
    law: &L,
    pass: &Pass,
    list: &NeighborList,
    particles: &mut Particles,
    instructions: Instructions,
) -> SweepStatistics {
    assert_eq!(pass.radius.len(), particles.len(), "one radius per row");
    assert_eq!(list.owned(), particles.owned(), "the list belongs to other particles");
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
    let active = |row: usize| pass.active.is_none_or(|active| active[row]);
    let written: Vec<bool> = (0..particles.len())
        .map(|row| owned.contains(&row) && !particles.ghost(row) && active(row))
        .collect();
    // On half lists an inactive particle's pairs act on active ones.
    let wanted = match list.symmetric() {
        true => (0..particles.len()).map(|row| owned.contains(&row) && !particles.ghost(row)).collect(),
        false => written.clone(),
    };
    let packed = Packed::<T>::new::<L>(particles, pass.bx, pass.radius);
    let shared = Shared { law, packed, wanted, owned: owned.clone(), symmetric: list.symmetric() };
    let chunks: Vec<ChunkSums> = chunks(list)
        .into_par_iter()
        .map(|super_clusters| dispatch(instructions, Chunk { shared: &shared, list, super_clusters }))
        .collect();
    let results = finish::<L>(law, &chunks, &shared.packed.inputs, &written, &owned);
    write(L::OUTPUTS, &results, &written, &owned, particles);
    if particles.has(Field::Work) {
        let work = particles.scalar_mut(Field::Work);
        for chunk in &chunks {
            let first = chunk.super_clusters.start * SUPER_CLUSTER;
            for (row, spent) in (first..).zip(&chunk.work).filter(|(row, _)| written.get(*row) == Some(&true))
            {
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
    let pieces = rayon::current_num_threads() * if list.symmetric() { 2 } else { 8 };
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

/// Join the chunks' sums in their order and finish each particle: `OUTPUTS` values per owned row.
fn finish<L: PairLaw>(
    law: &L,
    chunks: &[ChunkSums],
    inputs: &[&[f64]],
    written: &[bool],
    owned: &Range<usize>,
) -> Vec<f64> {
    let count = L::Output::COUNT;
    let mut results = vec![0.0; owned.len() * count];
    results.par_chunks_mut(SUPER_CLUSTER * count).enumerate().for_each(|(k, results)| {
        // Owned rows begin with a super-cluster.
        let super_cluster = owned.start / SUPER_CLUSTER + k;
        let mut blocks = chunks.iter().filter_map(|chunk| chunk.blocks.super_cluster(super_cluster));
        let Some(mut sums) = blocks.next().map(<[f64]>::to_vec) else { return };
        for block in blocks {
            for (column, (total, value)) in sums.iter_mut().zip(block).enumerate() {
                let reduction = L::SUMS[column / CLUSTER % L::SUMS.len()].reduction;
                *total = reduction.join(*total, *value);
            }
        }
        for (lane, result) in results.chunks_exact_mut(count).enumerate() {
            let row = super_cluster * SUPER_CLUSTER + lane;
            if written[row] {
                let cluster = &sums[lane / CLUSTER * L::SUMS.len() * CLUSTER..];
                let sums = L::Sums::<f64>::from_columns(|c| cluster[c * CLUSTER + lane % CLUSTER]);
                let own = L::Particle::<f64>::from_columns(|c| inputs[c][row]);
                result.copy_from_slice(law.finish(own, sums).to_columns().as_ref());
            }
        }
    });
    results
}

fn write(
    fields: &[Field],
    results: &[f64],
    written: &[bool],
    owned: &Range<usize>,
    particles: &mut Particles,
) {
    let count: usize = fields.iter().map(|field| field.components()).sum();
    let components = fields.iter().flat_map(|&field| (0..field.components()).map(move |c| (field, c)));
    for (k, (field, component)) in components.enumerate() {
        let column = &mut particles.component_mut(field, component)[owned.clone()];
        column.par_iter_mut().with_min_len(4096).enumerate().for_each(|(row, value)| {
            if written[owned.start + row] {
                *value = results[row * count + k];
            }
        });
    }
}
