//! A pass's input, packed for lanes: per cluster, per column, eight values side by side; or a record for each particle.

use super::aligned::Aligned;
use super::lane::{Instructions, Lanes, Scalar, Task, dispatch};
use super::law::{Columns, Cutoff, PairLaw, Reduction};
use super::record::{OFFSETS, QUAD, quads};
use crate::neighbors::cluster::power_of_two_below;
use crate::neighbors::{CLUSTER, CLUSTERS, Radii, SUPER_CLUSTER};
use crate::space::{Boundary, SimulationBox, Vec3d, rounded};
use fearless_simd::prelude::*;
use fearless_simd::{Simd, f64x8};
use rayon::prelude::*;
use std::ops::Range;

/// Columns before the law's inputs: offsets x, y, z from the super-cluster's centre, and the squared radius.
pub const GEOMETRY: usize = 4;

/// Super-clusters packed in one piece.
const PIECE: usize = 16;

/// Above the relative error of a number in single precision.
const ROUNDING: f64 = 1e-6;

/// The box of a cluster's particles, in units of [`Packed::unit`] from the centre of its super-cluster, and the largest
/// of their radii in that unit. To single precision: whoever tests it leaves a margin.
#[derive(Clone, Copy, Debug)]
#[repr(align(32))]
pub struct Bounds {
    /// Lower corner, the largest radius, upper corner, and a number without meaning.
    pub values: [f32; 8],
}

impl Bounds {
    /// Of no particle: out of reach of everything.
    pub const NOTHING: Bounds = Bounds::of([f32::INFINITY; 3], 0.0, [f32::NEG_INFINITY; 3]);
    /// Of particles that may be anywhere.
    pub const ANYTHING: Bounds = Bounds::of([f32::NEG_INFINITY; 3], 0.0, [f32::INFINITY; 3]);
    /// Where the lower corner begins.
    pub const LOWER: usize = 0;
    /// Where the largest radius is.
    pub const REACH: usize = 3;
    /// Where the upper corner begins.
    pub const UPPER: usize = 4;

    const fn of(lower: [f32; 3], reach: f32, upper: [f32; 3]) -> Self {
        Bounds { values: [lower[0], lower[1], lower[2], reach, upper[0], upper[1], upper[2], 0.0] }
    }
}

/// How the values of a cluster are laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// Columns of eight values: [`GEOMETRY`], then the law's inputs.
    Columns,
    /// Records of so many quads: a particle's offsets, then its inputs.
    Records(usize),
}

impl Layout {
    /// The records of a law.
    pub const fn records<L: PairLaw>() -> Self {
        Layout::Records(quads::<L>())
    }

    /// Values of a cluster that has so many in columns.
    fn width(self, columns: usize) -> usize {
        match self {
            Layout::Columns => columns,
            Layout::Records(quads) => quads * QUAD * CLUSTER,
        }
    }
}

/// The centre of a super-cluster, and half the edges of the box of its particles about it.
#[derive(Clone, Copy, Debug)]
struct Place {
    centre: Vec3d,
    half: [f64; 3],
}

/// Per cluster what its [`Layout`] says. Offsets are taken in double precision before they are rounded to
/// the lanes'; rows beyond the end and ghosts have offsets that are no numbers or infinite, so that no distance to
/// them is in range.
pub struct Packed<T> {
    /// Values of a cluster.
    width: usize,
    /// Values of a cluster in columns.
    columns: usize,
    layout: Layout,
    values: Aligned<T>,
    bounds: Vec<Bounds>,
    places: Vec<Place>,
    /// The unit of the bounds: a power of two near the largest radius, so that squares neither overflow nor vanish.
    pub unit: f64,
    /// Periods, 0 where open.
    pub periods: [f64; 3],
    /// Their inverses, 0 where open.
    pub frequency: [f64; 3],
    /// The largest radius.
    pub largest: f64,
    /// When a pair of the law acts.
    pub cutoff: Cutoff,
}

/// The frame of a super-cluster whose list is walked.
pub struct Frame {
    centre: Vec3d,
    /// Half its edges and the reach.
    extent: [f64; 3],
}

/// The shift from a cluster's own frame into another.
#[derive(Clone, Copy, Debug, Default)]
pub struct Shift {
    /// To be added to the cluster's offsets.
    pub by: [f64; 3],
    /// Whether pairs may have their nearest images elsewhere: they must be looked for.
    pub ambiguous: bool,
}

impl Frame {
    /// Half the edges of the super-cluster's box and the reach of its pairs.
    pub fn extent(&self) -> [f64; 3] {
        self.extent
    }
}

