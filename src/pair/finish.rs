//! From the sums of a sweep to the columns that it writes.

use super::given::{self, given_of_row};
use super::lane::{Instructions, Scalar, Task, dispatch};
use super::law::{Columns, PairLaw, Parity, Reduction, Sum};
use super::sums::ChunkSums;
use super::sweep::{Chosen, components};
use crate::neighbors::{CLUSTER, CLUSTERS, SUPER_CLUSTER};
use crate::particles::{Field, Particles, zeros};
use fearless_simd::Simd;
use std::ops::Range;

/// Columns that a law writes, at most.
const OUTPUTS: usize = 16;

/// What is done with rows as soon as their outputs are written, while these are near.
pub struct Then<'t> {
    /// Fields of which it writes the rows; no outputs.
    pub fields: &'static [Field],
    /// The work.
    pub work: &'t (dyn Fn(Finished) + Sync),
}

/// Rows whose outputs are written.
pub struct Finished<'f, 'c> {
    /// The particles, without outputs and what is written beside.
    pub particles: &'f Particles,
    /// The rows.
    pub rows: Range<usize>,
    /// Their outputs, by column.
    pub outputs: &'f [&'c mut [f64]],
    /// Their columns of the fields that are written.
    pub columns: &'f mut [&'c mut [f64]],
}

/// The columns that a sweep writes. Meanwhile the particles have none of them, so that their others can be read beside.
pub struct Outputs {
    /// Those of the law, then those of what is done with them.
    fields: [&'static [Field]; 2],
    columns: Vec<Vec<f64>>,
    work: Option<Vec<f64>>,
}

/// Some owned rows of the outputs.
pub struct Part<'a> {
    rows: Range<usize>,
    columns: Vec<&'a mut [f64]>,
    work: Option<&'a mut [f64]>,
}

/// Outputs that the particles had before.
pub struct Present {
    fields: [&'static [Field]; 2],
    columns: Vec<Option<Vec<Vec<f64>>>>,
    work: Option<Vec<f64>>,
}

impl Present {
    /// Take from the particles what a law writes of them, and what is done with that, and their work.
    pub fn take<L: PairLaw>(particles: &mut Particles, then: Option<&Then>) -> Self {
        let fields = [L::OUTPUTS, then.map_or(&[], |then| then.fields)];
        let columns = fields.into_iter().flatten().map(|&field| particles.take(field)).collect();
        let work = particles.take(Field::Work).and_then(|mut columns| columns.pop());
        Present { fields, columns, work }
    }

    /// Whether work is counted.
    pub fn counts_work(&self) -> bool {
        self.work.is_some()
    }

    /// With those that were not there, for so many rows.
    pub fn complete(self, rows: usize) -> Outputs {
        let fields = self.fields.into_iter().flatten().zip(self.columns);
        let columns = fields.flat_map(|(field, present)| {
            present.unwrap_or_else(|| (0..field.components()).map(|_| zeros(rows)).collect())
        });
        Outputs { fields: self.fields, columns: columns.collect(), work: self.work }
    }
}

impl Outputs {
    /// The parts of these rows, which follow each other.
    pub fn parts(&mut self, rows: &[Range<usize>]) -> Vec<Part<'_>> {
        let mut columns: Vec<&mut [f64]> = self.columns.iter_mut().map(Vec::as_mut_slice).collect();
        let mut work = self.work.as_deref_mut();
        let mut begin = 0;
        let mut part = |rows: &Range<usize>| {
            let places = rows.start - begin..rows.end - begin;
            begin = rows.end;
            let own = columns.iter_mut().map(|column| split_off(column, places.clone())).collect();
            let work = work.as_mut().map(|work| split_off(work, places.clone()));
            Part { rows: rows.clone(), columns: own, work }
        };
        rows.iter().map(&mut part).collect()
    }

    /// Give the particles what was written.
    pub fn give(self, particles: &mut Particles) {
        let mut columns = self.columns.into_iter();
        for &field in self.fields.into_iter().flatten() {
            particles.put(field, columns.by_ref().take(field.components()).collect());
        }
        if let Some(work) = self.work {
            particles.put(Field::Work, vec![work]);
        }
    }
}

/// These places of a column, which then begins behind them.
fn split_off<'a>(column: &mut &'a mut [f64], places: Range<usize>) -> &'a mut [f64] {
    let (before, behind) = std::mem::take(column).split_at_mut(places.end);
    *column = behind;
    &mut before[places.start..]
}

/// How sums become outputs.
pub struct Finish<'a, L> {
    /// The law.
    law: &'a L,
    /// Its inputs, as far as they are still there.
    inputs: Vec<Option<&'a [f64]>>,
    /// The rows that are written.
    rows: &'a Chosen,
    /// The lanes that join sums.
    instructions: Instructions,
    /// What is done with the outputs, and the particles that it looks at.
    then: Option<(&'a Then<'a>, &'a Particles)>,
}

