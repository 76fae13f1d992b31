//! The sweep: a law over a neighbor list, threads over chunks of super-clusters, lanes within.

use super::Precision;
use super::finish::{Finish, Outputs, Part, Present};
use super::given::Given;
use super::inner::{Chunk, Shared, Side, layout};
use super::lane::{Instructions, Scalar, dispatch};
use super::law::PairLaw;
use super::pack::{Input, Packed};
use super::sums::ChunkSums;
use crate::neighbors::{ClusterList, NeighborList, Radii, SUPER_CLUSTER, whole_super_clusters};
use crate::particles::{Arrive, Field, GiveBack, Particles, Returned};
use crate::space::SimulationBox;
use rayon::prelude::*;
use std::ops::Range;

/// The circumstances of a sweep.
#[derive(Clone, Copy, Debug)]
pub struct Pass<'a> {
    /// The box, whose periods give the images.
    pub bx: &'a SimulationBox,
    /// Interaction radii of the rows; the list was built with radii at least as large.
    pub radius: Radii<'a>,
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
    let beside = Beside { spent, ..Beside::default() };
    sweep_as(law, pass, list, particles, beside, Instructions::Best)
}

/// What a sweep exchanges with other ranks.
#[derive(Default)]
pub struct Traffic<'t, 'a> {
    /// Brings values of halos, which the law reads; who brings them may let super-clusters be swept that need none meanwhile.
    /// Radii are those that halos have already.
    pub arrive: Option<&'t mut Arrive<'a>>,
    /// Gives the owners of halos their part of pairs that are in one list of two ranks; such a list needs it.
    pub give_back: Option<&'t GiveBack<'t>>,
}

/// [`sweep`] that exchanges with other ranks. Collective.
pub fn sweep_across<L: PairLaw>(
    law: &L,
    pass: &Pass,
    list: &NeighborList,
    particles: &mut Particles,
    traffic: Traffic,
) -> SweepStatistics {
    let beside = Beside { traffic, ..Beside::default() };
    sweep_as(law, pass, list, particles, beside, Instructions::Best)
}

/// [`sweep_across`] in double precision, whatever the pass says.
pub fn sweep_double<L: PairLaw>(
    law: &L,
    pass: &Pass,
    list: &NeighborList,
    particles: &mut Particles,
    traffic: Traffic,
) -> SweepStatistics {
    let beside = Beside { traffic, ..Beside::default() };
    sweep_in::<L, f64>(law, pass, list, particles, beside, Instructions::Best)
}

/// What a pass must be for the particles.
fn check(pass: &Pass, list: &NeighborList, particles: &Particles, gives_back: bool) {
    if let Radii::Each(radius) = pass.radius {
        assert_eq!(radius.len(), particles.len(), "one radius per row");
    }
    assert_eq!(list.owned(), particles.owned(), "the list belongs to other particles");
    assert_eq!(list.shares_pairs(), gives_back, "who has the pairs of two ranks gives one its part");
}

/// [`sweep`] with chosen instructions, for tests and benchmarks.
pub fn sweep_with<L: PairLaw>(
    law: &L,
    pass: &Pass,
    list: &NeighborList,
    particles: &mut Particles,
    instructions: Instructions,
) -> SweepStatistics {
    sweep_as(law, pass, list, particles, Beside::default(), instructions)
}

/// In the precision of the pass.
fn sweep_as<L: PairLaw>(
    law: &L,
    pass: &Pass,
    list: &NeighborList,
    particles: &mut Particles,
    beside: Beside,
    instructions: Instructions,
) -> SweepStatistics {
    if pass.precision == Precision::Mixed && instructions.have_single() {
        sweep_in::<L, f32>(law, pass, list, particles, beside, instructions)
    } else {
        sweep_in::<L, f64>(law, pass, list, particles, beside, instructions)
    }
}

/// What is done beside a sweep.
#[derive(Default)]
struct Beside<'b, 'a> {
    /// These fields go when they are packed; of sweeps for which no values arrive.
    spent: &'b [Field],
    traffic: Traffic<'b, 'a>,
}

