//! From the sums of a sweep to its output columns.

use super::law::{Columns, PairLaw, Parity, Reduction, Sum};
use super::law_lanes::{LawLanes, LawShape};
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
    pub fn take(
        particles: &mut Particles,
        outputs: &'static [Field],
        callback: Option<&RowCallback>,
    ) -> Self {
        let fields = [outputs, callback.map_or(&[], |callback| callback.fields)];
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
pub struct Finish<'a> {
    /// Output fields of the law.
    outputs: &'static [Field],
    /// Inputs of the law that still exist.
    inputs: Vec<Option<&'a [f64]>>,
    /// Rows to write.
    rows: &'a ActiveRows,
    /// Instructions of the conversion.
    pub instructions: Instructions,
    /// Callback, with the particles for it.
    callback: Option<(&'a RowCallback<'a>, &'a Particles)>,
}

impl<'a> Finish<'a> {
    /// For a law of this shape and these particles.
    pub fn new(
        law: &LawShape,
        particles: &'a Particles,
        rows: &'a ActiveRows,
        instructions: Instructions,
        callback: Option<&'a RowCallback<'a>>,
    ) -> Self {
        let column = |(field, c)| particles.has(field).then(|| particles.component(field, c));
        let inputs = components(law.inputs).map(column).collect();
        let callback = callback.map(|callback| (callback, particles));
        Finish { outputs: law.outputs, inputs, rows, instructions, callback }
    }

    /// Reduces the chunks' sums over some rows, in the order of the chunks, finishes each particle, writes
    /// the outputs, adds the work, and calls the callback.
    pub fn write_rows<T: Scalar>(
        &self,
        law: &dyn LawLanes<T>,
        chunks: &[&ChunkSums<T>],
        part: &mut OutputRows,
    ) {
        let (sums, instructions) = (law.shape().sums, self.instructions);
        law.finish(self, &ReducedChunks { sums, chunks, instructions }, part);
        chunks.iter().for_each(|chunk| self.add_work(chunk.super_clusters.start, &chunk.work, part));
        if let Some((callback, particles)) = self.callback {
            let outputs = self.outputs.iter().map(|field| field.components()).sum();
            let (outputs, columns) = part.columns.split_at_mut(outputs);
            (callback.call)(FinishedRows { particles, rows: part.rows.clone(), outputs, columns });
        }
    }

    /// Adds the work of a chunk whose rows begin with this super-cluster.
    fn add_work(&self, first_super_cluster: usize, own: &[f64], part: &mut OutputRows) {
        let Some(work) = &mut part.work else { return };
        let begin = first_super_cluster * SUPER_CLUSTER;
        let rows = part.rows.start.max(begin)..part.rows.end.min(begin + own.len());
        for row in rows.filter(|&row| self.rows.written(row)) {
            work[row - part.rows.start] += own[row - begin];
        }
    }
}

/// Sums of super-clusters, reduced over chunks.
pub trait ReducedSums {
    /// Sums of a super-cluster, `[cluster][column][8]`, if any chunk has some.
    fn of<'c>(&'c self, super_cluster: usize, scratch: &'c mut Vec<f64>) -> Option<&'c [f64]>;
}

/// Reduction over the chunks of a sweep.
struct ReducedChunks<'c, T: Scalar> {
    sums: &'static [Sum],
    chunks: &'c [&'c ChunkSums<T>],
    instructions: Instructions,
}

impl<T: Scalar> ReducedSums for ReducedChunks<'_, T> {
    fn of<'c>(&'c self, super_cluster: usize, scratch: &'c mut Vec<f64>) -> Option<&'c [f64]> {
        let mut with_sums = self.chunks.iter().filter(|chunk| chunk.has_sums_of(super_cluster)).peekable();
        let only = with_sums.next()?;
        let block = only.blocks.super_cluster(super_cluster);
        if let (Some(block), None, None) = (block, only.reactions(super_cluster), with_sums.peek()) {
            return Some(block);
        }
        let Self { sums, chunks, instructions } = *self;
        dispatch(instructions, JoinChunks { sums, chunks, super_cluster, totals: scratch });
        Some(scratch)
    }
}

/// Task that joins the sums of a super-cluster of all chunks, in their order.
struct JoinChunks<'c, 't, T: Scalar> {
    sums: &'static [Sum],
    chunks: &'c [&'c ChunkSums<T>],
    super_cluster: usize,
    totals: &'t mut Vec<f64>,
}

impl<T: Scalar> Task for JoinChunks<'_, '_, T> {
    type Output = ();
    type Scalar = T;

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let JoinChunks { sums, chunks, super_cluster, totals } = self;
        totals.resize(SUPER_CLUSTER * sums.len(), 0.0);
        for (column, values) in totals.chunks_exact_mut(CLUSTER).enumerate() {
            values.fill(sums[column % sums.len()].reduction.identity());
        }
        for chunk in chunks {
            if let Some(block) = chunk.blocks.super_cluster(super_cluster) {
                join_blocks(sums, totals, block);
            }
            if let Some(vectors) = chunk.reactions(super_cluster) {
                let vectors = vectors.chunks_exact(vectors.len() / CLUSTERS);
                for (vectors, totals) in vectors.zip(totals.chunks_exact_mut(CLUSTER * sums.len())) {
                    reaction_buffer::add_to_totals::<T, S>(simd, sums, vectors, totals);
                }
            }
        }
    }
}

