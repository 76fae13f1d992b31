//! A pass's input, packed for lanes: per cluster, per column, eight values side by side.

use super::lane::{Instructions, Scalar, Task, dispatch};
use super::law::{Cutoff, PairLaw};
use super::naive::columns_of;
use crate::neighbors::{CLUSTER, SUPER_CLUSTER};
use crate::particles::{Field, Particles};
use crate::space::{Boundary, SimulationBox, Vec3d};
use fearless_simd::Simd;
use rayon::prelude::*;

const CLUSTERS: usize = SUPER_CLUSTER / CLUSTER;

/// Columns before the law's inputs: offsets x, y, z from the super-cluster's centre, and the squared radius.
pub const GEOMETRY: usize = 4;

/// Super-clusters packed in one piece.
const PIECE: usize = 16;

/// Bytes that lanes are aligned to.
const ALIGNMENT: usize = 64;

/// Where a cluster is: the middle and half the edges of the box of its particles.
#[derive(Clone, Copy, Debug)]
struct Place {
    middle: [f64; 3],
    half: [f64; 3],
}

impl Place {
    const NOWHERE: Place = Place { middle: [0.0; 3], half: [f64::NEG_INFINITY; 3] };
}

/// Per cluster [`GEOMETRY`], then the law's inputs. Offsets are taken in double precision before they are rounded to
/// the lanes'; rows beyond the end and ghosts have offsets that are no numbers or infinite, so that no distance to
/// them is in range.
pub struct Packed<'a, T> {
    width: usize,
    /// Where the first cluster begins, so that it is aligned.
    start: usize,
    values: Vec<T>,
    places: Vec<Place>,
    centres: Vec<Vec3d>,
    /// Position columns.
    pub position: [&'a [f64]; 3],
    /// Periods, 0 where open.
    pub periods: [f64; 3],
    /// Their inverses, 0 where open.
    pub frequency: [f64; 3],
    radius: &'a [f64],
    /// The largest radius.
    pub largest: f64,
    cutoff: Cutoff,
}

/// The frame of a super-cluster whose list is walked.
pub struct Frame {
    centre: Vec3d,
    /// Half its edges and the reach.
    extent: [f64; 3],
    /// The super-cluster of the last j, and the shift that all its clusters have, if they do.
    last: usize,
    shift: Option<Shift>,
}

/// The shift from a cluster's own frame into another.
#[derive(Clone, Copy, Debug)]
pub struct Shift {
    /// To be added to the cluster's offsets.
    pub by: [f64; 3],
    /// Whether pairs may have their nearest images elsewhere: they must be looked for.
    pub ambiguous: bool,
}

impl<'a, T: Scalar> Packed<'a, T> {
    /// Pack all rows.
    pub fn new<L: PairLaw>(
        particles: &'a Particles,
        bx: &SimulationBox,
        radius: &'a [f64],
        instructions: Instructions,
    ) -> Self {
        let inputs = columns_of(particles, L::INPUTS);
        let width = (GEOMETRY + inputs.len()) * CLUSTER;
        let rows = particles.len();
        let super_clusters = rows.div_ceil(SUPER_CLUSTER);
        let stride = CLUSTERS * width;
        let mut values = vec![T::default(); super_clusters * stride + ALIGNMENT / size_of::<T>()];
        let start = values.as_ptr().align_offset(ALIGNMENT).min(ALIGNMENT / size_of::<T>());
        let mut places = vec![Place::NOWHERE; super_clusters * CLUSTERS];
        let mut centres = vec![Vec3d::zeros(); super_clusters];
        let position = particles.vector(Field::Position);
        let source = Source { position, radius, inputs: &inputs, width };
        values[start..][..super_clusters * stride]
            .par_chunks_mut(PIECE * stride)
            .zip(places.par_chunks_mut(PIECE * CLUSTERS))
            .zip(centres.par_chunks_mut(PIECE))
            .enumerate()
            .for_each(|(piece, ((values, places), centres))| {
                let first = piece * PIECE * SUPER_CLUSTER;
                dispatch(instructions, Piece { source: &source, first, values, places, centres });
            });
        let lengths = bx.lengths();
        let periods = [0, 1, 2].map(|d| if bx.boundary[d] == Boundary::Periodic { lengths[d] } else { 0.0 });
        let largest = radius.par_iter().with_min_len(4096).copied().reduce(|| 0.0, f64::max);
        Self {
            width,
            start,
            values,
            places,
            centres,
            position,

            periods,
            frequency: periods.map(|period| if period > 0.0 { 1.0 / period } else { 0.0 }),
            radius,
            largest,
            cutoff: L::CUTOFF,
        }
    }