fn sweep_in<L: PairLaw, T: Scalar>(
    law: &L,
    pass: &Pass,
    list: &NeighborList,
    particles: &mut Particles,
    Beside { spent, traffic }: Beside,
    instructions: Instructions,
) -> SweepStatistics {
    check(pass, list, particles, traffic.give_back.is_some());
    let symmetric = list.symmetric();
    let rows = Chosen::new(particles, pass.active, symmetric);
    let present = Present::take::<L>(particles);
    let whole = whole_super_clusters(&particles.owned(), particles.len());
    let packed = Packed::<T>::new::<L>(layout::<L>(list), pass.radius, particles.len(), pass.bx);
    let (owned, counted) = (particles.owned(), present.counts_work());
    let given = if traffic.give_back.is_some() { 0..particles.len() } else { owned.clone() };
    let mut shared = Shared { law, packed, rows, owned, given, symmetric, whole: whole.clone(), counted };
    let pack = |packed: &mut Packed<T>, particles: &Particles, spent: &Spent, part: &[Range<usize>]| {
        let columns: Vec<&[f64]> =
            components(L::INPUTS).map(|input| spent.column(particles, input)).collect();
        let position = particles.vector(Field::Position);
        let input = Input { law, position, radius: pass.radius, columns: &columns, instructions };
        part.iter().for_each(|part| packed.pack(&input, part.clone()));
    };
    let all = 0..shared.packed.super_clusters();
    let mut sums = Sums::<T> { chunks: Vec::new(), returned: Vec::new(), lane_pairs: 0 };
    let mut outputs;
    match traffic.arrive {
        None => {
            let spent = Spent::take(particles, spent);
            pack(&mut shared.packed, particles, &spent, &[all]);
            // now the outputs can have the memory of what is packed
            drop(spent);
            outputs = present.complete(particles.len());
            run_chunks(&shared, list, particles, None, &mut outputs, &mut sums, instructions);
        }
        Some(arrive) => {
            let nothing = Spent(Vec::new());
            outputs = present.complete(particles.len());
            let mut begun = false;
            let mut inner = |particles: &Particles| {
                begun = true;
                pack(&mut shared.packed, particles, &nothing, std::slice::from_ref(&whole));
                let side = Some(Side::Inner);
                run_chunks(&shared, list, particles, side, &mut outputs, &mut sums, instructions);
            };
            arrive(particles, &mut inner);
            let (part, side) = match begun {
                true => (vec![0..whole.start, whole.end..all.end], Some(Side::Outer)),
                false => (vec![all], None),
            };
            pack(&mut shared.packed, particles, &nothing, &part);
            run_chunks(&shared, list, particles, side, &mut outputs, &mut sums, instructions);
        }
    }
    if let Some(give_back) = traffic.give_back {
        sums.give_back(&shared, particles, give_back, instructions);
    }
    sums.finish(&shared, particles, &mut outputs, instructions);
    outputs.give(particles);
    shared.packed.keep();
    sums.chunks.into_iter().filter_map(|chunk| chunk.given).for_each(Given::keep);
    SweepStatistics { lane_pairs: sums.lane_pairs }
}

/// What chunks of half lists have summed and what other ranks have, and how many pairs all chunks took.
struct Sums<'r, T: Scalar> {
    chunks: Vec<ChunkSums<T>>,
    returned: Vec<Returned<'r>>,
    lane_pairs: u64,
}

impl<'r, T: Scalar> Sums<'r, T> {
    /// Give the owners of halos what chunks have of these, and take what others have of owned rows. Collective.
    fn give_back<L: PairLaw>(
        &mut self,
        shared: &Shared<L, T>,
        particles: &Particles,
        give_back: &GiveBack<'r>,
        instructions: Instructions,
    ) {
        let finish = Finish::new(shared.law, particles, &shared.rows, instructions);
        let sums = |rows: Range<usize>| {
            let mut sums = vec![0.0; rows.len() * L::SUMS.len()];
            let pieces = sums.par_chunks_mut(PIECE * L::SUMS.len()).enumerate();
            pieces.for_each(|(piece, sums)| {
                finish.sums_of(&self.chunks, rows.start + piece * PIECE, sums);
            });
            sums
        };
        self.returned = give_back(L::SUMS.len(), &sums);
    }