/// Writes the chunks' sums of some rows as reaction records, row by row.
pub fn write_reactions<T: Scalar>(
    sums: &'static [Sum],
    instructions: Instructions,
    chunks: &[&ChunkSums<T>],
    rows: Range<usize>,
    mut records: &mut [T],
) {
    let mut scratch = Vec::new();
    let (reduced, width) = (ReducedChunks { sums, chunks, instructions }, reaction_row_values(sums.len()));
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
        let joined = reduced.of(super_cluster, &mut scratch);
        for (member, record) in members.zip(own.chunks_exact_mut(width)) {
            let begin = member / CLUSTER * sums.len();
            for (c, (value, &sum)) in record.iter_mut().zip(sums).enumerate() {
                let total = joined.map_or(0.0, |sums| sums[(begin + c) * CLUSTER + member % CLUSTER]);
                // Records have odd sums with opposite sign.
                *value = T::from_f64(if sum.parity == Parity::Odd { -total } else { total });
            }
        }
    }
}

/// Reaction records of a super-cluster if exactly one chunk has sums of it, and no others than these.
fn only_reactions<'c, T: Scalar>(chunks: &[&'c ChunkSums<T>], super_cluster: usize) -> Option<&'c [T]> {
    let mut with_sums = chunks.iter().filter(|chunk| chunk.has_sums_of(super_cluster));
    let (only, None) = (with_sums.next()?, with_sums.next()) else { return None };
    let none_else = only.blocks.super_cluster(super_cluster).is_none();
    only.reactions(super_cluster).filter(|_| none_else).map(bytemuck::cast_slice)
}

/// Finishes rows of a law with reduced sums.
pub fn finish_rows<L: PairLaw>(law: &L, finish: &Finish, sums: &dyn ReducedSums, part: &mut OutputRows) {
    dispatch(finish.instructions, FinishRows { law, finish, sums, part });
}

/// Task that finishes some rows.
struct FinishRows<'f, 'a, 'p, L> {
    law: &'f L,
    finish: &'f Finish<'a>,
    sums: &'f dyn ReducedSums,
    part: &'f mut OutputRows<'p>,
}

impl<L: PairLaw> Task for FinishRows<'_, '_, '_, L> {
    type Output = ();
    type Scalar = f64;

    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        let FinishRows { law, finish, sums, part } = self;
        let mut scratch = Vec::new();
        // Ranges begin with a super-cluster.
        for begin in part.rows.clone().step_by(SUPER_CLUSTER) {
            let Some(sums) = sums.of(begin / SUPER_CLUSTER, &mut scratch) else { continue };
            let end = part.rows.end.min(begin + SUPER_CLUSTER);
            let clusters = sums.chunks_exact(CLUSTER * L::SUMS.len());
            for (first, sums) in (begin..end).step_by(CLUSTER).zip(clusters) {
                let rows = first..end.min(first + CLUSTER);
                let place = first - part.rows.start;
                ClusterFinish { law, finish, sums }.write(rows, place, &mut part.columns);
            }
        }
    }
}

/// A cluster with its sums, column by column.
struct ClusterFinish<'c, 'a, L> {
    law: &'c L,
    finish: &'c Finish<'a>,
    sums: &'c [f64],
}

impl<L: PairLaw> ClusterFinish<'_, '_, L> {
    /// Finishes rows of the cluster, and writes them from `place` of the columns on.
    #[inline(always)]
    fn write(&self, rows: Range<usize>, place: usize, columns: &mut [&mut [f64]]) {
        if rows.len() == CLUSTER && self.finish.rows.all_written() {
            return self.write_whole(rows.start, place, columns);
        }
        for ((member, row), place) in rows.enumerate().zip(place..) {
            if !self.finish.rows.written(row) {
                continue;
            }
            let output = self.output_of(|column| column[row], member).to_columns();
            for (column, value) in columns.iter_mut().zip(output.as_ref()) {
                column[place] = *value;
            }
        }
    }

    /// Finishes all rows of the cluster, from row `first` on; outputs are buffered per column, so that whole
    /// vectors are written.
    #[inline(always)]
    fn write_whole(&self, first: usize, place: usize, columns: &mut [&mut [f64]]) {
        const { assert!(L::Output::COUNT <= MAX_OUTPUTS, "the law writes too many columns") };
        let mut outputs = [[0.0; CLUSTER]; MAX_OUTPUTS];
        let outputs = &mut outputs[..L::Output::COUNT];
        for member in 0..CLUSTER {
            let own = |column: &[f64]| column[first..first + CLUSTER][member];
            let output = self.output_of(own, member).to_columns();
            for (column, value) in outputs.iter_mut().zip(output.as_ref()) {
                column[member] = *value;
            }
        }
        for (column, values) in columns.iter_mut().zip(outputs) {
            column[place..place + CLUSTER].copy_from_slice(values);
        }
    }

    /// Output of a member; `own` selects its value of a column.
    #[inline(always)]
    fn output_of(&self, own: impl Fn(&[f64]) -> f64, member: usize) -> L::Output {
        let sums = &self.sums.as_chunks::<CLUSTER>().0[..L::SUMS.len()];
        // NaN exposes laws that read removed inputs.
        let own = L::Particle::<f64>::from_columns(|c| self.finish.inputs[c].map_or(f64::NAN, &own));
        self.law.finish(own, L::Sums::<f64>::from_columns(|c| sums[c][member]))
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
