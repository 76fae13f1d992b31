//! The sweep: a law over a neighbor list, threads over chunks of super-clusters, lanes within.

use super::Precision;
use super::chunks::{PIECE, Sums, Sweeping};
use super::finish::{Present, Then};
use super::inner::{Shared, Side, layout};
use super::lane::{Instructions, Scalar};
use super::law::PairLaw;
use super::pack::{Input, Packed};
use crate::allocator;
use crate::neighbors::{NeighborList, Radii, whole_super_clusters};
use crate::particles::{Arrive, Field, GiveBack, Particles};
use crate::space::SimulationBox;
use crate::turns::runs;
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
    pub give_back: Option<&'t dyn GiveBack>,
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

/// [`sweep_across`] that does something with rows as soon as their outputs are written.
pub fn sweep_then<L: PairLaw>(
    law: &L,
    pass: &Pass,
    list: &NeighborList,
    particles: &mut Particles,
    traffic: Traffic,
    then: &Then,
) -> SweepStatistics {
    let beside = Beside { traffic, then: Some(then), ..Beside::default() };
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
    then: Option<&'b Then<'b>>,
}

// Never inlined: crates that sweep with a law then link to the library's sweep instead of compiling their own.
#[inline(never)]
fn sweep_in<L: PairLaw, T: Scalar>(
    law: &L,
    pass: &Pass,
    list: &NeighborList,
    particles: &mut Particles,
    Beside { spent, traffic, then }: Beside,
    instructions: Instructions,
) -> SweepStatistics {
    check(pass, list, particles, traffic.give_back.is_some());
    let symmetric = list.symmetric();
    let rows = Chosen::new(particles.owned(), particles.len(), pass.active, symmetric);
    let present = Present::take::<L>(particles, then);
    let whole = whole_super_clusters(&particles.owned(), particles.len());
    let packed = Packed::<T>::new::<L>(layout::<L>(list), pass.radius, particles.len(), pass.bx);
    let (owned, counted) = (particles.owned(), present.counts_work());
    let pieces = if symmetric { runs(owned.clone(), PIECE) } else { Vec::new() };
    // what only this rank's chunks have sums of is written as soon as these are done
    let others = traffic.give_back.is_some_and(GiveBack::others);
    let early: &[Range<usize>] = if others { &[] } else { &pieces };
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
    let mut sums = Sums::<T>::new();
    let mut outputs;
    match traffic.arrive {
        None => {
            let spent = Spent::take(particles, spent);
            pack(&mut shared.packed, particles, &spent, &[all]);
            // now the outputs can have the memory of what is packed
            spent.give_back(particles.bytes());
            outputs = present.complete(particles.len());
            let sweeping = Sweeping { shared: &shared, list, particles, instructions, then };
            sweeping.run(None, early, &mut outputs, &mut sums);
        }
        Some(arrive) => {
            let nothing = Spent(Vec::new());
            outputs = present.complete(particles.len());
            let mut begun = false;
            let mut inner = |particles: &Particles| {
                begun = true;
                pack(&mut shared.packed, particles, &nothing, std::slice::from_ref(&whole));
                let sweeping = Sweeping { shared: &shared, list, particles, instructions, then };
                sweeping.run(Some(Side::Inner), &[], &mut outputs, &mut sums);
            };
            arrive(particles, &mut inner);
            let (part, side) = match begun {
                true => (vec![0..whole.start, whole.end..all.end], Some(Side::Outer)),
                false => (vec![all], None),
            };
            pack(&mut shared.packed, particles, &nothing, &part);
            let sweeping = Sweeping { shared: &shared, list, particles, instructions, then };
            sweeping.run(side, early, &mut outputs, &mut sums);
        }
    }
    if let Some(give_back) = traffic.give_back {
        let sweeping = Sweeping { shared: &shared, list, particles, instructions, then };
        sweeping.give_back(&mut sums, give_back, if others { &pieces } else { &[] }, &mut outputs);
    }
    let statistics = SweepStatistics { lane_pairs: sums.lane_pairs };
    outputs.give(particles);
    statistics
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

    /// Let it go. What one thread had is of no use for what another asks for, unless the system has it back.
    fn give_back(self, held: usize) {
        let any = !self.0.is_empty();
        drop(self);
        if any {
            allocator::give_back(held);
        }
    }

    /// A component of a field, from wherever it is.
    fn column<'a>(&'a self, particles: &'a Particles, (field, component): (Field, usize)) -> &'a [f64] {
        match self.0.iter().find(|(own, _)| *own == field) {
            Some((_, columns)) => &columns[component],
            None => particles.component(field, component),
        }
    }
}

/// Which rows a sweep is for.
pub struct Chosen {
    owned: Range<usize>,
    /// Rows that get outputs; `None`: all owned ones.
    written: Option<Vec<bool>>,
    /// Whether pairs of all owned rows are evaluated, not only those of rows that get outputs.
    all_wanted: bool,
}

impl Chosen {
    /// Owned rows, of so many in all, that are active. On half lists an inactive particle's pairs act on active ones.
    fn new(owned: Range<usize>, rows: usize, active: Option<&[bool]>, symmetric: bool) -> Self {
        let written = active.map(|active| {
            let chosen = |row: usize| owned.contains(&row) && active[row];
            (0..rows).into_par_iter().with_min_len(PIECE).map(chosen).collect()
        });
        Chosen { written, all_wanted: symmetric, owned }
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

    /// Whether pairs of any of some rows are evaluated.
    #[inline(always)]
    pub fn wanted(&self, rows: Range<usize>) -> bool {
        let rows = rows.start.max(self.owned.start)..rows.end.min(self.owned.end);
        let any = |written: &Vec<bool>| written[rows.clone()].contains(&true);
        !rows.is_empty() && (self.all_wanted || self.written.as_ref().is_none_or(any))
    }
}
