//! From the sums of a sweep to its output columns.

use super::law::{Columns, PairLaw, Parity, Reduction, Sum};
use super::reaction_buffer::{self, reaction_row_values};
use super::sums::ChunkSums;
use super::sweep::{ActiveRows, components};
use crate::neighbors::{CLUSTER, CLUSTERS, SUPER_CLUSTER};
use crate::parallel::zeros;
use crate::particles::{Field, Particles};
use crate::simd::{Instructions, Scalar, Task, dispatch};
use fearless_simd::Simd;
use std::ops::Range;

/// Maximum number of output columns of a law.
const MAX_OUTPUTS: usize = 16;

/// Callback on rows whose outputs were just written, while these are in the cache.
pub struct RowCallback<'t> {
    /// Additional fields whose rows the callback writes; no outputs.
    pub fields: &'static [Field],
    /// The callback.
    pub call: &'t (dyn Fn(FinishedRows) + Sync),
}

/// Rows whose outputs are written.
pub struct FinishedRows<'f, 'c> {
    /// Particles, without the outputs and the fields that the callback writes.
    pub particles: &'f Particles,
    /// The rows.
    pub rows: Range<usize>,
    /// Output columns of the rows.
    pub outputs: &'f [&'c mut [f64]],
    /// Columns of the rows in the callback's fields.
    pub columns: &'f mut [&'c mut [f64]],
}

/// Output columns of a sweep. They are taken from the particles, whose other columns can be read meanwhile.
pub struct Outputs {
    /// Fields of the law's outputs, then those of the callback.
    fields: [&'static [Field]; 2],
    columns: Vec<Vec<f64>>,
    work: Option<Vec<f64>>,
}

/// Output columns of some owned rows.
pub struct OutputRows<'a> {
    rows: Range<usize>,
    columns: Vec<&'a mut [f64]>,
    work: Option<&'a mut [f64]>,
}

/// Outputs that the particles had before the sweep.
pub struct PreviousOutputs {
    fields: [&'static [Field]; 2],
    columns: Vec<Option<Vec<Vec<f64>>>>,
    work: Option<Vec<f64>>,
}

impl PreviousOutputs {
    /// Takes a law's outputs, the callback's fields and the work from the particles.
    pub fn take<L: PairLaw>(particles: &mut Particles, callback: Option<&RowCallback>) -> Self {
        let fields = [L::OUTPUTS, callback.map_or(&[], |callback| callback.fields)];
        let columns = fields.into_iter().flatten().map(|&field| particles.take(field)).collect();
        let work = particles.take(Field::Work).and_then(|mut columns| columns.pop());
        PreviousOutputs { fields, columns, work }
    }

    /// Whether work is counted.
    pub fn counts_work(&self) -> bool {
        self.work.is_some()
    }

    /// Allocates missing columns for `rows` rows.
    pub fn into_outputs(self, rows: usize) -> Outputs {
        let fields = self.fields.into_iter().flatten().zip(self.columns);
        let columns = fields.flat_map(|(field, present)| {
            present.unwrap_or_else(|| (0..field.components()).map(|_| zeros(rows)).collect())
        });
        Outputs { fields: self.fields, columns: columns.collect(), work: self.work }
    }
}

impl Outputs {
    /// Splits the columns into these row ranges, which must ascend.
    pub fn split_rows(&mut self, rows: &[Range<usize>]) -> Vec<OutputRows<'_>> {
        let mut columns: Vec<&mut [f64]> = self.columns.iter_mut().map(Vec::as_mut_slice).collect();
        let mut work = self.work.as_deref_mut();
        let mut begin = 0;
        let mut part = |rows: &Range<usize>| {
            let places = rows.start - begin..rows.end - begin;
            begin = rows.end;
            let own = columns.iter_mut().map(|column| split_off(column, places.clone())).collect();
            let work = work.as_mut().map(|work| split_off(work, places.clone()));
            OutputRows { rows: rows.clone(), columns: own, work }
        };
        rows.iter().map(&mut part).collect()
    }

    /// Puts the columns back into the particles.
    pub fn return_to(self, particles: &mut Particles) {
        let mut columns = self.columns.into_iter();
        for &field in self.fields.into_iter().flatten() {
            particles.put(field, columns.by_ref().take(field.components()).collect());
        }
        if let Some(work) = self.work {
            particles.put(Field::Work, vec![work]);
        }
    }
}

/// Splits these places off a column; the column then begins behind them.
fn split_off<'a>(column: &mut &'a mut [f64], places: Range<usize>) -> &'a mut [f64] {
    let (before, rest) = std::mem::take(column).split_at_mut(places.end);
    *column = rest;
    &mut before[places.start..]
}