    /// A cluster's columns, eight values each.
    #[inline(always)]
    pub fn block(&self, cluster: usize) -> &[T] {
        &self.values[self.start + cluster * self.width..][..self.width]
    }

    /// One value of a row.
    #[inline(always)]
    pub fn value(&self, row: usize, column: usize) -> T {
        self.values[self.start + row / CLUSTER * self.width + column * CLUSTER + row % CLUSTER]
    }

    /// The longest reach that pairs of a super-cluster's particles may have; on half lists (`symmetric`) it may be that
    /// of j, whichever side the law's cutoff is on.
    fn reach(&self, super_cluster: usize, symmetric: bool) -> f64 {
        let rows =
            super_cluster * SUPER_CLUSTER..((super_cluster + 1) * SUPER_CLUSTER).min(self.radius.len());
        match self.cutoff {
            Cutoff::Own if !symmetric => self.radius[rows].iter().copied().fold(0.0, f64::max),
            Cutoff::Own | Cutoff::Either | Cutoff::Common => self.largest,
        }
    }

    /// Half the edges of a super-cluster's box about its centre.
    fn half(&self, super_cluster: usize) -> [f64; 3] {
        let centre = self.centres[super_cluster];
        let mut half = [0.0f64; 3];
        for place in &self.places[super_cluster * CLUSTERS..][..CLUSTERS] {
            for d in 0..3 {
                half[d] = half[d].max((place.middle[d] - centre[d]).abs() + place.half[d]);
            }
        }
        half
    }

    /// The frame of a super-cluster, for a list that may be symmetric.
    pub fn frame(&self, super_cluster: usize, symmetric: bool) -> Frame {
        let reach = self.reach(super_cluster, symmetric);
        Frame {
            centre: self.centres[super_cluster],
            extent: self.half(super_cluster).map(|half| half + reach),
            last: usize::MAX,
            shift: None,
        }
    }

    /// How a cluster's offsets become offsets from a frame's centre, at the image that is nearest to it.
    ///
    /// A pair in reach is at that image if the distances add up so: half the super-cluster and the reach, in the frame's
    /// extent, and half the cluster are less than half a period. Where they do for the whole super-cluster of j, all
    /// its clusters have one shift.
    #[inline(always)]
    pub fn shift(&self, frame: &mut Frame, cluster: usize) -> Shift {
        let other = cluster / CLUSTERS;
        if frame.last != other {
            frame.last = other;
            let middle = self.centres[other];
            let half = self.half(other);
            frame.shift = Some(self.shift_of(frame, other, &[middle.x, middle.y, middle.z], &half))
                .filter(|shift| !shift.ambiguous);
        }
        match frame.shift {
            Some(shift) => shift,
            None => {
                let place = &self.places[cluster];
                self.shift_of(frame, other, &place.middle, &place.half)
            }
        }
    }

