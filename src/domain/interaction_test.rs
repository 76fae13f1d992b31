//! Conservative test whether particles in two boxes may interact: scalar, and vectorized for eight boxes
//! against one.

use crate::space::{Boundary, SimulationBox};
use crate::tree::bounds::Extent;
use fearless_simd::{Simd, f64x8, prelude::*};

/// Radii are enlarged by this factor, because single-precision passes round distances.
const ROUNDING: f64 = 1.0 + 1e-6;

/// Returns whether particles of the two extents may interact; has no false negatives.
#[inline(always)]
pub(crate) fn may_interact(one: &Extent, other: &Extent, bx: &SimulationBox) -> bool {
    let reach = one.radius.max(other.radius) * ROUNDING;
    if reach <= 0.0 {
        return false; // no distance is below 0, even if boxes overlap
    }
    let mut distance2 = 0.0;
    for d in 0..3 {
        let mut between = 0.5 * ((one.lower[d] + one.upper[d]) - (other.lower[d] + other.upper[d]));
        if bx.boundary[d] == Boundary::Periodic {
            between = nearest(between, bx.upper[d] - bx.lower[d]);
        }
        let halves = 0.5 * ((one.upper[d] - one.lower[d]) + (other.upper[d] - other.lower[d]));
        let gap = (between.abs() - halves - rounding(bx, d)).max(0.0);
        distance2 += gap * gap;
    }
    distance2 <= reach * reach
}

/// Returns the minimum-image separation along an axis of two points inside the box, at most one period apart.
#[inline(always)]
fn nearest(between: f64, period: f64) -> f64 {
    let half = 0.5 * period;
    let periods = f64::from(u8::from(between >= half)) - f64::from(u8::from(between <= -half));
    between - period * periods
}

/// Returns the allowance for coordinate rounding that is subtracted from a distance along an axis.
#[inline(always)]
pub(crate) fn rounding(bx: &SimulationBox, d: usize) -> f64 {
    1e-14 * (bx.upper[d] - bx.lower[d] + bx.lower[d].abs().max(bx.upper[d].abs()))
}

/// An extent by center and half widths.
#[derive(Clone, Copy, Debug)]
pub(super) struct CenteredExtent {
    pub middle: [f64; 3],
    pub halves: [f64; 3],
    pub radius: f64,
}

impl CenteredExtent {
    /// Converts an extent.
    #[inline(always)]
    pub fn of(&Extent { lower, upper, radius }: &Extent) -> Self {
        CenteredExtent {
            middle: [0, 1, 2].map(|d| 0.5 * (lower[d] + upper[d])),
            halves: [0, 1, 2].map(|d| 0.5 * (upper[d] - lower[d])),
            radius,
        }
    }
}

/// Extents in blocks of [`LANES`]; unused lanes of the last block interact with nothing.
#[derive(Default)]
pub(super) struct ExtentBlocks {
    blocks: Vec<Block>,
    count: usize,
}

/// Centers, half widths and radii of [`LANES`] extents.
#[derive(Clone, Copy)]
struct Block {
    middle: [[f64; LANES]; 3],
    halves: [[f64; LANES]; 3],
    radius: [f64; LANES],
}

impl Block {
    const UNREACHABLE: Block =
        Block { middle: [[0.0; LANES]; 3], halves: [[f64::NEG_INFINITY; LANES]; 3], radius: [0.0; LANES] };
}

impl ExtentBlocks {
    /// Returns whether there are no extents.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Removes all extents.
    #[inline(always)]
    pub fn clear(&mut self) {
        self.blocks.clear();
        self.count = 0;
    }

    /// Appends an extent.
    #[inline(always)]
    pub fn push(&mut self, one: CenteredExtent) {
        let (block, k) = (self.count / LANES, self.count % LANES);
        if k == 0 {
            self.blocks.push(Block::UNREACHABLE);
        }
        let block = &mut self.blocks[block];
        for d in 0..3 {
            block.middle[d][k] = one.middle[d];
            block.halves[d][k] = one.halves[d];
        }
        block.radius[k] = one.radius;
        self.count += 1;
    }

    /// Calls `take` for each extent that may interact with `one`, in order.
    #[inline(always)]
    pub fn near<S: Simd>(
        &self,
        simd: S,
        one: &CenteredExtent,
        space: &BoxMetric,
        mut take: impl FnMut(CenteredExtent),
    ) {
        for block in &self.blocks {
            let mut boxes = ExtentLanes::points(simd, f64x8::load_array_ref(simd, &block.radius));
            for d in 0..3 {
                boxes.middle[d] = f64x8::load_array_ref(simd, &block.middle[d]);
                boxes.halves[d] = f64x8::load_array_ref(simd, &block.halves[d]);
            }
            let mut near = boxes.may_interact(simd, one, space);
            while near != 0 {
                let k = near.trailing_zeros() as usize;
                near &= near - 1;
                let (m, h) = (&block.middle, &block.halves);
                take(CenteredExtent {
                    middle: [m[0][k], m[1][k], m[2][k]],
                    halves: [h[0][k], h[1][k], h[2][k]],
                    radius: block.radius[k],
                });
            }
        }
    }
}

/// Periods and rounding allowances by axis.
pub(super) struct BoxMetric {
    /// Periods; infinite in open dimensions.
    period: [f64; 3],
    rounding: [f64; 3],
}

impl BoxMetric {
    /// Computes them for a box.
    pub fn of(bx: &SimulationBox) -> Self {
        Self { period: bx.periods().into(), rounding: [0, 1, 2].map(|d| rounding(bx, d)) }
    }
}

/// Number of double-precision lanes.
pub(super) const LANES: usize = 8;

/// Eight extents, one per lane.
pub(super) struct ExtentLanes<S: Simd> {
    pub middle: [f64x8<S>; 3],
    halves: [f64x8<S>; 3],
    radius: f64x8<S>,
}

// Loops instead of closures: a closure does not inherit target features, so that calls in it would not be
// inlined.
impl<S: Simd> ExtentLanes<S> {
    /// Points at the origin with these radii.
    #[inline(always)]
    pub fn points(simd: S, radius: f64x8<S>) -> Self {
        let zero = f64x8::splat(simd, 0.0);
        Self { middle: [zero; 3], halves: [zero; 3], radius }
    }

    /// [`may_interact`] of each lane with `other`, one bit per lane.
    #[inline(always)]
    pub fn may_interact(&self, simd: S, other: &CenteredExtent, space: &BoxMetric) -> u8 {
        let mut square = f64x8::splat(simd, 0.0);
        for d in 0..3 {
            let apart = self.middle[d] - other.middle[d];
            let apart = apart.max(-apart);
            let around = space.period[d] - apart;
            let apart = apart.min(around.max(-around));
            let gap = (apart - self.halves[d] - (other.halves[d] + space.rounding[d])).max(0.0);
            square = gap.mul_add(gap, square);
        }
        let reach = self.radius.max(other.radius) * ROUNDING;
        let near = square.simd_le(reach * reach) & reach.simd_gt(0.0);
        near.to_bitmask() as u8
    }
}

/// Loads eight values of a column.
#[inline(always)]
pub(super) fn load_lanes<S: Simd>(simd: S, column: &[f64], first: usize) -> f64x8<S> {
    f64x8::from_slice(simd, &column[first..first + LANES])
}