/// What is packed: positions, radii, and what a law reads, in the order of its inputs; all rows each.
pub struct Input<'a, L> {
    /// The law.
    pub law: &'a L,
    /// Position columns.
    pub position: [&'a [f64]; 3],
    /// Interaction radii.
    pub radius: Radii<'a>,
    /// The law's inputs.
    pub columns: &'a [&'a [f64]],
    /// The lanes that pack.
    pub instructions: Instructions,
}

impl<T: Scalar> Packed<T> {
    /// Room for so many rows of a law with these radii, none of which is packed yet.
    pub fn new<L: PairLaw>(layout: Layout, radius: Radii, rows: usize, bx: &SimulationBox) -> Self {
        Self::of(L::Prepared::<f64>::COUNT, layout, L::CUTOFF, (radius, rows), bx)
    }

    /// Room for positions alone, of pairs within the largest of these radii.
    pub fn of_positions(radius: &[f64], bx: &SimulationBox) -> Self {
        Self::of(0, Layout::Columns, Cutoff::Common, (Radii::Each(radius), radius.len()), bx)
    }

    fn of(
        inputs: usize,
        layout: Layout,
        cutoff: Cutoff,
        (radius, rows): (Radii, usize),
        bx: &SimulationBox,
    ) -> Self {
        let columns = (GEOMETRY + inputs) * CLUSTER;
        let width = layout.width(columns);
        let super_clusters = rows.div_ceil(SUPER_CLUSTER);
        let largest = match radius {
            Radii::All(radius) => radius,
            Radii::Each(radius) => radius.par_iter().with_min_len(4096).copied().reduce(|| 0.0, f64::max),
        };
        let lengths = bx.lengths();
        let periods = [0, 1, 2].map(|d| if bx.boundary[d] == Boundary::Periodic { lengths[d] } else { 0.0 });
        Self {
            width,
            columns,
            layout,
            values: Aligned::new(super_clusters * CLUSTERS * width),
            bounds: vec![Bounds::NOTHING; super_clusters * CLUSTERS],
            places: vec![Place { centre: Vec3d::zeros(), half: [0.0; 3] }; super_clusters],
            unit: power_of_two_below(largest),
            periods,
            frequency: periods.map(|period| if period > 0.0 { 1.0 / period } else { 0.0 }),
            largest,
            cutoff,
        }
    }

    /// Pack some super-clusters.
    pub fn pack<L: PairLaw>(&mut self, input: &Input<L>, super_clusters: Range<usize>) {
        let Input { law, position, radius, columns: inputs, instructions } = *input;
        let source = Source {
            position,
            radius,
            inputs,
            prepared: L::PREPARES,
            width: self.columns,
            scale: 1.0 / self.unit,
        };
        self.pack_pieces(&source, instructions, super_clusters, |first, values| {
            if L::PREPARES {
                dispatch(instructions, Prepare { law, source: &source, first, values });
            }
        });
    }

    /// Pack the positions of all super-clusters.
    pub fn pack_positions(&mut self, position: [&[f64]; 3], radius: &[f64], instructions: Instructions) {
        let (width, scale) = (self.columns, 1.0 / self.unit);
        let radius = Radii::Each(radius);
        let source = Source { position, radius, inputs: &[], prepared: false, width, scale };
        self.pack_pieces(&source, instructions, 0..self.super_clusters(), |_, _| ());
    }

    /// Pack what is read as it is, then what is `prepared` from the row of a piece on.
    fn pack_pieces(
        &mut self,
        source: &Source,
        instructions: Instructions,
        super_clusters: Range<usize>,
        prepare: impl Fn(usize, &mut [T]) + Sync,
    ) {
        let stride = CLUSTERS * self.width;
        let (begin, end) = (super_clusters.start, super_clusters.end);
        self.values[begin * stride..end * stride]
            .par_chunks_mut(PIECE * stride)
            .zip(self.bounds[begin * CLUSTERS..end * CLUSTERS].par_chunks_mut(PIECE * CLUSTERS))
            .zip(self.places[begin..end].par_chunks_mut(PIECE))
            .enumerate()
            .for_each(|(piece, ((values, bounds), places))| {
                let first = (begin + piece * PIECE) * SUPER_CLUSTER;
                let mut own = Aligned::new(0);
                let columns = match self.layout {
                    Layout::Columns => &mut *values,
                    Layout::Records(_) => {
                        own.resize(places.len() * CLUSTERS * self.columns);
                        &mut own[..]
                    }
                };
                dispatch(instructions, Piece { source, first, values: columns, bounds, places });
                prepare(first, columns);
                if let Layout::Records(quads) = self.layout {
                    let width = self.columns;
                    dispatch(instructions, Write { columns: &own, width, records: values, quads });
                }
            });
    }