    fn shift_of(&self, frame: &Frame, other: usize, middle: &[f64; 3], half: &[f64; 3]) -> Shift {
        let own = &self.centres[other];
        let mut shift = Shift { by: [0.0; 3], ambiguous: false };
        for d in 0..3 {
            shift.by[d] = own[d] - frame.centre[d];
            let period = self.periods[d];
            if period > 0.0 {
                let periods = (middle[d] - frame.centre[d]) * self.frequency[d];
                shift.by[d] -= period * periods.round_ties_even();
                shift.ambiguous |= frame.extent[d] + half[d] >= 0.5 * period;
            }
        }
        shift
    }
}

/// The columns to pack.
struct Source<'a> {
    position: [&'a [f64]; 3],
    radius: &'a [f64],
    inputs: &'a [&'a [f64]],
    width: usize,
}

/// Some super-clusters to pack, from the row `first` on.
struct Piece<'s, T> {
    source: &'s Source<'s>,
    first: usize,
    values: &'s mut [T],
    places: &'s mut [Place],
    centres: &'s mut [Vec3d],
}

impl<T: Scalar> Task for Piece<'_, T> {
    type Output = ();
    type Scalar = T;

    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        let source = self.source;
        let blocks = self.values.chunks_exact_mut(CLUSTERS * source.width);
        let places = self.places.chunks_exact_mut(CLUSTERS);
        let rows = (self.first..).step_by(SUPER_CLUSTER);
        for (((values, places), centre), first) in blocks.zip(places).zip(self.centres).zip(rows) {
            *centre = locate(source.position, first, places);
            let rows = (first..).step_by(CLUSTER);
            for (block, first) in values.chunks_exact_mut(source.width).zip(rows) {
                let (geometry, own) = block.split_at_mut(GEOMETRY * CLUSTER);
                let (offsets, reach) = geometry.split_at_mut(3 * CLUSTER);
                for (d, block) in offsets.chunks_exact_mut(CLUSTER).enumerate() {
                    let centre = centre[d];
                    eight(source.position[d], first, f64::NAN)
                        .iter()
                        .zip(block)
                        .for_each(|(x, lane)| *lane = T::from_f64(x - centre));
                }
                eight(source.radius, first, 0.0)
                    .iter()
                    .zip(reach)
                    .for_each(|(radius, lane)| *lane = T::from_f64(radius * radius));
                for (column, block) in source.inputs.iter().zip(own.chunks_exact_mut(CLUSTER)) {
                    eight(column, first, 0.0)
                        .iter()
                        .zip(block)
                        .for_each(|(value, lane)| *lane = T::from_f64(*value));
                }
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

/// Where a super-cluster's clusters are; returns the centre of them all. Positions that are not finite count for nothing.
#[inline(always)]
fn locate(position: [&[f64]; 3], first: usize, places: &mut [Place]) -> Vec3d {
    let mut centre = [0.0; 3];
    for d in 0..3 {
        let (mut lowest, mut highest) = ([f64::INFINITY; CLUSTER], [f64::NEG_INFINITY; CLUSTER]);
        for (k, place) in places.iter_mut().enumerate() {
            let values = eight(position[d], first + k * CLUSTER, f64::NAN);
            let lower = values.map(|x| if x.abs() < f64::INFINITY { x } else { f64::INFINITY });
            let upper = values.map(|x| if x.abs() < f64::INFINITY { x } else { f64::NEG_INFINITY });
            for lane in 0..CLUSTER {
                lowest[lane] = if lower[lane] < lowest[lane] { lower[lane] } else { lowest[lane] };
                highest[lane] = if upper[lane] > highest[lane] { upper[lane] } else { highest[lane] };
            }
            let (lower, upper) = (least(lower), -least(upper.map(|x| -x)));
            if lower <= upper {
                place.middle[d] = 0.5 * (lower + upper);
                place.half[d] = 0.5 * (upper - lower);
            }
        }
        let (lowest, highest) = (least(lowest), -least(highest.map(|x| -x)));
        if lowest <= highest {
            centre[d] = 0.5 * (lowest + highest);
        }
    }
    centre.into()
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
