//! Packing tasks: offsets and bounding boxes, radii, inputs and prepared inputs, and records.

use super::frame::{Bounds, SuperClusterBox};
use crate::neighbors::{CLUSTER, CLUSTERS, Radii, SUPER_CLUSTER};
use crate::pair::law::{Columns, PairLaw, Reduction};
use crate::pair::record::{OFFSETS, QUAD, QUADS};
use crate::simd::prefetch::prefetch_for_write;
use crate::simd::{Lanes, Scalar, Task};
use fearless_simd::prelude::*;
use fearless_simd::{Simd, f64x8};

/// Columns in front of the law's inputs: offsets x, y, z from the super-cluster's center, and the squared
/// radius.
pub const GEOMETRY: usize = 4;

/// Columns to pack.
pub struct Source<'a> {
    /// Position columns.
    pub position: [&'a [f64]; 3],
    /// Interaction radii.
    pub radius: Radii<'a>,
    /// Inputs of the law.
    pub inputs: &'a [&'a [f64]],
    /// Whether the law prepares its pairs' inputs.
    pub prepared: bool,
    /// Values of a cluster.
    pub width: usize,
    /// Inverse unit of the bounds.
    pub scale: f64,
}

/// Prepares the inputs of clusters from a row on, in their values.
pub(super) type Prepare<'p, T> = dyn Fn(usize, &mut [T]) + Sync + 'p;

/// Task that packs the columns of super-clusters from row `first` on.
pub(super) struct ColumnsTask<'s, T> {
    pub source: &'s Source<'s>,
    pub first: usize,
    pub values: &'s mut [T],
    pub bounds: &'s mut [Bounds],
    pub boxes: &'s mut [SuperClusterBox],
}

impl<T: Scalar> Task for ColumnsTask<'_, T> {
    type Output = ();
    type Scalar = T;

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let source = self.source;
        let blocks = self.values.chunks_exact_mut(CLUSTERS * source.width);
        let bounds = self.bounds.chunks_exact_mut(CLUSTERS);
        let rows = (self.first..).step_by(SUPER_CLUSTER);
        for (((values, bounds), own_box), first) in blocks.zip(bounds).zip(self.boxes).zip(rows) {
            for d in 0..3 {
                (own_box.center[d], own_box.half[d]) = pack_offsets(simd, source, d, first, values, bounds);
            }
            pack_radii(simd, source, first, values, bounds);
            if source.prepared {
                continue;
            }
            let rows = (first..).step_by(CLUSTER);
            for (block, first) in values.chunks_exact_mut(source.width).zip(rows) {
                write_inputs(simd, source, first, block[GEOMETRY * CLUSTER..].as_chunks_mut().0);
            }
        }
    }
}

/// Rounds eight values to the lanes' type.
#[inline(always)]
fn round<S: Simd, T: Scalar>(values: f64x8<S>, lanes: &mut [T; CLUSTER]) {
    let values: [f64; CLUSTER] = values.into();
    lanes.iter_mut().zip(values).for_each(|(lane, value)| *lane = T::from_f64(value));
}

/// Packs the offsets of a super-cluster along an axis, relative to the center of its bounding box, and the
/// bounds of its clusters. Returns center and half edge. Non-finite positions do not count for the box.
#[inline(always)]
fn pack_offsets<S: Simd, T: Scalar>(
    simd: S,
    source: &Source,
    axis: usize,
    first: usize,
    values: &mut [T],
    bounds: &mut [Bounds],
) -> (f64, f64) {
    let nothing = f64x8::splat(simd, f64::INFINITY);
    let mut positions = [nothing; CLUSTERS];
    let (mut lower, mut upper) = ([nothing; CLUSTERS], [nothing; CLUSTERS]);
    for k in 0..CLUSTERS {
        let x = f64x8::simd_from(simd, eight(source.position[axis], first + k * CLUSTER, f64::NAN));
        let finite = x.abs().simd_lt(nothing);
        positions[k] = x;
        lower[k] = finite.select(x, nothing);
        upper[k] = finite.select(x, -nothing);
    }
    let lower = f64x8::reduce_vectors(lower, Reduction::Minimum);
    let upper = f64x8::reduce_vectors(upper, Reduction::Maximum);
    let (lowest, highest) = (minimum(lower.into()), -minimum((-upper).into()));
    let (mut center, mut half) = (0.0, 0.0);
    if lowest <= highest {
        (center, half) = (0.5 * (lowest + highest), 0.5 * (highest - lowest));
    }
    let lowers: [f64; CLUSTERS] = ((lower - center) * source.scale).into();
    let uppers: [f64; CLUSTERS] = ((upper - center) * source.scale).into();
    for (k, bounds) in bounds.iter_mut().enumerate() {
        bounds.values[Bounds::LOWER + axis] = lowers[k] as f32;
        bounds.values[Bounds::UPPER + axis] = uppers[k] as f32;
    }
    for (block, x) in values.chunks_exact_mut(source.width).zip(positions) {
        if let Some(lanes) = block.as_chunks_mut().0.get_mut(axis) {
            round(x - center, lanes);
        }
    }
    (center, half)
}