    /// Number of super-clusters.
    pub fn super_clusters(&self) -> usize {
        self.places.len()
    }

    /// A cluster's values.
    #[inline(always)]
    pub fn block(&self, cluster: usize) -> &[T] {
        &self.values[cluster * self.width..][..self.width]
    }

    /// One value of a row, of a layout in columns.
    #[inline(always)]
    pub fn value(&self, row: usize, column: usize) -> T {
        self.values[row / CLUSTER * self.width + column * CLUSTER + row % CLUSTER]
    }

    /// The bounds of a cluster.
    #[inline(always)]
    pub fn bounds(&self, cluster: usize) -> &Bounds {
        &self.bounds[cluster]
    }

    /// The longest reach of a cluster's particles, in the unit of the bounds.
    #[inline(always)]
    pub fn cluster_reach(&self, cluster: usize) -> f32 {
        match self.cutoff {
            Cutoff::Common => (self.largest / self.unit) as f32,
            Cutoff::Own | Cutoff::Either => self.bounds[cluster].values[Bounds::REACH],
        }
    }

    /// The longest reach that pairs of a super-cluster's particles may have; on half lists (`symmetric`) it may be that
    /// of j, whichever side the law's cutoff is on.
    fn reach(&self, super_cluster: usize, symmetric: bool) -> f64 {
        match self.cutoff {
            Cutoff::Own if !symmetric => {
                let clusters = &self.bounds[super_cluster * CLUSTERS..][..CLUSTERS];
                let largest = clusters.iter().map(|bounds| bounds.values[Bounds::REACH]).fold(0.0, f32::max);
                f64::from(largest) * (1.0 + ROUNDING) * self.unit
            }
            Cutoff::Own | Cutoff::Either | Cutoff::Common => self.largest,
        }
    }

    /// The frame of some super-clusters together, for a list that may be symmetric: that of one is its own.
    pub fn frame(&self, members: Range<usize>, symmetric: bool) -> Frame {
        let reach = members.clone().map(|member| self.reach(member, symmetric)).fold(0.0, f64::max);
        let Place { mut centre, mut half } = self.places[members.start];
        if members.len() > 1 {
            for d in 0..3 {
                let (mut lower, mut upper) = (f64::INFINITY, f64::NEG_INFINITY);
                for place in &self.places[members.clone()] {
                    // its image next to the first one
                    let periods =
                        rounded((place.centre[d] - self.places[members.start].centre[d]) * self.frequency[d]);
                    let middle = place.centre[d] - self.periods[d] * periods;
                    (lower, upper) = (lower.min(middle - place.half[d]), upper.max(middle + place.half[d]));
                }
                (centre[d], half[d]) = (0.5 * (lower + upper), 0.5 * (upper - lower));
            }
        }
        Frame { centre, extent: half.map(|half| half + reach) }
    }

    /// Whether super-clusters are so near each other that one frame does for all: offsets in it lose little, and nearest images
    /// are where super-clusters are.
    pub fn joinable(&self, members: Range<usize>, symmetric: bool) -> bool {
        let joined = self.frame(members.clone(), symmetric);
        let own = |member: usize, d: usize| self.frame(member..member + 1, symmetric).extent[d];
        (0..3).all(|d| {
            let largest = members.clone().map(|member| own(member, d)).fold(0.0, f64::max);
            let period = self.periods[d];
            joined.extent[d] <= 2.0 * largest && (period == 0.0 || joined.extent[d] + largest < 0.5 * period)
        })
    }

    /// How the offsets of all clusters of a super-cluster become offsets from a frame's centre, at the image that is nearest
    /// to it; `None` where each cluster has a shift of its own.
    ///
    /// A pair in reach is at that image if the distances add up so: half the frame's super-cluster and the reach, in the
    /// frame's extent, and half the other super-cluster are less than half a period.
    #[inline(always)]
    pub fn common_shift(&self, frame: &Frame, super_cluster: usize) -> Option<Shift> {
        let shift = self.any_shift(frame, super_cluster);
        (!shift.ambiguous).then_some(shift)
    }

