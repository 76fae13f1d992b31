//! Frames of super-clusters: bounding boxes, centers, and shifts between frames.

use super::{Layout, PackedInput};
use crate::neighbors::CLUSTERS;
use crate::pair::law::Cutoff;
use crate::pair::record::QUAD;
use crate::simd::Scalar;
use crate::space::{Vec3d, rounded};
use std::ops::Range;

/// Bound of the relative rounding error in single precision.
const ROUNDING: f64 = 1e-6;

/// Bounding box of a cluster in units of [`PackedInput::unit`], relative to the center of its super-cluster,
/// and its largest radius. In single precision: tests need a margin.
#[derive(Clone, Copy, Debug)]
#[repr(align(32))]
pub struct Bounds {
    /// Lower corner, largest radius, upper corner, and an unused value.
    pub values: [f32; 8],
}

impl Bounds {
    /// Bounds of no particle: out of range of everything.
    pub const EMPTY: Bounds = Bounds::of([f32::INFINITY; 3], 0.0, [f32::NEG_INFINITY; 3]);
    /// Bounds of particles at any position.
    pub const UNBOUNDED: Bounds = Bounds::of([f32::NEG_INFINITY; 3], 0.0, [f32::INFINITY; 3]);
    /// Index of the lower corner.
    pub const LOWER: usize = 0;
    /// Index of the largest radius.
    pub const REACH: usize = 3;
    /// Index of the upper corner.
    pub const UPPER: usize = 4;

    const fn of(lower: [f32; 3], reach: f32, upper: [f32; 3]) -> Self {
        Bounds { values: [lower[0], lower[1], lower[2], reach, upper[0], upper[1], upper[2], 0.0] }
    }
}

/// Center and half edges of a super-cluster's bounding box.
#[derive(Clone, Copy, Debug)]
pub(super) struct SuperClusterBox {
    pub center: Vec3d,
    pub half: [f64; 3],
}

impl SuperClusterBox {
    /// Box of no particles.
    pub fn empty() -> Self {
        SuperClusterBox { center: Vec3d::zeros(), half: [0.0; 3] }
    }
}

/// Frame of one or several super-clusters whose lists are swept.
pub struct Frame {
    center: Vec3d,
    /// Half edges plus interaction range.
    extent: [f64; 3],
}

/// Shift of a cluster's offsets into another frame.
#[derive(Clone, Copy, Debug, Default)]
pub struct Shift {
    /// Vector to add to the offsets.
    pub by: [f64; 3],
    /// Whether pairs may have other nearest images, so that minimum images must be computed per pair.
    pub ambiguous: bool,
}

impl Frame {
    /// Half edges of the super-clusters' box plus interaction range.
    pub fn extent(&self) -> [f64; 3] {
        self.extent
    }
}

impl<T: Scalar> PackedInput<T> {
    /// Largest interaction range of a cluster's particles, in the unit of the bounds.
    #[inline(always)]
    pub fn cluster_reach(&self, cluster: usize) -> f32 {
        match self.cutoff {
            Cutoff::Common => (self.largest / self.unit) as f32,
            Cutoff::Own | Cutoff::Either => self.storage.bounds[cluster].values[Bounds::REACH],
        }
    }

    /// Largest interaction range of the pairs of a super-cluster. On half lists (`symmetric`) it may be that
    /// of j, whatever the law's cutoff rule.
    fn reach(&self, super_cluster: usize, symmetric: bool) -> f64 {
        match self.cutoff {
            Cutoff::Own if !symmetric => {
                let clusters = &self.storage.bounds[super_cluster * CLUSTERS..][..CLUSTERS];
                let largest = clusters.iter().map(|bounds| bounds.values[Bounds::REACH]).fold(0.0, f32::max);
                f64::from(largest) * (1.0 + ROUNDING) * self.unit
            }
            Cutoff::Own | Cutoff::Either | Cutoff::Common => self.largest,
        }
    }

    /// Joint frame of some super-clusters, for a symmetric list or not.
    pub fn frame(&self, members: Range<usize>, symmetric: bool) -> Frame {
        let reach = members.clone().map(|member| self.reach(member, symmetric)).fold(0.0, f64::max);
        let SuperClusterBox { mut center, mut half } = self.storage.boxes[members.start];
        if members.len() > 1 {
            for d in 0..3 {
                let (mut lower, mut upper) = (f64::INFINITY, f64::NEG_INFINITY);
                for own_box in &self.storage.boxes[members.clone()] {
                    // Image nearest to the first super-cluster.
                    let periods = rounded(
                        (own_box.center[d] - self.storage.boxes[members.start].center[d]) * self.frequency[d],
                    );
                    let image = own_box.center[d] - self.periods[d] * periods;
                    (lower, upper) = (lower.min(image - own_box.half[d]), upper.max(image + own_box.half[d]));
                }
                (center[d], half[d]) = (0.5 * (lower + upper), 0.5 * (upper - lower));
            }
        }
        Frame { center, extent: half.map(|half| half + reach) }
    }

