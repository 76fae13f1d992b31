//! Values on their way to lanes: offsets and boxes, radii, what laws read or prepare, and records of all that.

use super::frame::{Bounds, Place};
use crate::claim::claim;
use crate::neighbors::{CLUSTER, CLUSTERS, Radii, SUPER_CLUSTER};
use crate::pair::lane::{Lanes, Scalar, Task};
use crate::pair::law::{Columns, PairLaw, Reduction};
use crate::pair::record::{OFFSETS, QUAD, QUADS, quads};
use fearless_simd::prelude::*;
use fearless_simd::{Simd, f64x8};

/// Columns before the law's inputs: offsets x, y, z from the super-cluster's centre, and the squared radius.
pub const GEOMETRY: usize = 4;

/// The columns to pack.
pub(super) struct Source<'a> {
    pub position: [&'a [f64]; 3],
    pub radius: Radii<'a>,
    pub inputs: &'a [&'a [f64]],
    /// Whether the law prepares what its pairs need.
    pub prepared: bool,
    pub width: usize,
    /// One over the unit of the bounds.
    pub scale: f64,
}

/// Some super-clusters to pack, from the row `first` on.
pub(super) struct Piece<'s, T> {
    pub source: &'s Source<'s>,
    pub first: usize,
    pub values: &'s mut [T],
    pub bounds: &'s mut [Bounds],
    pub places: &'s mut [Place],
}

impl<T: Scalar> Task for Piece<'_, T> {
    type Output = ();
    type Scalar = T;

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let source = self.source;
        let blocks = self.values.chunks_exact_mut(CLUSTERS * source.width);
        let bounds = self.bounds.chunks_exact_mut(CLUSTERS);
        let rows = (self.first..).step_by(SUPER_CLUSTER);
        for (((values, bounds), place), first) in blocks.zip(bounds).zip(self.places).zip(rows) {
            for d in 0..3 {
                (place.centre[d], place.half[d]) = pack_offsets(simd, source, d, first, values, bounds);
            }
            pack_radii(simd, source, first, values, bounds);
            if source.prepared {
                continue;
            }
            let rows = (first..).step_by(CLUSTER);
            for (block, first) in values.chunks_exact_mut(source.width).zip(rows) {
                let own = block[GEOMETRY * CLUSTER..].as_chunks_mut().0;
                for (column, lanes) in source.inputs.iter().zip(own) {
                    round(f64x8::simd_from(simd, eight(column, first, 0.0)), lanes);
                }
            }
        }
    }
}

/// Round eight values to those of lanes.
#[inline(always)]
fn round<S: Simd, T: Scalar>(values: f64x8<S>, lanes: &mut [T; CLUSTER]) {
    let values: [f64; CLUSTER] = values.into();
    lanes.iter_mut().zip(values).for_each(|(lane, value)| *lane = T::from_f64(value));
}

/// Pack offsets of a super-cluster along an axis from the middle of its particles, and the bounds of its clusters; returns
/// that middle and how far from it particles are. Positions that are not finite count for nothing.
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
    let lower = f64x8::vectors(lower, Reduction::Minimum);
    let upper = f64x8::vectors(upper, Reduction::Maximum);
    let (lowest, highest) = (least(lower.into()), -least((-upper).into()));
    let (mut centre, mut half) = (0.0, 0.0);
    if lowest <= highest {
        (centre, half) = (0.5 * (lowest + highest), 0.5 * (highest - lowest));
    }
    let lowers: [f64; CLUSTERS] = ((lower - centre) * source.scale).into();
    let uppers: [f64; CLUSTERS] = ((upper - centre) * source.scale).into();
    for (k, bounds) in bounds.iter_mut().enumerate() {
        bounds.values[Bounds::LOWER + axis] = lowers[k] as f32;
        bounds.values[Bounds::UPPER + axis] = uppers[k] as f32;
    }
    for (block, x) in values.chunks_exact_mut(source.width).zip(positions) {
        if let Some(lanes) = block.as_chunks_mut().0.get_mut(axis) {
            round(x - centre, lanes);
        }
    }
    (centre, half)
}

/// Pack the squared radii of a super-cluster, and the largest of each cluster.
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
    let largest: [f64; CLUSTERS] = (f64x8::vectors(radii, Reduction::Maximum) * source.scale).into();
    for (bounds, largest) in bounds.iter_mut().zip(largest) {
        bounds.values[Bounds::REACH] = largest as f32;
    }
}

/// Super-clusters between the one that is packed and the one whose lines are claimed.
const AHEAD: usize = 2;

/// Some super-clusters to pack in records of a law, from the row `first` on.
pub(super) struct Records<'s, L, T> {
    pub law: &'s L,
    pub source: &'s Source<'s>,
    pub first: usize,
    pub records: &'s mut [T],
    pub places: &'s mut [Place],
}