    /// How far from a frame's centre, and from their own, the particles of a super-cluster may be with their shift.
    #[inline(always)]
    pub fn farthest(&self, super_cluster: usize, shift: &Shift) -> f64 {
        let half = &self.places[super_cluster].half;
        (0..3).map(|d| half[d] + 2.0 * shift.by[d].abs()).fold(0.0, f64::max)
    }

    /// The shift of a super-cluster's offsets, which is `ambiguous` where its clusters have shifts of their own.
    #[inline(always)]
    pub fn any_shift(&self, frame: &Frame, super_cluster: usize) -> Shift {
        let Place { centre, half } = &self.places[super_cluster];
        self.shift_of(frame, super_cluster, &[centre.x, centre.y, centre.z], half)
    }

    /// The shift of one cluster.
    #[cold]
    pub fn own_shift(&self, frame: &Frame, cluster: usize) -> Shift {
        let (bounds, other) = (&self.bounds[cluster], cluster / CLUSTERS);
        let own = &self.places[other].centre;
        let (mut middle, mut half) = ([0.0; 3], [0.0; 3]);
        for d in 0..3 {
            let lower = self.unit * f64::from(bounds.values[Bounds::LOWER + d]);
            let upper = self.unit * f64::from(bounds.values[Bounds::UPPER + d]);
            middle[d] = own[d] + 0.5 * (lower + upper);
            half[d] = 0.5 * (upper - lower) + ROUNDING * lower.abs().max(upper.abs());
        }
        self.shift_of(frame, other, &middle, &half)
    }

    #[inline(always)]
    fn shift_of(&self, frame: &Frame, other: usize, middle: &[f64; 3], half: &[f64; 3]) -> Shift {
        let own = &self.places[other].centre;
        let mut shift = Shift { by: [0.0; 3], ambiguous: false };
        for d in 0..3 {
            shift.by[d] = own[d] - frame.centre[d];
            let period = self.periods[d];
            if period > 0.0 {
                let periods = (middle[d] - frame.centre[d]) * self.frequency[d];
                shift.by[d] -= period * rounded(periods);
                shift.ambiguous |= frame.extent[d] + half[d] >= 0.5 * period;
            }
        }
        shift
    }
}

/// The columns to pack.
struct Source<'a> {
    position: [&'a [f64]; 3],
    radius: Radii<'a>,
    inputs: &'a [&'a [f64]],
    /// Whether the law prepares what its pairs need.
    prepared: bool,
    width: usize,
    /// One over the unit of the bounds.
    scale: f64,
}

/// Some super-clusters to pack, from the row `first` on.
struct Piece<'s, T> {
    source: &'s Source<'s>,
    first: usize,
    values: &'s mut [T],
    bounds: &'s mut [Bounds],
    places: &'s mut [Place],
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

/// Columns of clusters, each of `width` values, that become records of so many quads.
struct Write<'s, T> {
    columns: &'s [T],
    width: usize,
    records: &'s mut [T],
    quads: usize,
}

impl<T: Scalar> Task for Write<'_, T> {
    type Output = ();
    type Scalar = T;

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let clusters = self.columns.chunks_exact(self.width);
        for (columns, records) in clusters.zip(self.records.chunks_exact_mut(self.quads * QUAD * CLUSTER)) {
            for quad in 0..self.quads {
                // where there is no column any, which nobody reads
                let mut four: [&[T]; QUAD] = [&columns[..CLUSTER]; QUAD];
                for (k, four) in four.iter_mut().enumerate() {
                    // the squared radius, which stands between, is that of the pass
                    let column = match quad * QUAD + k {
                        c if c < OFFSETS => c,
                        c => c - OFFSETS + GEOMETRY,
                    };
                    if let Some(column) = columns.get(column * CLUSTER..(column + 1) * CLUSTER) {
                        *four = column;
                    }
                }
                T::Lanes::<S>::write_quads(simd, four, records, self.quads, quad);
            }
        }
    }
}

/// What pairs need of the particles of some super-clusters, from the row `first` on, where the law prepares it.
struct Prepare<'s, L, T> {
    law: &'s L,
    source: &'s Source<'s>,
    first: usize,
    values: &'s mut [T],
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
            let particle = L::Particle::<f64x8<S>>::from_columns(
                #[inline(always)]
                |c| f64x8::simd_from(simd, eight(self.source.inputs[c], first, 0.0)),
            );
            let prepared = L::prepare::<f64x8<S>>(simd, parameters, particle).to_columns();
            let columns = block[GEOMETRY * CLUSTER..].as_chunks_mut().0;
            for (column, prepared) in columns.iter_mut().zip(prepared.as_ref()) {
                round(*prepared, column);
            }
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