/// Packs the squared radii of a super-cluster and the largest radius of each cluster.
#[inline(always)]
fn pack_radii<S: Simd, T: Scalar>(
    simd: S,
    source: &Source,
    first: usize,
    values: &mut [T],
    bounds: &mut [Bounds],
) {
    let mut radii = [f64x8::splat(simd, 0.0); CLUSTERS];
    for (k, block) in values.chunks_exact_mut(source.width).enumerate().take(CLUSTERS) {
        radii[k] = match source.radius {
            Radii::All(radius) => f64x8::splat(simd, radius),
            Radii::Each(radius) => f64x8::simd_from(simd, eight(radius, first + k * CLUSTER, 0.0)),
        };
        if let Some(lanes) = block.as_chunks_mut().0.get_mut(GEOMETRY - 1) {
            round(radii[k] * radii[k], lanes);
        }
    }
    let largest: [f64; CLUSTERS] = (f64x8::reduce_vectors(radii, Reduction::Maximum) * source.scale).into();
    for (bounds, largest) in bounds.iter_mut().zip(largest) {
        bounds.values[Bounds::REACH] = largest as f32;
    }
}

/// Prefetch distance in super-clusters.
const PREFETCH_DISTANCE: usize = 2;

/// Task that packs the records of super-clusters from row `first` on, of `quads` quads each.
pub(super) struct RecordsTask<'s, T> {
    pub source: &'s Source<'s>,
    /// Prepares the inputs of a cluster from its first row on, in columns behind the offsets.
    pub prepare: Option<&'s Prepare<'s, T>>,
    pub quads: usize,
    pub first: usize,
    pub records: &'s mut [T],
    pub boxes: &'s mut [SuperClusterBox],
}

impl<T: Scalar> Task for RecordsTask<'_, T> {
    type Output = ();
    type Scalar = T;

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let (source, quads) = (self.source, self.quads);
        let mut scratch = [[0.0; SUPER_CLUSTER]; OFFSETS];
        // Columns beyond those of the law fill the last quad and are not read.
        let mut columns = [[T::default(); CLUSTER]; QUADS * QUAD];
        let stride = CLUSTERS * CLUSTER * quads * QUAD;
        let blocks = self.records.chunks_exact_mut(stride);
        let rows = (self.first..).step_by(SUPER_CLUSTER);
        for ((records, own_box), first) in blocks.zip(self.boxes).zip(rows) {
            // Other threads read these records in the last sweep.
            prefetch_for_write(records.as_ptr().wrapping_add(PREFETCH_DISTANCE * stride), stride);
            let [x, y, z] = &mut scratch;
            let position = [
                load_super_cluster(source.position[0], first, x),
                load_super_cluster(source.position[1], first, y),
                load_super_cluster(source.position[2], first, z),
            ];
            for d in 0..OFFSETS {
                (own_box.center[d], own_box.half[d]) = center_and_half(simd, position[d]);
            }
            let clusters = records.chunks_exact_mut(CLUSTER * quads * QUAD);
            for (k, (records, first)) in clusters.zip((first..).step_by(CLUSTER)).enumerate() {
                for d in 0..OFFSETS {
                    round(f64x8::simd_from(simd, position[d][k]) - own_box.center[d], &mut columns[d]);
                }
                match self.prepare {
                    Some(prepare) => prepare(first, columns.as_flattened_mut()),
                    None => write_inputs(simd, source, first, &mut columns[OFFSETS..]),
                }
                for (quad, four) in columns.as_chunks::<QUAD>().0.iter().enumerate().take(quads) {
                    let four: [&[T]; QUAD] = [&four[0], &four[1], &four[2], &four[3]];
                    T::Lanes::<S>::write_quads(simd, four, records, quads, quad);
                }
            }
        }
    }
}