impl<'a, L: PairLaw> Finish<'a, L> {
    /// Of these particles.
    pub fn new(
        law: &'a L,
        particles: &'a Particles,
        rows: &'a Chosen,
        instructions: Instructions,
        then: Option<&'a Then<'a>>,
    ) -> Self {
        let column = |(field, c)| particles.has(field).then(|| particles.component(field, c));
        let inputs = components(L::INPUTS).map(column).collect();
        Finish { law, inputs, rows, instructions, then: then.map(|then| (then, particles)) }
    }

    /// Join the sums of the rows of a part that chunks have, in their order; finish each particle, write its outputs, add the work that
    /// was spent on it, and do what is done then.
    pub fn part<T: Scalar>(&self, chunks: &[&ChunkSums<T>], part: &mut Part) {
        dispatch(self.instructions, FinishPart { finish: self, chunks, part });
        chunks.iter().for_each(|chunk| self.add_work(chunk, part));
        if let Some((then, particles)) = self.then {
            let outputs = L::OUTPUTS.iter().map(|field| field.components()).sum();
            let (outputs, columns) = part.columns.split_at_mut(outputs);
            (then.work)(Finished { particles, rows: part.rows.clone(), outputs, columns });
        }
    }

    /// Write what chunks have of some rows, as if these were given it, row after row.
    pub fn records_of<T: Scalar>(&self, chunks: &[&ChunkSums<T>], rows: Range<usize>, records: &mut [T]) {
        dispatch(self.instructions, RecordsOf { finish: self, chunks, rows, records });
    }

    /// What chunks have of a super-cluster, if any has something.
    #[inline(always)]
    fn sums<'c, T: Scalar, S: Simd>(
        &self,
        simd: S,
        chunks: &'c [&'c ChunkSums<T>],
        super_cluster: usize,
        room: &'c mut Vec<f64>,
    ) -> Option<&'c [f64]> {
        let mut having = chunks.iter().filter(|chunk| chunk.have(super_cluster)).peekable();
        let only = having.next()?;
        let block = only.blocks.super_cluster(super_cluster);
        if let (Some(block), None, None) = (block, only.given(super_cluster), having.peek()) {
            return Some(block);
        }
        room.resize(SUPER_CLUSTER * L::SUMS.len(), 0.0);
        for (column, values) in room.chunks_exact_mut(CLUSTER).enumerate() {
            values.fill(L::SUMS[column % L::SUMS.len()].reduction.identity());
        }
        for chunk in std::iter::once(only).chain(having) {
            if let Some(block) = chunk.blocks.super_cluster(super_cluster) {
                join(L::SUMS, room, block);
            }
            if let Some(vectors) = chunk.given(super_cluster) {
                let vectors = vectors.chunks_exact(vectors.len() / CLUSTERS);
                for (vectors, sums) in vectors.zip(room.chunks_exact_mut(CLUSTER * L::SUMS.len())) {
                    given::join::<L, T, S>(simd, vectors, sums);
                }
            }
        }
        Some(room)
    }

    /// Finish the particles of some rows of a cluster with these sums, and write them at a place of the columns and behind it.
    #[inline(always)]
    fn cluster(&self, rows: Range<usize>, sums: &[f64], place: usize, columns: &mut [&mut [f64]]) {
        let sums = &sums.as_chunks::<CLUSTER>().0[..L::SUMS.len()];
        if rows.len() == CLUSTER && self.rows.all_written() {
            return self.whole_cluster(rows.start, sums, place, columns);
        }
        for ((member, row), place) in rows.enumerate().zip(place..) {
            if !self.rows.written(row) {
                continue;
            }
            let output = self.finished(|column| column[row], member, sums).to_columns();
            for (column, value) in columns.iter_mut().zip(output.as_ref()) {
                column[place] = *value;
            }
        }
    }

    /// The same of all rows of a cluster, from the first one on: the members side by side, as in lanes.
    #[inline(always)]
    fn whole_cluster(&self, first: usize, sums: &[[f64; CLUSTER]], place: usize, columns: &mut [&mut [f64]]) {
        const { assert!(L::Output::COUNT <= OUTPUTS, "the law writes too many columns") };
        let mut outputs = [[0.0; CLUSTER]; OUTPUTS];
        let outputs = &mut outputs[..L::Output::COUNT];
        for member in 0..CLUSTER {
            let own = |column: &[f64]| column[first..first + CLUSTER][member];
            let output = self.finished(own, member, sums).to_columns();
            for (column, value) in outputs.iter_mut().zip(output.as_ref()) {
                column[member] = *value;
            }
        }
        for (column, values) in columns.iter_mut().zip(outputs) {
            column[place..place + CLUSTER].copy_from_slice(values);
        }
    }

    /// What is stored of a member of a cluster with these sums; `own` is its value of a column.
    #[inline(always)]
    fn finished(&self, own: impl Fn(&[f64]) -> f64, member: usize, sums: &[[f64; CLUSTER]]) -> L::Output {
        // not a number: a law that reads what is no longer there is found at once
        let own = L::Particle::<f64>::from_columns(|c| self.inputs[c].map_or(f64::NAN, &own));
        self.law.finish(own, L::Sums::<f64>::from_columns(|c| sums[c][member]))
    }

    fn add_work<T: Scalar>(&self, chunk: &ChunkSums<T>, part: &mut Part) {
        let Some(work) = &mut part.work else { return };
        let begin = chunk.super_clusters.start * SUPER_CLUSTER;
        let rows = part.rows.start.max(begin)..part.rows.end.min(begin + chunk.work.len());
        for row in rows.filter(|&row| self.rows.written(row)) {
            work[row - part.rows.start] += chunk.work[row - begin];
        }
    }
}