    /// Whether super-clusters are close enough for one frame: offsets lose little precision, and the shift of
    /// a super-cluster selects the nearest images of its pairs.
    pub fn fits_one_frame(&self, members: Range<usize>, symmetric: bool) -> bool {
        let joined = self.frame(members.clone(), symmetric);
        let own = |member: usize, d: usize| self.frame(member..member + 1, symmetric).extent[d];
        (0..3).all(|d| {
            let largest = members.clone().map(|member| own(member, d)).fold(0.0, f64::max);
            let period = self.periods[d];
            joined.extent[d] <= 2.0 * largest && (period == 0.0 || joined.extent[d] + largest < 0.5 * period)
        })
    }

    /// Shift of all clusters of a super-cluster into a frame, at the image nearest to its center; `None` if
    /// each cluster needs its own shift.
    ///
    /// Pairs in range are at this image if the frame's extent (half edge plus range) plus the other
    /// super-cluster's half edge is less than half a period.
    #[inline(always)]
    pub fn common_shift(&self, frame: &Frame, super_cluster: usize) -> Option<Shift> {
        let shift = self.super_cluster_shift(frame, super_cluster);
        (!shift.ambiguous).then_some(shift)
    }

    /// Bound of the shifted offsets of a super-cluster, relative to the frame's center or its own.
    #[inline(always)]
    pub fn max_offset(&self, super_cluster: usize, shift: &Shift) -> f64 {
        let half = &self.storage.boxes[super_cluster].half;
        (0..3).map(|d| half[d] + 2.0 * shift.by[d].abs()).fold(0.0, f64::max)
    }

    /// Shift of a super-cluster's offsets; `ambiguous` if its clusters need their own shifts.
    #[inline(always)]
    pub fn super_cluster_shift(&self, frame: &Frame, super_cluster: usize) -> Shift {
        let SuperClusterBox { center, half } = &self.storage.boxes[super_cluster];
        self.shift_of(frame, super_cluster, &[center.x, center.y, center.z], half)
    }

    /// Shift of one cluster.
    #[cold]
    pub fn cluster_shift(&self, frame: &Frame, cluster: usize) -> Shift {
        let other = cluster / CLUSTERS;
        let own = &self.storage.boxes[other].center;
        let (mut center, mut half) = ([0.0; 3], [0.0; 3]);
        for d in 0..3 {
            let (lower, upper) = self.corners(cluster, d);
            center[d] = own[d] + 0.5 * (lower + upper);
            half[d] = 0.5 * (upper - lower) + ROUNDING * lower.abs().max(upper.abs());
        }
        self.shift_of(frame, other, &center, &half)
    }

    /// Bounds of a cluster along an axis, relative to the center of its super-cluster.
    pub(super) fn corners(&self, cluster: usize, axis: usize) -> (f64, f64) {
        match self.layout {
            Layout::Columns => {
                let corner = |k: usize| self.unit * f64::from(self.storage.bounds[cluster].values[k + axis]);
                (corner(Bounds::LOWER), corner(Bounds::UPPER))
            }
            Layout::Records(quads) => {
                let offsets = self.block(cluster).iter().skip(axis).step_by(quads * QUAD);
                let finite = offsets.map(|offset| offset.to_f64()).filter(|offset| offset.is_finite());
                finite.fold((f64::INFINITY, f64::NEG_INFINITY), |(lower, upper), offset| {
                    (lower.min(offset), upper.max(offset))
                })
            }
        }
    }

    #[inline(always)]
    fn shift_of(&self, frame: &Frame, other: usize, center: &[f64; 3], half: &[f64; 3]) -> Shift {
        let own = &self.storage.boxes[other].center;
        let mut shift = Shift { by: [0.0; 3], ambiguous: false };
        for d in 0..3 {
            shift.by[d] = own[d] - frame.center[d];
            let period = self.periods[d];
            if period > 0.0 {
                let periods = (center[d] - frame.center[d]) * self.frequency[d];
                shift.by[d] -= period * rounded(periods);
                shift.ambiguous |= frame.extent[d] + half[d] >= 0.5 * period;
            }
        }
        shift
    }
}
