//! The sweep: evaluates a law over a neighbor list. Threads share chunks of super-clusters; within a chunk
//! the loop is in SIMD lanes.

use super::Precision;
use super::chunks::{FINISH_ROWS, SweepContext};
use super::finish::{PreviousOutputs, RowCallback};
use super::inner::{Side, SweepData};
use super::law::PairLaw;
use super::law_lanes::LawLanes;
use super::pack::{Input, PackedInput};
use super::sums::SweepSums;
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

/// A sweep over a neighbor list, to be configured and then run with a law:
///
/// ```ignore
/// Sweep::new(&pass, list).consuming(&fields).run(&law, &mut particles);
/// ```
#[must_use = "a sweep does nothing until it runs"]
pub struct Sweep<'s, 'h> {
    pass: &'s Pass<'s>,
    list: &'s NeighborList,
    instructions: Instructions,
    /// Fields to free once packed; only without halo exchange.
    consumed: &'s [Field],
    halo_exchange: Option<&'s mut HaloExchange<'h>>,
    reaction_exchange: Option<&'s dyn ReactionExchange>,
    row_callback: Option<&'s RowCallback<'s>>,
}

impl<'s, 'h> Sweep<'s, 'h> {
    /// A sweep without communication, with the best instructions of the processor.
    pub fn new(pass: &'s Pass<'s>, list: &'s NeighborList) -> Self {
        Sweep {
            pass,
            list,
            instructions: Instructions::Best,
            consumed: &[],
            halo_exchange: None,
            reaction_exchange: None,
            row_callback: None,
        }
    }

    /// Removes these fields from the particles once they are packed, so that outputs can reuse their memory.
    /// The finish of the law must not read them. Excludes [`Sweep::exchanging_halos`].
    pub fn consuming(mut self, fields: &'s [Field]) -> Self {
        self.consumed = fields;
        self
    }

    /// Receives inputs of the law for the halos during the sweep. The exchange may sweep interior
    /// super-clusters, which need no halos, meanwhile. The halos' radii must be present already. Collective.
    pub fn exchanging_halos(mut self, exchange: &'s mut HaloExchange<'h>) -> Self {
        self.halo_exchange = Some(exchange);
        self
    }

    /// Returns reactions on halos to their owners: for lists that share pairs between ranks. Collective.
    pub fn returning_reactions(mut self, exchange: &'s dyn ReactionExchange) -> Self {
        self.reaction_exchange = Some(exchange);
        self
    }

    /// Calls back on rows as soon as their outputs are written.
    pub fn on_rows(mut self, callback: &'s RowCallback<'s>) -> Self {
        self.row_callback = Some(callback);
        self
    }

    /// Selects the instructions, for tests and benchmarks.
    pub fn with_instructions(mut self, instructions: Instructions) -> Self {
        self.instructions = instructions;
        self
    }

    /// Evaluates a law for the owned rows over the listed pairs.
    ///
    /// # Preconditions
    /// 1. The list was built for these rows, and covers every pair within the radii of the pass.
    /// 2. [`Radii::Each`] has a radius for every row, halos included.
    /// 3. All rows have the inputs of the law; those of halos may arrive by [`Sweep::exchanging_halos`].
    /// 4. Reactions are returned if, and only if, the list shares pairs between ranks.
    /// 5. A half list of clusters is given as tiles ([`super::find_tiles`]) if these support the law
    ///    ([`super::supports_tiles`]).
    ///
    /// # Postconditions
    /// 1. Active owned rows have the outputs of the law; other rows keep theirs. Missing columns are created,
    ///    with 0 for those rows.
    /// 2. `Field::Work`, if present, has increased by the lane pairs of each active owned row.
    /// 3. Consumed fields are absent. Other columns are unchanged, except what the exchanges and the callback
    ///    write.
    /// 4. The outputs have the same bits for the same list and number of threads; over full lists for any
    ///    number of threads.
    ///
    /// # Steps
    /// 1. Take the outputs from the particles, so that the other columns can be read while they are written.
    /// 2. Pack the inputs in the frames of the super-clusters; free the consumed ones. With a halo exchange,
    ///    pack and sweep the interior super-clusters meanwhile, and continue with the others afterwards.
    /// 3. Sweep chunks of super-clusters. Rows are finished into outputs when all their chunks are done.
    /// 4. Return reactions on halos, add those of other ranks, and finish the remaining rows.
    /// 5. Put the outputs back.
    ///
    /// # Panics
    /// If rows and list (1), the number of radii (2), the reactions (4) or the kind of list (5) do not match.
    pub fn run<L: PairLaw>(self, law: &L, particles: &mut Particles) -> SweepStatistics {
        if self.pass.precision == Precision::Mixed && self.instructions.have_single() {
            sweep_with_lanes::<L, f32>(law, self, particles)
        } else {
            sweep_with_lanes::<L, f64>(law, self, particles)
        }
    }

