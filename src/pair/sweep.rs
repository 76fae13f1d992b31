//! The sweep: evaluates a law over a neighbor list. Threads share chunks of super-clusters; within a chunk
//! the loop is in SIMD lanes.

use super::Precision;
use super::chunks::{FINISH_ROWS, Sums, SweepContext};
use super::finish::{PreviousOutputs, Then};
use super::inner::{Shared, Side, layout};
use super::law::PairLaw;
use super::pack::{Input, PackedInput};
use crate::allocator;
use crate::neighbors::{NeighborList, Radii, whole_super_clusters};
use crate::parallel::split_range;
use crate::particles::{Field, HaloExchange, Particles, ReactionExchange};
use crate::simd::{Instructions, Scalar};
use crate::space::SimulationBox;
use rayon::prelude::*;
use std::ops::Range;

/// Settings of a sweep.
#[derive(Clone, Copy, Debug)]
pub struct Pass<'a> {
    /// Simulation box; its periods define the images.
    pub bx: &'a SimulationBox,
    /// Interaction radii of the rows, at most those of the list's build.
    pub radius: Radii<'a>,
    /// Arithmetic of the lanes.
    pub precision: Precision,
    /// Rows whose outputs are written, `None` for all; other rows keep theirs. Full lists skip clusters
    /// without such a row.
    pub active: Option<&'a [bool]>,
}

/// Statistics of a sweep.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SweepStatistics {
    /// Lane pairs whose distance was evaluated.
    pub lane_pairs: u64,
}

/// Evaluates a law for the owned rows over the listed pairs, writes its outputs, and adds the lane pairs of
/// each row to `Field::Work` if the particles have it.
///
/// Reproducible to the bit for the same list and number of threads; on full lists for any number of threads.
pub fn sweep<L: PairLaw>(
    law: &L,
    pass: &Pass,
    list: &NeighborList,
    particles: &mut Particles,
) -> SweepStatistics {
    sweep_with(law, pass, list, particles, Instructions::Best)
}

/// [`sweep`] that removes the fields `spent` from the particles once they are packed, so that outputs can
/// reuse their memory. The finish of the law must not read them.
pub fn sweep_consuming<L: PairLaw>(
    law: &L,
    pass: &Pass,
    list: &NeighborList,
    particles: &mut Particles,
    spent: &[Field],
) -> SweepStatistics {
    let options = Options { spent, ..Options::default() };
    sweep_in_precision(law, pass, list, particles, options, Instructions::Best)
}

/// Communication of a sweep with other ranks.
#[derive(Default)]
pub struct Traffic<'t, 'a> {
    /// Halo exchange of inputs of the law. It may sweep interior super-clusters, which need no halos,
    /// meanwhile. The halos' radii must be present already.
    pub arrive: Option<&'t mut HaloExchange<'a>>,
    /// Returns reactions on halos to their owners; required by lists that share pairs between ranks.
    pub give_back: Option<&'t dyn ReactionExchange>,
}

/// [`sweep`] with communication. Collective.
pub fn sweep_with_halos<L: PairLaw>(
    law: &L,
    pass: &Pass,
    list: &NeighborList,
    particles: &mut Particles,
    traffic: Traffic,
) -> SweepStatistics {
    let options = Options { traffic, ..Options::default() };
    sweep_in_precision(law, pass, list, particles, options, Instructions::Best)
}

/// [`sweep_with_halos`] with a callback on rows as soon as their outputs are written.
pub fn sweep_with_callback<L: PairLaw>(
    law: &L,
    pass: &Pass,
    list: &NeighborList,
    particles: &mut Particles,
    traffic: Traffic,
    then: &Then,
) -> SweepStatistics {
    let options = Options { traffic, then: Some(then), ..Options::default() };
    sweep_in_precision(law, pass, list, particles, options, Instructions::Best)
}

/// [`sweep_with_halos`] in double precision, whatever the pass says.
pub fn sweep_double<L: PairLaw>(
    law: &L,
    pass: &Pass,
    list: &NeighborList,
    particles: &mut Particles,
    traffic: Traffic,
) -> SweepStatistics {
    let options = Options { traffic, ..Options::default() };
    sweep_with_lanes::<L, f64>(law, pass, list, particles, options, Instructions::Best)
}