    /// Join what chunks and other ranks have of all rows, and write the outputs.
    fn finish<L: PairLaw>(
        &self,
        shared: &Shared<L, T>,
        particles: &Particles,
        outputs: &mut Outputs,
        instructions: Instructions,
    ) {
        if self.chunks.is_empty() && self.returned.is_empty() {
            return;
        }
        let (finish, owned) =
            (Finish::new(shared.law, particles, &shared.rows, instructions), shared.owned.clone());
        let piece = |begin: usize| begin..owned.end.min(begin + PIECE);
        let rows: Vec<Range<usize>> = owned.clone().step_by(PIECE).map(piece).collect();
        outputs
            .parts(&rows)
            .into_par_iter()
            .with_max_len(1)
            .for_each(|mut part| finish.part(&self.chunks, &self.returned, &mut part));
    }
}

/// Evaluate a list, or a side of it, chunk by chunk.
///
/// A chunk of a full list has all sums of its rows, and writes the outputs as soon as it is done. Chunks of half lists have
/// sums of rows of others too, which are joined when all are done.
fn run_chunks<L: PairLaw, T: Scalar>(
    shared: &Shared<L, T>,
    list: &NeighborList,
    particles: &Particles,
    side: Option<Side>,
    outputs: &mut Outputs,
    sums: &mut Sums<T>,
    instructions: Instructions,
) {
    let owned = list.owned();
    let chunks =
        chunks(list, |list, super_cluster| side.is_none_or(|side| side == shared.side(list, super_cluster)));
    let chunks = match (list, side) {
        // such lists do not know
        (NeighborList::PerParticle(_), Some(Side::Inner)) => Vec::new(),
        _ => chunks,
    };
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
    let (finish, position) =
        (Finish::new(shared.law, particles, &shared.rows, instructions), particles.vector(Field::Position));
    let evaluate = |(super_clusters, part): (Range<usize>, Option<Part>)| {
        let sums = dispatch(instructions, Chunk { shared, list, position, super_clusters, side });
        let lane_pairs = sums.lane_pairs;
        match part {
            Some(mut part) => {
                finish.part(&[sums], &[], &mut part);
                (lane_pairs, None)
            }
            None => (lane_pairs, Some(sums)),
        }
    };
    // one after the other, as threads are free for them
    let numbered = chunks.into_iter().zip(parts).enumerate().par_bridge();
    let mut found: Vec<_> = numbered.map(|(number, chunk)| (number, evaluate(chunk))).collect();
    found.sort_unstable_by_key(|(number, _)| *number);
    let (lane_pairs, found): (Vec<u64>, Vec<Option<ChunkSums<T>>>) =
        found.into_iter().map(|(_, found)| found).unzip();
    sums.lane_pairs += lane_pairs.into_iter().sum::<u64>();
    sums.chunks.extend(found.into_iter().flatten());
}

/// The components of fields, in order.
pub(super) fn components(fields: &'static [Field]) -> impl Iterator<Item = (Field, usize)> {
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

/// Contiguous runs of super-clusters, of which some are swept, of about equal numbers of entries. Each chunk of a half list has its own
/// reactions, so there are fewer of them; their number is a function of the number of threads alone.
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
        NeighborList::Tiled(list) => list.words(super_cluster) + 1,
        NeighborList::PerParticle(list) => {
            let rows = super_cluster * SUPER_CLUSTER..(super_cluster + 1) * SUPER_CLUSTER;
            let rows = rows.start.max(owned.start)..rows.end.min(owned.end);
            1 + rows.map(|row| list.neighbors(row).len()).sum::<usize>()
        }
    };
    let costs: Vec<usize> = all.clone().map(cost).collect();
    let pieces = match (rayon::current_num_threads(), list.symmetric()) {
        (1, true) => 1,
        (threads, true) => 4 * threads,
        (threads, false) => (8 * threads).max(costs.iter().filter(|cost| **cost > 0).count() / CHUNK),
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
    if sum > 0 {
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

    /// The first owned row.
    pub fn first(&self) -> usize {
        self.owned.start
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
