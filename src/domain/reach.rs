//! Whether particles in two boxes may interact: of a pair of boxes, and of eight with another, in lanes.

use crate::space::{Boundary, SimulationBox};
use crate::tree::bounds::Extent;
use fearless_simd::{Simd, f64x8, prelude::*};

/// Radii are taken this much larger, because passes in single precision round distances.
const ROUNDING: f64 = 1.0 + 1e-6;

/// Whether a particle of one may interact with one of the other; never wrongly false.
#[inline(always)]
pub(crate) fn may_interact(one: &Extent, other: &Extent, bx: &SimulationBox) -> bool {
    let reach = one.radius.max(other.radius) * ROUNDING;
    if reach <= 0.0 {
        return false; // no distance is below 0, also where boxes overlap
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

/// The way to the nearest image between two that are in the box: at most one period away.
#[inline(always)]
fn nearest(between: f64, period: f64) -> f64 {
    let half = 0.5 * period;
    let periods = f64::from(u8::from(between >= half)) - f64::from(u8::from(between <= -half));
    between - period * periods
}

/// What is taken from a distance along an axis, because coordinates are rounded.
#[inline(always)]
pub(crate) fn rounding(bx: &SimulationBox, d: usize) -> f64 {
    1e-14 * (bx.upper[d] - bx.lower[d] + bx.lower[d].abs().max(bx.upper[d].abs()))
}

/// The extent of some particles by its middle.
#[derive(Clone, Copy, Debug)]
pub(super) struct Centered {
    pub middle: [f64; 3],
    pub halves: [f64; 3],
    pub radius: f64,
}

impl Centered {
    /// Of this extent.
    #[inline(always)]
    pub fn of(&Extent { lower, upper, radius }: &Extent) -> Self {
        Centered {
            middle: [0, 1, 2].map(|d| 0.5 * (lower[d] + upper[d])),
            halves: [0, 1, 2].map(|d| 0.5 * (upper[d] - lower[d])),
            radius,
        }
    }
}

/// Extents in blocks of as many as there are lanes; those that fill up the last one are out of every reach.
#[derive(Default)]
pub(super) struct Boxes {
    blocks: Vec<Block>,
    count: usize,
}

/// Middles, halves and radii of some extents.
#[derive(Clone, Copy)]
struct Block {
    middle: [[f64; LANES]; 3],
    halves: [[f64; LANES]; 3],
    radius: [f64; LANES],
}

impl Block {
    const BEYOND: Block =
        Block { middle: [[0.0; LANES]; 3], halves: [[f64::NEG_INFINITY; LANES]; 3], radius: [0.0; LANES] };
}

impl Boxes {
    /// Whether there are none.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Begin anew.
    #[inline(always)]
    pub fn clear(&mut self) {
        self.blocks.clear();
        self.count = 0;
    }

    /// Add one behind the others.
    #[inline(always)]
    pub fn push(&mut self, one: Centered) {
        let (block, k) = (self.count / LANES, self.count % LANES);
        if k == 0 {
            self.blocks.push(Block::BEYOND);
        }
        let block = &mut self.blocks[block];
        for d in 0..3 {
            block.middle[d][k] = one.middle[d];
            block.halves[d][k] = one.halves[d];
        }
        block.radius[k] = one.radius;
        self.count += 1;
    }

    /// Hands out those that may interact with one, in order.
    #[inline(always)]
    pub fn near<S: Simd>(&self, simd: S, one: &Centered, space: &Space, mut take: impl FnMut(Centered)) {
        for block in &self.blocks {
            let mut boxes = Eight::points(simd, f64x8::load_array_ref(simd, &block.radius));
            for d in 0..3 {
                boxes.middle[d] = f64x8::load_array_ref(simd, &block.middle[d]);
                boxes.halves[d] = f64x8::load_array_ref(simd, &block.halves[d]);
            }
            let mut near = boxes.may_interact(simd, one, space);
            while near != 0 {
                let k = near.trailing_zeros() as usize;
                near &= near - 1;
                let (m, h) = (&block.middle, &block.halves);
                take(Centered {
                    middle: [m[0][k], m[1][k], m[2][k]],
                    halves: [h[0][k], h[1][k], h[2][k]],
                    radius: block.radius[k],
                });
            }
        }
    }
}

/// What distances in a box are taken with, by axis.
pub(super) struct Space {
    /// Periods; infinite where open.
    period: [f64; 3],
    rounding: [f64; 3],
}

impl Space {
    /// Of this box.
    pub fn of(bx: &SimulationBox) -> Self {
        Self { period: bx.periods().into(), rounding: [0, 1, 2].map(|d| rounding(bx, d)) }
    }
}

/// Doubles that are looked at side by side.
pub(super) const LANES: usize = 8;

/// Eight extents.
pub(super) struct Eight<S: Simd> {
    pub middle: [f64x8<S>; 3],
    halves: [f64x8<S>; 3],
    radius: f64x8<S>,
}

// Loops, not closures: a closure has no target features of its own, so that what it calls is not inlined.
impl<S: Simd> Eight<S> {
    /// At the origin.
    #[inline(always)]
    pub fn points(simd: S, radius: f64x8<S>) -> Self {
        let zero = f64x8::splat(simd, 0.0);
        Self { middle: [zero; 3], halves: [zero; 3], radius }
    }

    /// [`may_interact`] of each with another, one bit each.
    #[inline(always)]
    pub fn may_interact(&self, simd: S, other: &Centered, space: &Space) -> u8 {
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

/// Eight values of a column.
#[inline(always)]
pub(super) fn eight<S: Simd>(simd: S, column: &[f64], first: usize) -> f64x8<S> {
    f64x8::from_slice(simd, &column[first..first + LANES])
}