/// Checks the preconditions of a sweep.
fn check(pass: &Pass, list: &NeighborList, particles: &Particles, gives_back: bool) {
    if let Radii::Each(radius) = pass.radius {
        assert_eq!(radius.len(), particles.len(), "one radius per row");
    }
    assert_eq!(list.owned(), particles.owned(), "the list belongs to other particles");
    assert_eq!(
        list.shares_pairs(),
        gives_back,
        "lists that share pairs between ranks, and only these, return reactions"
    );
}

/// [`sweep`] with selected instructions, for tests and benchmarks.
pub fn sweep_with<L: PairLaw>(
    law: &L,
    pass: &Pass,
    list: &NeighborList,
    particles: &mut Particles,
    instructions: Instructions,
) -> SweepStatistics {
    sweep_in_precision(law, pass, list, particles, Options::default(), instructions)
}

/// Sweeps in the precision of the pass.
fn sweep_in_precision<L: PairLaw>(
    law: &L,
    pass: &Pass,
    list: &NeighborList,
    particles: &mut Particles,
    options: Options,
    instructions: Instructions,
) -> SweepStatistics {
    if pass.precision == Precision::Mixed && instructions.have_single() {
        sweep_with_lanes::<L, f32>(law, pass, list, particles, options, instructions)
    } else {
        sweep_with_lanes::<L, f64>(law, pass, list, particles, options, instructions)
    }
}

/// Optional parts of a sweep.
#[derive(Default)]
struct Options<'b, 'a> {
    /// Fields to free once packed; only without halo exchange.
    spent: &'b [Field],
    traffic: Traffic<'b, 'a>,
    then: Option<&'b Then<'b>>,
}

// Never inlined: crates that sweep with a law link to the library's instance instead of compiling their own.
#[inline(never)]
fn sweep_with_lanes<L: PairLaw, T: Scalar>(
    law: &L,
    pass: &Pass,
    list: &NeighborList,
    particles: &mut Particles,
    Options { spent, traffic, then }: Options,
    instructions: Instructions,
) -> SweepStatistics {
    check(pass, list, particles, traffic.give_back.is_some());
    let symmetric = list.symmetric();
    let rows = ActiveRows::new(particles.owned(), particles.len(), pass.active, symmetric);
    let previous = PreviousOutputs::take::<L>(particles, then);
    let whole = whole_super_clusters(&particles.owned(), particles.len());
    let packed = PackedInput::<T>::new::<L>(layout::<L>(list), pass.radius, particles.len(), pass.bx);
    let (owned, counted) = (particles.owned(), previous.counts_work());
    let finish_ranges = if symmetric { split_range(owned.clone(), FINISH_ROWS) } else { Vec::new() };
    // Rows with sums of this rank only are finished as soon as their chunks are done.
    let other_ranks = traffic.give_back.is_some_and(ReactionExchange::others);
    let finished_early: &[Range<usize>] = if other_ranks { &[] } else { &finish_ranges };
    let reaction_rows = if traffic.give_back.is_some() { 0..particles.len() } else { owned.clone() };
    let mut shared =
        Shared { law, packed, rows, owned, reaction_rows, symmetric, whole: whole.clone(), counted };
    let pack = |packed: &mut PackedInput<T>,
                particles: &Particles,
                spent: &ConsumedInputs,
                part: &[Range<usize>]| {
        let columns: Vec<&[f64]> =
            components(L::INPUTS).map(|input| spent.column(particles, input)).collect();
        let position = particles.vector(Field::Position);
        let input = Input { law, position, radius: pass.radius, columns: &columns, instructions };
        part.iter().for_each(|part| packed.pack(&input, part.clone()));
    };
    let all = 0..shared.packed.super_clusters();
    let mut sums = Sums::<T>::new();
    let mut outputs;
    match traffic.arrive {
        None => {
            let spent = ConsumedInputs::take(particles, spent);
            pack(&mut shared.packed, particles, &spent, &[all]);
            // From here on, outputs can reuse the memory of the packed inputs.
            spent.release(particles.bytes());
            outputs = previous.into_outputs(particles.len());
            let context = SweepContext { shared: &shared, list, particles, instructions, then };
            context.run(None, finished_early, &mut outputs, &mut sums);
        }
        Some(arrive) => {
            let none = ConsumedInputs(Vec::new());
            outputs = previous.into_outputs(particles.len());
            let mut begun = false;
            let mut inner = |particles: &Particles| {
                begun = true;
                pack(&mut shared.packed, particles, &none, std::slice::from_ref(&whole));
                let context = SweepContext { shared: &shared, list, particles, instructions, then };
                context.run(Some(Side::Inner), &[], &mut outputs, &mut sums);
            };
            arrive(particles, &mut inner);
            let (part, side) = match begun {
                true => (vec![0..whole.start, whole.end..all.end], Some(Side::Outer)),
                false => (vec![all], None),
            };
            pack(&mut shared.packed, particles, &none, &part);
            let context = SweepContext { shared: &shared, list, particles, instructions, then };
            context.run(side, finished_early, &mut outputs, &mut sums);
        }
    }
    if let Some(give_back) = traffic.give_back {
        let context = SweepContext { shared: &shared, list, particles, instructions, then };
        context.give_back(&mut sums, give_back, if other_ranks { &finish_ranges } else { &[] }, &mut outputs);
    }
    let statistics = SweepStatistics { lane_pairs: sums.lane_pairs };
    outputs.return_to(particles);
    statistics
}