    /// [`Sweep::run`] in double precision, whatever the pass says. Lanes in single precision are not compiled
    /// for the law.
    pub fn run_in_double<L: PairLaw>(self, law: &L, particles: &mut Particles) -> SweepStatistics {
        sweep_with_lanes::<L, f64>(law, self, particles)
    }

    /// Checks the preconditions.
    fn check(&self, particles: &Particles, supports_tiles: bool) {
        if let Radii::Each(radius) = self.pass.radius {
            assert_eq!(radius.len(), particles.len(), "one radius per row");
        }
        assert_eq!(self.list.owned(), particles.owned(), "the list belongs to other particles");
        assert_eq!(
            self.list.shares_pairs(),
            self.reaction_exchange.is_some(),
            "lists that share pairs between ranks, and only these, return reactions"
        );
        assert!(
            !(supports_tiles && self.list.symmetric() && matches!(self.list, NeighborList::Clustered(_))),
            "half lists of this law are swept as tiles"
        );
    }
}

// Never inlined: crates that sweep with a law link to the library's instance instead of compiling their own.
#[inline(never)]
fn sweep_with_lanes<L: PairLaw, T: Scalar>(
    law: &L,
    sweep: Sweep,
    particles: &mut Particles,
) -> SweepStatistics {
    sweep_lanes::<T>(law, sweep, particles)
}

/// Sweeps in lanes with elements `T`; the steps are those of [`Sweep::run`].
#[inline(never)]
fn sweep_lanes<T: Scalar>(law: &dyn LawLanes<T>, sweep: Sweep, particles: &mut Particles) -> SweepStatistics {
    let shape = law.shape();
    sweep.check(particles, shape.supports_tiles);
    let Sweep { pass, list, instructions, consumed, halo_exchange, reaction_exchange, row_callback } = sweep;
    let symmetric = list.symmetric();
    let rows = ActiveRows::new(particles.owned(), particles.len(), pass.active, symmetric);
    let previous = PreviousOutputs::take(particles, shape.outputs, row_callback);
    let whole = whole_super_clusters(&particles.owned(), particles.len());
    let layout = shape.layout(list);
    let packed = PackedInput::<T>::new(&shape, layout, pass.radius, particles.len(), pass.bx);
    let (owned, counted) = (particles.owned(), previous.counts_work());
    let finish_ranges = if symmetric { split_range(owned.clone(), FINISH_ROWS) } else { Vec::new() };
    // Rows with sums of this rank only are finished as soon as their chunks are done.
    let other_ranks = reaction_exchange.is_some_and(ReactionExchange::others);
    let finished_early: &[Range<usize>] = if other_ranks { &[] } else { &finish_ranges };
    let reaction_rows = if reaction_exchange.is_some() { 0..particles.len() } else { owned.clone() };
    let mut data = SweepData { packed, rows, owned, reaction_rows, symmetric, whole: whole.clone(), counted };
    let pack = |packed: &mut PackedInput<T>,
                particles: &Particles,
                consumed: &ConsumedInputs,
                part: &[Range<usize>]| {
        let columns: Vec<&[f64]> =
            components(shape.inputs).map(|input| consumed.column(particles, input)).collect();
        let position = particles.vector(Field::Position);
        let input = Input { law, position, radius: pass.radius, columns: &columns, instructions };
        part.iter().for_each(|part| packed.pack(&input, part.clone()));
    };
    let all = 0..data.packed.super_clusters();
    let mut sums = SweepSums::<T>::new();
    let mut outputs;
    match halo_exchange {
        None => {
            let consumed = ConsumedInputs::take(particles, consumed);
            pack(&mut data.packed, particles, &consumed, &[all]);
            // From here on, outputs can reuse the memory of the packed inputs.
            consumed.release(particles.bytes());
            outputs = previous.into_outputs(particles.len());
            let context = SweepContext { law, data: &data, list, particles, instructions, row_callback };
            context.run(None, finished_early, &mut outputs, &mut sums);
        }
        Some(exchange) => {
            let none = ConsumedInputs(Vec::new());
            outputs = previous.into_outputs(particles.len());
            let mut begun = false;
            let mut interior = |particles: &Particles| {
                begun = true;
                pack(&mut data.packed, particles, &none, std::slice::from_ref(&whole));
                let context = SweepContext { law, data: &data, list, particles, instructions, row_callback };
                context.run(Some(Side::Inner), &[], &mut outputs, &mut sums);
            };
            exchange(particles, &mut interior);
            let (part, side) = match begun {
                true => (vec![0..whole.start, whole.end..all.end], Some(Side::Outer)),
                false => (vec![all], None),
            };
            pack(&mut data.packed, particles, &none, &part);
            let context = SweepContext { law, data: &data, list, particles, instructions, row_callback };
            context.run(side, finished_early, &mut outputs, &mut sums);
        }
    }
    if let Some(exchange) = reaction_exchange {
        let context = SweepContext { law, data: &data, list, particles, instructions, row_callback };
        let finished_late = if other_ranks { &finish_ranges[..] } else { &[] };
        context.return_reactions(&mut sums, exchange, finished_late, &mut outputs);
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