/// Values of a super-cluster from row `first` on, by cluster; NaN beyond the end of the column.
#[inline(always)]
fn load_super_cluster<'v>(
    column: &'v [f64],
    first: usize,
    scratch: &'v mut [f64; SUPER_CLUSTER],
) -> &'v [[f64; CLUSTER]] {
    match column.get(first..first + SUPER_CLUSTER) {
        Some(values) => values.as_chunks().0,
        None => {
            scratch.fill(f64::NAN);
            scratch.iter_mut().zip(column.iter().skip(first)).for_each(|(value, own)| *value = *own);
            scratch.as_chunks().0
        }
    }
}

/// Center and half width of the finite values of a super-cluster; 0 if there are none.
#[inline(always)]
fn center_and_half<S: Simd>(simd: S, values: &[[f64; CLUSTER]]) -> (f64, f64) {
    let nothing = f64x8::splat(simd, f64::INFINITY);
    let (mut lower, mut upper) = (nothing, -nothing);
    for values in values {
        let x = f64x8::simd_from(simd, *values);
        let finite = x.abs().simd_lt(nothing);
        lower = lower.min(finite.select(x, nothing));
        upper = upper.max(finite.select(x, -nothing));
    }
    let (lowest, highest) = (minimum(lower.into()), -minimum((-upper).into()));
    if lowest <= highest { (0.5 * (lowest + highest), 0.5 * (highest - lowest)) } else { (0.0, 0.0) }
}

/// Writes the pair inputs of eight particles from row `first` on, by column: the fields as they are.
#[inline(always)]
fn write_inputs<T: Scalar, S: Simd>(simd: S, source: &Source, first: usize, columns: &mut [[T; CLUSTER]]) {
    for (column, lanes) in source.inputs.iter().zip(columns) {
        round(f64x8::simd_from(simd, eight(column, first, 0.0)), lanes);
    }
}

/// Task that prepares the pair inputs of clusters from row `first` on.
pub struct PrepareTask<'s, L, T> {
    /// The law.
    pub law: &'s L,
    /// Its inputs.
    pub source: &'s Source<'s>,
    /// First row.
    pub first: usize,
    /// Values of a cluster.
    pub width: usize,
    /// Values of a cluster before those of the pair inputs.
    pub begin: usize,
    /// Values of the clusters.
    pub values: &'s mut [T],
}

impl<L: PairLaw, T: Scalar> Task for PrepareTask<'_, L, T> {
    type Output = ();
    // In double precision, like the fields; the results are rounded once.
    type Scalar = f64;

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let parameters = self.law.parameters::<f64x8<S>>(simd);
        let rows = (self.first..).step_by(CLUSTER);
        for (block, first) in self.values.chunks_exact_mut(self.width).zip(rows) {
            let particle = L::Particle::<f64x8<S>>::from_columns(
                #[inline(always)]
                |c| f64x8::simd_from(simd, eight(self.source.inputs[c], first, 0.0)),
            );
            let prepared = L::prepare::<f64x8<S>>(simd, parameters, particle).to_columns();
            let columns = block[self.begin..].as_chunks_mut().0;
            for (lanes, prepared) in columns.iter_mut().zip(prepared.as_ref()) {
                round(*prepared, lanes);
            }
        }
    }
}

/// Eight values of a column from row `first` on; `missing` beyond its end.
#[inline(always)]
fn eight(column: &[f64], first: usize, missing: f64) -> [f64; CLUSTER] {
    let mut values = [missing; CLUSTER];
    match column.get(first..first + CLUSTER) {
        Some(column) => values.copy_from_slice(column),
        None => values.iter_mut().zip(column.iter().skip(first)).for_each(|(value, own)| *value = *own),
    }
    values
}

/// Minimum of eight numbers.
#[inline(always)]
fn minimum(mut values: [f64; CLUSTER]) -> f64 {
    for half in [4, 2, 1] {
        for k in 0..half {
            let (a, b) = (values[k], values[k + half]);
            values[k] = if a < b { a } else { b };
        }
    }
    values[0]
}
