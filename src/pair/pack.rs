//! A pass's input, packed for lanes: per cluster, per column, eight values side by side.

use super::lane::Scalar;
use super::law::{Cutoff, PairLaw};
use super::naive::columns_of;
use crate::neighbors::{CLUSTER, SUPER_CLUSTER};
use crate::particles::{Field, Particles};
use crate::space::{Boundary, SimulationBox, Vec3d};
use rayon::prelude::*;

const CLUSTERS: usize = SUPER_CLUSTER / CLUSTER;

/// Columns before the law's inputs: offsets x, y, z from the super-cluster's centre, and the squared radius.
pub const GEOMETRY: usize = 4;

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
    /// The law's input columns, in double precision.
    pub inputs: Vec<&'a [f64]>,
    /// Periods, 0 where open.
    pub periods: [f64; 3],
    /// Their inverses, 0 where open.
    pub frequency: [f64; 3],
    radius: &'a [f64],
    /// The largest radius.
    pub largest: f64,
    cutoff: Cutoff,
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
    pub fn new<L: PairLaw>(particles: &'a Particles, bx: &SimulationBox, radius: &'a [f64]) -> Self {
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
        values[start..]
            .par_chunks_exact_mut(stride)
            .zip(places.par_chunks_exact_mut(CLUSTERS))
            .zip(centres.par_iter_mut())
            .with_min_len(8)
            .enumerate()
            .for_each(|(super_cluster, ((values, places), centre))| {
                let first = super_cluster * SUPER_CLUSTER;
                *centre = locate(position, first, places);
                for (cluster, block) in values.chunks_exact_mut(width).enumerate() {
                    let first = first + cluster * CLUSTER;
                    let (geometry, own) = block.split_at_mut(GEOMETRY * CLUSTER);
                    let (offsets, reach) = geometry.split_at_mut(3 * CLUSTER);
                    for (d, block) in offsets.chunks_exact_mut(CLUSTER).enumerate() {
                        fill(block, position[d], first, f64::NAN, |x| x - centre[d]);
                    }
                    fill(reach, radius, first, 0.0, |radius| radius * radius);
                    for (column, block) in inputs.iter().zip(own.chunks_exact_mut(CLUSTER)) {
                        fill(block, column, first, 0.0, |value| value);
                    }
                }
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
            inputs,
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
    pub fn reach(&self, super_cluster: usize, symmetric: bool) -> f64 {
        let rows =
            super_cluster * SUPER_CLUSTER..((super_cluster + 1) * SUPER_CLUSTER).min(self.radius.len());
        match self.cutoff {
            Cutoff::Own if !symmetric => self.radius[rows].iter().copied().fold(0.0, f64::max),
            Cutoff::Own | Cutoff::Either | Cutoff::Common => self.largest,
        }
    }

    /// Half the edges of a super-cluster's box about its centre.
    pub fn half(&self, super_cluster: usize) -> [f64; 3] {
        let centre = self.centres[super_cluster];
        let mut half = [0.0f64; 3];
        for place in &self.places[super_cluster * CLUSTERS..][..CLUSTERS] {
            for d in 0..3 {
                half[d] = half[d].max((place.middle[d] - centre[d]).abs() + place.half[d]);
            }
        }
        half
    }

    /// How a cluster's offsets become offsets from a super-cluster's centre, at the image that is nearest to it.
    ///
    /// A pair in reach is at that image if the distances add up so: half the super-cluster and the reach, in `extent`, and
    /// half the cluster are less than half a period.
    #[inline(always)]
    pub fn shift(&self, super_cluster: usize, extent: &[f64; 3], cluster: usize) -> Shift {
        let (centre, own) = (&self.centres[super_cluster], &self.centres[cluster / CLUSTERS]);
        let place = &self.places[cluster];
        let mut shift = Shift { by: [0.0; 3], ambiguous: false };
        for d in 0..3 {
            shift.by[d] = own[d] - centre[d];
            let period = self.periods[d];
            if period > 0.0 {
                shift.by[d] -= period * ((place.middle[d] - centre[d]) * self.frequency[d]).round_ties_even();
                shift.ambiguous |= extent[d] + place.half[d] >= 0.5 * period;
            }
        }
        shift
    }
}

/// Eight values of a column from a row on, each through `of`; `missing` beyond its end.
#[inline(always)]
fn fill<T: Scalar>(block: &mut [T], column: &[f64], first: usize, missing: f64, of: impl Fn(f64) -> f64) {
    match column.get(first..first + CLUSTER) {
        Some(values) => {
            block.iter_mut().zip(values).for_each(|(lane, &value)| *lane = T::from_f64(of(value)))
        }
        None => block.iter_mut().enumerate().for_each(|(lane, value)| {
            *value = T::from_f64(column.get(first + lane).map_or(missing, |&value| of(value)));
        }),
    }
}

/// Where a super-cluster's clusters are; returns the centre of them all. Positions that are not finite count for nothing.
fn locate(position: [&[f64]; 3], first: usize, places: &mut [Place]) -> Vec3d {
    let mut centre = Vec3d::zeros();
    for (d, column) in position.iter().enumerate() {
        let (mut lowest, mut highest) = (f64::INFINITY, f64::NEG_INFINITY);
        for (k, place) in places.iter_mut().enumerate() {
            let begin = (first + k * CLUSTER).min(column.len());
            let (mut lower, mut upper) = (f64::INFINITY, f64::NEG_INFINITY);
            for &x in &column[begin..(begin + CLUSTER).min(column.len())] {
                let finite = x.is_finite();
                lower = lower.min(if finite { x } else { f64::INFINITY });
                upper = upper.max(if finite { x } else { f64::NEG_INFINITY });
            }
            if lower <= upper {
                place.middle[d] = 0.5 * (lower + upper);
                place.half[d] = 0.5 * (upper - lower);
            }
            lowest = lowest.min(lower);
            highest = highest.max(upper);
        }
        if lowest <= highest {
            centre[d] = 0.5 * (lowest + highest);
        }
    }
    centre
}