/// Conversion of sums to outputs.
pub struct Finish<'a, L> {
    /// The law.
    law: &'a L,
    /// Inputs of the law that still exist.
    inputs: Vec<Option<&'a [f64]>>,
    /// Rows to write.
    rows: &'a ActiveRows,
    /// Instructions of the reduction.
    instructions: Instructions,
    /// Callback, with the particles for it.
    callback: Option<(&'a RowCallback<'a>, &'a Particles)>,
}

impl<'a, L: PairLaw> Finish<'a, L> {
    /// For these particles.
    pub fn new(
        law: &'a L,
        particles: &'a Particles,
        rows: &'a ActiveRows,
        instructions: Instructions,
        callback: Option<&'a RowCallback<'a>>,
    ) -> Self {
        let column = |(field, c)| particles.has(field).then(|| particles.component(field, c));
        let inputs = components(L::INPUTS).map(column).collect();
        let callback = callback.map(|callback| (callback, particles));
        Finish { law, inputs, rows, instructions, callback }
    }

    /// Reduces the chunks' sums over some rows, in the order of the chunks, finishes each particle, writes
    /// the outputs, adds the work, and calls the callback.
    pub fn write_rows<T: Scalar>(&self, chunks: &[&ChunkSums<T>], part: &mut OutputRows) {
        dispatch(self.instructions, FinishRows { finish: self, chunks, part });
        chunks.iter().for_each(|chunk| self.add_work(chunk, part));
        if let Some((callback, particles)) = self.callback {
            let outputs = L::OUTPUTS.iter().map(|field| field.components()).sum();
            let (outputs, columns) = part.columns.split_at_mut(outputs);
            (callback.call)(FinishedRows { particles, rows: part.rows.clone(), outputs, columns });
        }
    }

    /// Writes the chunks' sums of some rows as reaction records, row by row.
    pub fn write_reactions<T: Scalar>(
        &self,
        chunks: &[&ChunkSums<T>],
        rows: Range<usize>,
        records: &mut [T],
    ) {
        dispatch(self.instructions, ReactionRecords { finish: self, chunks, rows, records });
    }

    /// Reduced sums of a super-cluster, if any chunk has some.
    #[inline(always)]
    fn sums<'c, T: Scalar, S: Simd>(
        &self,
        simd: S,
        chunks: &'c [&'c ChunkSums<T>],
        super_cluster: usize,
        scratch: &'c mut Vec<f64>,
    ) -> Option<&'c [f64]> {
        let mut with_sums = chunks.iter().filter(|chunk| chunk.has_sums_of(super_cluster)).peekable();
        let only = with_sums.next()?;
        let block = only.blocks.super_cluster(super_cluster);
        if let (Some(block), None, None) = (block, only.reactions(super_cluster), with_sums.peek()) {
            return Some(block);
        }
        scratch.resize(SUPER_CLUSTER * L::SUMS.len(), 0.0);
        for (column, values) in scratch.chunks_exact_mut(CLUSTER).enumerate() {
            values.fill(L::SUMS[column % L::SUMS.len()].reduction.identity());
        }
        for chunk in std::iter::once(only).chain(with_sums) {
            if let Some(block) = chunk.blocks.super_cluster(super_cluster) {
                join_blocks(L::SUMS, scratch, block);
            }
            if let Some(vectors) = chunk.reactions(super_cluster) {
                let vectors = vectors.chunks_exact(vectors.len() / CLUSTERS);
                for (vectors, sums) in vectors.zip(scratch.chunks_exact_mut(CLUSTER * L::SUMS.len())) {
                    reaction_buffer::add_to_totals::<L, T, S>(simd, vectors, sums);
                }
            }
        }
        Some(scratch)
    }

    /// Finishes rows of a cluster with these sums, and writes them from `place` of the columns on.
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
            let output = self.output_of(|column| column[row], member, sums).to_columns();
            for (column, value) in columns.iter_mut().zip(output.as_ref()) {
                column[place] = *value;
            }
        }
    }

    /// Finishes all rows of a cluster, from row `first` on; outputs are buffered per column, so that whole
    /// vectors are written.
    #[inline(always)]
    fn whole_cluster(&self, first: usize, sums: &[[f64; CLUSTER]], place: usize, columns: &mut [&mut [f64]]) {
        const { assert!(L::Output::COUNT <= MAX_OUTPUTS, "the law writes too many columns") };
        let mut outputs = [[0.0; CLUSTER]; MAX_OUTPUTS];
        let outputs = &mut outputs[..L::Output::COUNT];
        for member in 0..CLUSTER {
            let own = |column: &[f64]| column[first..first + CLUSTER][member];
            let output = self.output_of(own, member, sums).to_columns();
            for (column, value) in outputs.iter_mut().zip(output.as_ref()) {
                column[member] = *value;
            }
        }
        for (column, values) in columns.iter_mut().zip(outputs) {
            column[place..place + CLUSTER].copy_from_slice(values);
        }
    }

    /// Output of a member of a cluster with these sums; `own` selects its value of a column.
    #[inline(always)]
    fn output_of(&self, own: impl Fn(&[f64]) -> f64, member: usize, sums: &[[f64; CLUSTER]]) -> L::Output {
        // NaN exposes laws that read removed inputs.
        let own = L::Particle::<f64>::from_columns(|c| self.inputs[c].map_or(f64::NAN, &own));
        self.law.finish(own, L::Sums::<f64>::from_columns(|c| sums[c][member]))
    }

    fn add_work<T: Scalar>(&self, chunk: &ChunkSums<T>, part: &mut OutputRows) {
        let Some(work) = &mut part.work else { return };
        let begin = chunk.super_clusters.start * SUPER_CLUSTER;
        let rows = part.rows.start.max(begin)..part.rows.end.min(begin + chunk.work.len());
        for row in rows.filter(|&row| self.rows.written(row)) {
            work[row - part.rows.start] += chunk.work[row - begin];
        }
    }
}