/// What some rows are given, joined in lanes.
struct RecordsOf<'f, 'a, 'c, 'r, L, T: Scalar> {
    finish: &'f Finish<'a, L>,
    chunks: &'c [&'c ChunkSums<T>],
    rows: Range<usize>,
    records: &'r mut [T],
}

impl<L: PairLaw, T: Scalar> Task for RecordsOf<'_, '_, '_, '_, L, T> {
    type Output = ();
    type Scalar = T;

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let RecordsOf { finish, chunks, rows, mut records } = self;
        let mut room = Vec::new();
        let width = given_of_row::<L>();
        let mut row = rows.start;
        while row < rows.end {
            let super_cluster = row / SUPER_CLUSTER;
            let end = rows.end.min((super_cluster + 1) * SUPER_CLUSTER);
            let members = row % SUPER_CLUSTER..row % SUPER_CLUSTER + end - row;
            let (own, behind) = std::mem::take(&mut records).split_at_mut(members.len() * width);
            (row, records) = (end, behind);
            if let Some(given) = only_given(chunks, super_cluster) {
                own.copy_from_slice(&given[members.start * width..members.end * width]);
                continue;
            }
            let joined = finish.sums(simd, chunks, super_cluster, &mut room);
            for (member, record) in members.zip(own.chunks_exact_mut(width)) {
                let begin = member / CLUSTER * L::SUMS.len();
                for (c, (value, &sum)) in record.iter_mut().zip(L::SUMS).enumerate() {
                    let total = joined.map_or(0.0, |sums| sums[(begin + c) * CLUSTER + member % CLUSTER]);
                    // what rows are given has the other sign where it is odd
                    *value = T::from_f64(if sum.parity == Parity::Odd { -total } else { total });
                }
            }
        }
    }
}

/// What the particles of a super-cluster were given, one after the other, where one of the chunks has that and none anything else.
#[inline(always)]
fn only_given<'c, T: Scalar>(chunks: &[&'c ChunkSums<T>], super_cluster: usize) -> Option<&'c [T]> {
    let mut having = chunks.iter().filter(|chunk| chunk.have(super_cluster));
    let (only, None) = (having.next()?, having.next()) else { return None };
    let none_else = only.blocks.super_cluster(super_cluster).is_none();
    only.given(super_cluster).filter(|_| none_else).map(bytemuck::cast_slice)
}

/// The rows of a part, in lanes.
struct FinishPart<'f, 'a, 'c, 'p, L, T: Scalar> {
    finish: &'f Finish<'a, L>,
    chunks: &'c [&'c ChunkSums<T>],
    part: &'f mut Part<'p>,
}

impl<L: PairLaw, T: Scalar> Task for FinishPart<'_, '_, '_, '_, L, T> {
    type Output = ();
    type Scalar = T;

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let FinishPart { finish, chunks, part } = self;
        let mut room = Vec::new();
        // owned rows begin with a super-cluster
        for begin in part.rows.clone().step_by(SUPER_CLUSTER) {
            let sums = finish.sums(simd, chunks, begin / SUPER_CLUSTER, &mut room);
            let Some(sums) = sums else { continue };
            let end = part.rows.end.min(begin + SUPER_CLUSTER);
            let clusters = sums.chunks_exact(CLUSTER * L::SUMS.len());
            for (first, sums) in (begin..end).step_by(CLUSTER).zip(clusters) {
                let rows = first..end.min(first + CLUSTER);
                finish.cluster(rows, sums, first - part.rows.start, &mut part.columns);
            }
        }
    }
}

/// Join sums with totals of as many members of a cluster.
#[inline(always)]
fn join_members(reduction: Reduction, totals: &mut [f64], sums: &[f64]) {
    totals.iter_mut().zip(sums).for_each(|(total, sum)| *total = reduction.join(*total, *sum));
}

/// Join a block with the sums of the same super-cluster.
fn join(columns: &[Sum], sums: &mut [f64], block: &[f64]) {
    let pairs = sums.chunks_exact_mut(CLUSTER).zip(block.chunks_exact(CLUSTER));
    for (k, (totals, values)) in pairs.enumerate() {
        join_members(columns[k % columns.len()].reduction, totals, values);
    }
}