/// Components of fields, in order.
pub(super) fn components(fields: &'static [Field]) -> impl Iterator<Item = (Field, usize)> {
    fields.iter().flat_map(|&field| (0..field.components()).map(move |c| (field, c)))
}

/// Input columns that the sweep has taken from the particles.
struct ConsumedInputs(Vec<(Field, Vec<Vec<f64>>)>);

impl ConsumedInputs {
    fn take(particles: &mut Particles, fields: &[Field]) -> Self {
        ConsumedInputs(fields.iter().filter_map(|&field| Some((field, particles.take(field)?))).collect())
    }

    /// Frees the columns and returns their memory to the system: otherwise another thread's allocations could
    /// not reuse it.
    fn release(self, held: usize) {
        let any = !self.0.is_empty();
        drop(self);
        if any {
            allocator::give_back(held);
        }
    }

    /// Component of a field, taken or not.
    fn column<'a>(&'a self, particles: &'a Particles, (field, component): (Field, usize)) -> &'a [f64] {
        match self.0.iter().find(|(own, _)| *own == field) {
            Some((_, columns)) => &columns[component],
            None => particles.component(field, component),
        }
    }
}

/// Rows that a sweep evaluates and writes.
pub struct ActiveRows {
    owned: Range<usize>,
    /// Rows that get outputs; `None`: all owned ones.
    written: Option<Vec<bool>>,
    /// Whether pairs of all owned rows are evaluated, not only those of rows with outputs.
    all_wanted: bool,
}

impl ActiveRows {
    /// Selects the active ones of the owned rows, out of `rows` rows. On half lists the pairs of an inactive
    /// particle still act on active ones.
    fn new(owned: Range<usize>, rows: usize, active: Option<&[bool]>, symmetric: bool) -> Self {
        let written = active.map(|active| {
            let chosen = |row: usize| owned.contains(&row) && active[row];
            (0..rows).into_par_iter().with_min_len(FINISH_ROWS).map(chosen).collect()
        });
        ActiveRows { written, all_wanted: symmetric, owned }
    }

    /// Whether all owned rows get outputs.
    #[inline(always)]
    pub fn all_written(&self) -> bool {
        self.written.is_none()
    }

    /// Whether an owned row gets outputs.
    #[inline(always)]
    pub fn written(&self, row: usize) -> bool {
        self.written.as_ref().is_none_or(|written| written[row])
    }

    /// Whether pairs of any of these rows are evaluated.
    #[inline(always)]
    pub fn wanted(&self, rows: Range<usize>) -> bool {
        let rows = rows.start.max(self.owned.start)..rows.end.min(self.owned.end);
        let any = |written: &Vec<bool>| written[rows.clone()].contains(&true);
        !rows.is_empty() && (self.all_wanted || self.written.as_ref().is_none_or(any))
    }
}
