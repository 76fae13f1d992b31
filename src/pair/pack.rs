//! A pass's input, packed for lanes: per cluster, per column, eight values side by side.

use super::lane::Scalar;
use super::law::{Cutoff, PairLaw};
use super::naive::columns_of;
use crate::neighbors::{CLUSTER, SUPER_CLUSTER};
use crate::particles::{Field, Particles};
use crate::space::{Boundary, SimulationBox, Vec3d};
use rayon::prelude::*;

/// Column 0 is the squared radius, then come the law's inputs. Positions stay in double precision beside it: the
/// sweep takes their offsets from a super-cluster's frame when it decodes the super-cluster's list.
pub struct Packed<'a, T> {
    width: usize,
    values: Vec<T>,
    /// Position columns.
    pub position: [&'a [f64]; 3],
    /// The law's input columns, in double precision.
    pub inputs: Vec<&'a [f64]>,
    /// Periods, 0 where open.
    pub periods: [f64; 3],
    radius: &'a [f64],
    largest: f64,
    cutoff: Cutoff,
}

impl<'a, T: Scalar> Packed<'a, T> {
    /// Pack all rows; the last cluster is filled up with zeros (which, as their radius, keep them out of pairs).
    pub fn new<L: PairLaw>(particles: &'a Particles, bx: &SimulationBox, radius: &'a [f64]) -> Self {
        let inputs = columns_of(particles, L::INPUTS);
        let width = (inputs.len() + 1) * CLUSTER;
        let rows = particles.len();
        let mut values = vec![T::default(); rows.div_ceil(CLUSTER) * width];
        values.par_chunks_mut(width).with_min_len(64).enumerate().for_each(|(cluster, block)| {
            let rows = cluster * CLUSTER..((cluster + 1) * CLUSTER).min(rows);
            for (value, row) in block.iter_mut().zip(rows.clone()) {
                *value = T::from_f64(radius[row] * radius[row]);
            }
            for (column, block) in inputs.iter().zip(block.chunks_exact_mut(CLUSTER).skip(1)) {
                for (value, row) in block.iter_mut().zip(rows.clone()) {
                    *value = T::from_f64(column[row]);
                }
            }
        });
        let lengths = bx.lengths();
        let periods = [0, 1, 2].map(|d| if bx.boundary[d] == Boundary::Periodic { lengths[d] } else { 0.0 });
        let largest = radius.par_iter().copied().reduce(|| 0.0, f64::max);
        let position = particles.vector(Field::Position);
        Self { width, values, position, inputs, periods, radius, largest, cutoff: L::CUTOFF }
    }

    /// A cluster's columns, eight values each; column 0 is the squared radius.
    #[inline(always)]
    pub fn block(&self, cluster: usize) -> &[T] {
        &self.values[cluster * self.width..][..self.width]
    }

    /// One value of a row.
    #[inline(always)]
    pub fn value(&self, row: usize, column: usize) -> T {
        self.values[row / CLUSTER * self.width + column * CLUSTER + row % CLUSTER]
    }

    /// The frame of a super-cluster: its centre, and whether a pair's image cannot be told from the distance of j to
    /// the centre, because half its extent plus the cutoff reaches half a period. On half lists (`symmetric`) the
    /// cutoff may be that of j, whichever side the law's cutoff is on.
    pub fn frame(&self, super_cluster: usize, symmetric: bool) -> (Vec3d, bool) {
        let rows = self.radius.len();
        let range = super_cluster * SUPER_CLUSTER..((super_cluster + 1) * SUPER_CLUSTER).min(rows);
        let mut centre = Vec3d::zeros();
        let mut ambiguous = false;
        let reach = match self.cutoff {
            Cutoff::Own if !symmetric => self.radius[range.clone()].iter().copied().fold(0.0, f64::max),
            Cutoff::Own | Cutoff::Either => self.largest,
        };
        for d in 0..3 {
            let finite = self.position[d][range.clone()].iter().copied().filter(|x| x.is_finite());
            let (low, high) =
                finite.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (low.min(x), high.max(x)));
            if low <= high {
                centre[d] = 0.5 * (low + high);
                ambiguous |= self.periods[d] > 0.0 && 0.5 * (high - low) + reach >= 0.5 * self.periods[d];
            }
        }
        (centre, ambiguous)
    }

    /// The offsets of a cluster's particles from a frame, each at the image nearest to it, appended as eight x, eight
    /// y, eight z. Rows beyond the end and ghosts become NaN or infinite, so that no distance to them is in range.
    #[inline(always)]
    pub fn offsets(&self, cluster: usize, centre: &Vec3d, nearest: bool, offsets: &mut Vec<T>) {
        let first = cluster * CLUSTER;
        for d in 0..3 {
            let column = &self.position[d][first.min(self.position[d].len())..];
            let mut block = [f64::NAN; CLUSTER];
            for (value, x) in block.iter_mut().zip(column) {
                *value = x - centre[d];
            }
            let period = self.periods[d];
            if nearest && period > 0.0 {
                for value in &mut block {
                    *value -= period * (*value / period).round_ties_even();
                }
            }
            offsets.extend(block.map(T::from_f64));
        }
    }
}
