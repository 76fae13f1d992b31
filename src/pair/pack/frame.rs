//! Where clusters are: their boxes, the centres that offsets are from, and how offsets come into the frame of others.

use super::{Layout, Packed};
use crate::neighbors::CLUSTERS;
use crate::pair::lane::Scalar;
use crate::pair::law::Cutoff;
use crate::pair::record::QUAD;
use crate::space::{Vec3d, rounded};
use std::ops::Range;

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

/// The centre of a super-cluster, and half the edges of the box of its particles about it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub centre: Vec3d,
    pub half: [f64; 3],
}

impl Place {
    /// Of no particles.
    pub fn nowhere() -> Self {
        Place { centre: Vec3d::zeros(), half: [0.0; 3] }
    }
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

impl<T: Scalar> Packed<T> {
    /// The longest reach of a cluster's particles, in the unit of the bounds.
    #[inline(always)]
    pub fn cluster_reach(&self, cluster: usize) -> f32 {
        match self.cutoff {
            Cutoff::Common => (self.largest / self.unit) as f32,
            Cutoff::Own | Cutoff::Either => self.room.bounds[cluster].values[Bounds::REACH],
        }
    }

    /// The longest reach that pairs of a super-cluster's particles may have; on half lists (`symmetric`) it may be that
    /// of j, whichever side the law's cutoff is on.
    fn reach(&self, super_cluster: usize, symmetric: bool) -> f64 {
        match self.cutoff {
            Cutoff::Own if !symmetric => {
                let clusters = &self.room.bounds[super_cluster * CLUSTERS..][..CLUSTERS];
                let largest = clusters.iter().map(|bounds| bounds.values[Bounds::REACH]).fold(0.0, f32::max);
                f64::from(largest) * (1.0 + ROUNDING) * self.unit
            }
            Cutoff::Own | Cutoff::Either | Cutoff::Common => self.largest,
        }
    }

    /// The frame of some super-clusters together, for a list that may be symmetric: that of one is its own.
    pub fn frame(&self, members: Range<usize>, symmetric: bool) -> Frame {
        let reach = members.clone().map(|member| self.reach(member, symmetric)).fold(0.0, f64::max);
        let Place { mut centre, mut half } = self.room.places[members.start];
        if members.len() > 1 {
            for d in 0..3 {
                let (mut lower, mut upper) = (f64::INFINITY, f64::NEG_INFINITY);
                for place in &self.room.places[members.clone()] {
                    // its image next to the first one
                    let periods = rounded(
                        (place.centre[d] - self.room.places[members.start].centre[d]) * self.frequency[d],
                    );
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
        let half = &self.room.places[super_cluster].half;
        (0..3).map(|d| half[d] + 2.0 * shift.by[d].abs()).fold(0.0, f64::max)
    }

    /// The shift of a super-cluster's offsets, which is `ambiguous` where its clusters have shifts of their own.
    #[inline(always)]
    pub fn any_shift(&self, frame: &Frame, super_cluster: usize) -> Shift {
        let Place { centre, half } = &self.room.places[super_cluster];
        self.shift_of(frame, super_cluster, &[centre.x, centre.y, centre.z], half)
    }

    /// The shift of one cluster.
    #[cold]
    pub fn own_shift(&self, frame: &Frame, cluster: usize) -> Shift {
        let other = cluster / CLUSTERS;
        let own = &self.room.places[other].centre;
        let (mut middle, mut half) = ([0.0; 3], [0.0; 3]);
        for d in 0..3 {
            let (lower, upper) = self.corners(cluster, d);
            middle[d] = own[d] + 0.5 * (lower + upper);
            half[d] = 0.5 * (upper - lower) + ROUNDING * lower.abs().max(upper.abs());
        }
        self.shift_of(frame, other, &middle, &half)
    }

    /// Where the box of a cluster's particles begins and ends along an axis, from the centre of its super-cluster.
    pub(super) fn corners(&self, cluster: usize, axis: usize) -> (f64, f64) {
        match self.layout {
            Layout::Columns => {
                let corner = |k: usize| self.unit * f64::from(self.room.bounds[cluster].values[k + axis]);
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
    fn shift_of(&self, frame: &Frame, other: usize, middle: &[f64; 3], half: &[f64; 3]) -> Shift {
        let own = &self.room.places[other].centre;
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