impl<L: PairLaw, T: Scalar> Task for Records<'_, L, T> {
    type Output = ();
    type Scalar = T;

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let (source, quads) = (self.source, const { quads::<L>() });
        let parameters = self.law.parameters::<f64x8<S>>(simd);
        let mut room = [[0.0; SUPER_CLUSTER]; OFFSETS];
        // where a quad has no column, one that nobody reads
        let mut columns = [[T::default(); CLUSTER]; QUADS * QUAD];
        let stride = CLUSTERS * CLUSTER * quads * QUAD;
        let blocks = self.records.chunks_exact_mut(stride);
        let rows = (self.first..).step_by(SUPER_CLUSTER);
        for ((records, place), first) in blocks.zip(self.places).zip(rows) {
            // other threads have read them in the last sweep
            claim(records.as_ptr().wrapping_add(AHEAD * stride), stride);
            let [x, y, z] = &mut room;
            let position = [
                sixty_four(source.position[0], first, x),
                sixty_four(source.position[1], first, y),
                sixty_four(source.position[2], first, z),
            ];
            for d in 0..OFFSETS {
                (place.centre[d], place.half[d]) = middle(simd, position[d]);
            }
            let clusters = records.chunks_exact_mut(CLUSTER * quads * QUAD);
            for (k, (records, first)) in clusters.zip((first..).step_by(CLUSTER)).enumerate() {
                for d in 0..OFFSETS {
                    round(f64x8::simd_from(simd, position[d][k]) - place.centre[d], &mut columns[d]);
                }
                write_inputs::<L, T, S>(simd, parameters, source, first, &mut columns[OFFSETS..]);
                for (quad, four) in columns.as_chunks::<QUAD>().0.iter().enumerate().take(quads) {
                    let four: [&[T]; QUAD] = [&four[0], &four[1], &four[2], &four[3]];
                    T::Lanes::<S>::write_quads(simd, four, records, quads, quad);
                }
            }
        }
    }
}

/// The values of a super-cluster's rows, from the row `first` on, by cluster; not a number beyond the end of the column.
#[inline(always)]
fn sixty_four<'v>(
    column: &'v [f64],
    first: usize,
    room: &'v mut [f64; SUPER_CLUSTER],
) -> &'v [[f64; CLUSTER]] {
    match column.get(first..first + SUPER_CLUSTER) {
        Some(values) => values.as_chunks().0,
        None => {
            room.fill(f64::NAN);
            room.iter_mut().zip(column.iter().skip(first)).for_each(|(value, own)| *value = *own);
            room.as_chunks().0
        }
    }
}

/// The middle of the values of a super-cluster that are finite, and how far from it they are.
#[inline(always)]
fn middle<S: Simd>(simd: S, values: &[[f64; CLUSTER]]) -> (f64, f64) {
    let nothing = f64x8::splat(simd, f64::INFINITY);
    let (mut lower, mut upper) = (nothing, -nothing);
    for values in values {
        let x = f64x8::simd_from(simd, *values);
        let finite = x.abs().simd_lt(nothing);
        lower = lower.min(finite.select(x, nothing));
        upper = upper.max(finite.select(x, -nothing));
    }
    let (lowest, highest) = (least(lower.into()), -least((-upper).into()));
    if lowest <= highest { (0.5 * (lowest + highest), 0.5 * (highest - lowest)) } else { (0.0, 0.0) }
}

/// What pairs need of eight particles, from the row `first` on, a column each: what is read, or what the law prepares of it.
#[inline(always)]
fn write_inputs<L: PairLaw, T: Scalar, S: Simd>(
    simd: S,
    parameters: L::Parameters<f64x8<S>>,
    source: &Source,
    first: usize,
    columns: &mut [[T; CLUSTER]],
) {
    if !L::PREPARES {
        for (column, lanes) in source.inputs.iter().zip(columns) {
            round(f64x8::simd_from(simd, eight(column, first, 0.0)), lanes);
        }
        return;
    }
    let particle = L::Particle::<f64x8<S>>::from_columns(
        #[inline(always)]
        |c| f64x8::simd_from(simd, eight(source.inputs[c], first, 0.0)),
    );
    let prepared = L::prepare::<f64x8<S>>(simd, parameters, particle).to_columns();
    for (lanes, prepared) in columns.iter_mut().zip(prepared.as_ref()) {
        round(*prepared, lanes);
    }
}

/// What pairs need of the particles of some super-clusters, from the row `first` on, where the law prepares it.
pub(super) struct Prepare<'s, L, T> {
    pub law: &'s L,
    pub source: &'s Source<'s>,
    pub first: usize,
    pub values: &'s mut [T],
}

impl<L: PairLaw, T: Scalar> Task for Prepare<'_, L, T> {
    type Output = ();
    // in double precision: what is read is so, and is rounded once
    type Scalar = f64;

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let parameters = self.law.parameters::<f64x8<S>>(simd);
        let rows = (self.first..).step_by(CLUSTER);
        for (block, first) in self.values.chunks_exact_mut(self.source.width).zip(rows) {
            let columns = block[GEOMETRY * CLUSTER..].as_chunks_mut().0;
            write_inputs::<L, T, S>(simd, parameters, self.source, first, columns);
        }
    }
}

/// Eight values of a column from a row on; `missing` beyond its end.
#[inline(always)]
fn eight(column: &[f64], first: usize, missing: f64) -> [f64; CLUSTER] {
    let mut values = [missing; CLUSTER];
    match column.get(first..first + CLUSTER) {
        Some(column) => values.copy_from_slice(column),
        None => values.iter_mut().zip(column.iter().skip(first)).for_each(|(value, own)| *value = *own),
    }
    values
}

/// The least of eight numbers.
#[inline(always)]
fn least(mut values: [f64; CLUSTER]) -> f64 {
    for half in [4, 2, 1] {
        for k in 0..half {
            let (a, b) = (values[k], values[k + half]);
            values[k] = if a < b { a } else { b };
        }
    }
    values[0]
}