/// Task that reduces reaction records of some rows.
struct ReactionRecords<'f, 'a, 'c, 'r, L, T: Scalar> {
    finish: &'f Finish<'a, L>,
    chunks: &'c [&'c ChunkSums<T>],
    rows: Range<usize>,
    records: &'r mut [T],
}

impl<L: PairLaw, T: Scalar> Task for ReactionRecords<'_, '_, '_, '_, L, T> {
    type Output = ();
    type Scalar = T;

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let ReactionRecords { finish, chunks, rows, mut records } = self;
        let mut scratch = Vec::new();
        let width = reaction_row_values::<L>();
        let mut row = rows.start;
        while row < rows.end {
            let super_cluster = row / SUPER_CLUSTER;
            let end = rows.end.min((super_cluster + 1) * SUPER_CLUSTER);
            let members = row % SUPER_CLUSTER..row % SUPER_CLUSTER + end - row;
            let (own, rest) = std::mem::take(&mut records).split_at_mut(members.len() * width);
            (row, records) = (end, rest);
            if let Some(reactions) = only_reactions(chunks, super_cluster) {
                own.copy_from_slice(&reactions[members.start * width..members.end * width]);
                continue;
            }
            let joined = finish.sums(simd, chunks, super_cluster, &mut scratch);
            for (member, record) in members.zip(own.chunks_exact_mut(width)) {
                let begin = member / CLUSTER * L::SUMS.len();
                for (c, (value, &sum)) in record.iter_mut().zip(L::SUMS).enumerate() {
                    let total = joined.map_or(0.0, |sums| sums[(begin + c) * CLUSTER + member % CLUSTER]);
                    // Records have odd sums with opposite sign.
                    *value = T::from_f64(if sum.parity == Parity::Odd { -total } else { total });
                }
            }
        }
    }
}

/// Reaction records of a super-cluster if exactly one chunk has sums of it, and no others than these.
#[inline(always)]
fn only_reactions<'c, T: Scalar>(chunks: &[&'c ChunkSums<T>], super_cluster: usize) -> Option<&'c [T]> {
    let mut with_sums = chunks.iter().filter(|chunk| chunk.has_sums_of(super_cluster));
    let (only, None) = (with_sums.next()?, with_sums.next()) else { return None };
    let none_else = only.blocks.super_cluster(super_cluster).is_none();
    only.reactions(super_cluster).filter(|_| none_else).map(bytemuck::cast_slice)
}

/// Task that finishes some rows.
struct FinishRows<'f, 'a, 'c, 'p, L, T: Scalar> {
    finish: &'f Finish<'a, L>,
    chunks: &'c [&'c ChunkSums<T>],
    part: &'f mut OutputRows<'p>,
}

impl<L: PairLaw, T: Scalar> Task for FinishRows<'_, '_, '_, '_, L, T> {
    type Output = ();
    type Scalar = T;

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let FinishRows { finish, chunks, part } = self;
        let mut scratch = Vec::new();
        // Ranges begin with a super-cluster.
        for begin in part.rows.clone().step_by(SUPER_CLUSTER) {
            let sums = finish.sums(simd, chunks, begin / SUPER_CLUSTER, &mut scratch);
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

/// Joins the values of some members of a cluster with their totals.
#[inline(always)]
fn join_members(reduction: Reduction, totals: &mut [f64], sums: &[f64]) {
    totals.iter_mut().zip(sums).for_each(|(total, sum)| *total = reduction.join(*total, *sum));
}

/// Joins a block with the totals of the same super-cluster.
fn join_blocks(columns: &[Sum], sums: &mut [f64], block: &[f64]) {
    let pairs = sums.chunks_exact_mut(CLUSTER).zip(block.chunks_exact(CLUSTER));
    for (k, (totals, values)) in pairs.enumerate() {
        join_members(columns[k % columns.len()].reduction, totals, values);
    }
}
