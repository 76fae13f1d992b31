//! Which of a rank's rows the boxes of another rank need, as [`super::halo`] says.

use super::Across;
use super::assign::Assignment;
use crate::pair::Instructions;
use crate::pair::lane::{Task, dispatch};
use crate::particles::{Field, Particles, SUPER_CLUSTER};
use crate::runs::Runs;
use crate::space::{Boundary, SimulationBox};
use crate::tree::bounds::Extent;
use fearless_simd::{Simd, f64x8, prelude::*};
use rayon::prelude::*;
use std::ops::Range;

/// Tasks a thread in which the rows of a rank are looked at.
const TASKS: usize = 4;

/// Radii are taken this much larger, because passes in single precision round distances.
const ROUNDING: f64 = 1.0 + 1e-6;

/// A rank that publishes boxes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Publisher {
    /// Which.
    pub rank: usize,
    /// How many.
    pub boxes: usize,
    /// The first of the second half, [`Assignment::middle`].
    pub middle: usize,
}

impl Across {
    /// Of which of its boxes a rank sends rows to another rank, and for which of that one's.
    pub(super) fn boxes(self, own: Publisher, theirs: Publisher) -> [Range<usize>; 2] {
        match self {
            Across::One if own.rank > theirs.rank => [0..own.middle, 0..theirs.boxes],
            Across::One => [0..own.boxes, theirs.middle..theirs.boxes],
            Across::Both => [0..own.boxes, 0..theirs.boxes],
        }
    }
}

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

/// The extent of all of them together.
pub(crate) fn union(extents: impl IntoIterator<Item = Extent>) -> Extent {
    extents.into_iter().fold(Extent::NOTHING, Extent::with)
}

/// The rows that a rank owns, from its first one on.
#[derive(Clone, Copy)]
pub(super) struct OwnRows<'a> {
    /// Sorted keys.
    pub keys: &'a [u64],
    /// x, y, z.
    pub position: [&'a [f64]; 3],
    /// Radii.
    pub radius: &'a [f64],
}

impl<'a> OwnRows<'a> {
    /// Of these particles; all rows have radii.
    pub fn of(particles: &'a Particles, radius: &'a [f64]) -> Self {
        assert!(radius.len() == particles.len(), "one radius per row");
        let owned = particles.owned();
        Self {
            keys: &particles.key[owned.clone()],
            position: particles.vector(Field::Position).map(|column| &column[owned.clone()]),
            radius: &radius[owned],
        }
    }

    /// Bit k: row k of these, of one super-cluster, may interact with a particle in any of the boxes.
    #[inline(always)]
    fn reached<S: Simd>(&self, simd: S, rows: Range<usize>, boxes: &[Centered], space: &Space) -> u64 {
        let fill = |column: &[f64]| {
            let mut filled = [0.0; SUPER_CLUSTER];
            filled[..rows.len()].copy_from_slice(&column[rows.clone()]);
            filled
        };
        let (position, radius) = (self.position.map(fill), fill(self.radius));
        let all = u64::MAX >> (SUPER_CLUSTER - rows.len());
        let mut reached = 0;
        for theirs in boxes {
            for first in (0..SUPER_CLUSTER).step_by(LANES) {
                let mut rows = Eight::points(simd, eight(simd, &radius, first));
                for d in 0..3 {
                    rows.middle[d] = eight(simd, &position[d], first);
                }
                reached |= u64::from(rows.may_interact(simd, theirs, space)) << first;
            }
            if reached & all == all {
                break;
            }
        }
        reached & all
    }
}

/// What is taken from a distance along an axis, because coordinates are rounded.
#[inline(always)]
pub(crate) fn rounding(bx: &SimulationBox, d: usize) -> f64 {
    1e-14 * (bx.upper[d] - bx.lower[d] + bx.lower[d].abs().max(bx.upper[d].abs()))
}

/// Own rows, super-clusters and boxes, while halos are found.
pub(super) struct Own<'a> {
    rows: OwnRows<'a>,
    super_clusters: Vec<Extent>,
    /// Per box the super-clusters that begin in its leaf.
    begins: Vec<Range<usize>>,
    boxes: Vec<Extent>,
    /// Of all boxes together.
    whole: Extent,
    /// The first of their second half.
    middle: usize,
    rank: usize,
    assignment: &'a Assignment,
}

impl<'a> Own<'a> {
    /// Boxes of the rows of a rank.
    pub fn new(assignment: &'a Assignment, rank: usize, rows: OwnRows<'a>) -> Self {
        let count = rows.keys.len();
        let super_clusters: Vec<Extent> = (0..count.div_ceil(SUPER_CLUSTER))
            .into_par_iter()
            .with_min_len(64)
            .map(|s| {
                let members = s * SUPER_CLUSTER..count.min((s + 1) * SUPER_CLUSTER);
                Extent::of_rows(rows.position, rows.radius, &|_| false, members)
            })
            .collect();
        let leaves = assignment.leaves_of(rank);
        let row_of = |leaf: usize| {
            let first = assignment.leaves().keys()[leaf];
            rows.keys.partition_point(|&key| key < first)
        };
        let (mut all_begins, mut boxes) = (Vec::new(), Vec::new());
        let mut next = row_of(leaves.start).div_ceil(SUPER_CLUSTER);
        for leaf in leaves {
            let begins = next..row_of(leaf + 1).div_ceil(SUPER_CLUSTER);
            next = begins.end;
            if !begins.is_empty() {
                boxes.push(union(super_clusters[begins.clone()].iter().copied()));
                all_begins.push(begins);
            }
        }
        let whole = union(boxes.iter().copied());
        let middle = assignment.middle(rank).min(boxes.len());
        Self { rows, super_clusters, begins: all_begins, boxes, whole, middle, rank, assignment }
    }

    /// What this rank publishes: for each coarse leaf in which super-clusters begin the extent of these, whole, so that some
    /// of their particles may lie in later leaves of the rank.
    pub fn boxes(&self) -> &[Extent] {
        &self.boxes
    }

    fn publisher(&self) -> Publisher {
        Publisher { rank: self.rank, boxes: self.boxes.len(), middle: self.middle }
    }

    /// The first of the super-clusters that have pairs with particles of lower ranks here.
    pub fn first_with_lower(&self, across: Across) -> usize {
        match across {
            Across::Both => 0,
            Across::One => {
                let second_half = self.begins.get(self.middle);
                second_half.map_or(self.super_clusters.len(), |begins| begins.start)
            }
        }
    }

    /// The rows of this rank that another one with these boxes needs, in order; `their_whole` is the extent of all its boxes.
    pub fn needed(
        &self,
        (other, theirs): (usize, &[Extent]),
        their_whole: &Extent,
        bx: &SimulationBox,
        across: Across,
    ) -> Runs {
        // Most ranks are far away: one test for them, not one a box.
        if self.whole.is_nothing() || their_whole.is_nothing() || !may_interact(&self.whole, their_whole, bx)
        {
            return Runs::default();
        }
        let middle = self.assignment.middle(other).min(theirs.len());
        let other = Publisher { rank: other, boxes: theirs.len(), middle };
        let [own, asking] = across.boxes(self.publisher(), other);
        let theirs = &theirs[asking];
        let space = Space::of(bx);
        let mut near_all = Boxes::default();
        let some = theirs.iter().filter(|theirs| may_interact(&self.whole, theirs, bx));
        some.for_each(|theirs| near_all.push(Centered::of(theirs)));
        let task = |boxes: Range<usize>| Needed { own: self, boxes, theirs: &near_all, space: &space };
        let each = own.len().div_ceil(TASKS * rayon::current_num_threads()).max(1);
        let tasks =
            own.clone().into_par_iter().step_by(each).map(|first| task(first..own.end.min(first + each)));
        let parts: Vec<Vec<Range<usize>>> = tasks.map(|task| dispatch(Instructions::Best, task)).collect();
        let mut needed = Runs::default();
        parts.into_iter().flatten().for_each(|run| needed.add(run));
        needed
    }
}

/// The rows, among those of the super-clusters that begin in some leaves, that the boxes of another rank need.
struct Needed<'a> {
    own: &'a Own<'a>,
    /// These leaves, by box.
    boxes: Range<usize>,
    theirs: &'a Boxes,
    space: &'a Space,
}

impl Task for Needed<'_> {
    type Output = Vec<Range<usize>>;
    type Scalar = f64;

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> Vec<Range<usize>> {
        let Needed { own, boxes, theirs, space } = self;
        let (mut runs, mut near_leaf, mut near_super) = (Vec::new(), Boxes::default(), Vec::new());
        for leaf in boxes {
            near_leaf.clear();
            theirs.near(simd, &Centered::of(&own.boxes[leaf]), space, |theirs| near_leaf.push(theirs));
            if near_leaf.count == 0 {
                continue;
            }
            for s in own.begins[leaf].clone() {
                near_super.clear();
                let super_cluster = Centered::of(&own.super_clusters[s]);
                near_leaf.near(simd, &super_cluster, space, |theirs| near_super.push(theirs));
                if !near_super.is_empty() {
                    let members = s * SUPER_CLUSTER..own.rows.keys.len().min((s + 1) * SUPER_CLUSTER);
                    let reached = own.rows.reached(simd, members.clone(), &near_super, space);
                    runs.extend(ones(reached).map(|run| members.start + run.start..members.start + run.end));
                }
            }
        }
        runs
    }
}

/// The runs of bits that are set, from the lowest on.
#[inline(always)]
fn ones(bits: u64) -> impl Iterator<Item = Range<usize>> {
    let mut begin = 0;
    std::iter::from_fn(move || {
        let rest = bits.checked_shr(begin).filter(|rest| *rest != 0)?;
        let first = begin + rest.trailing_zeros();
        begin = first + (bits >> first).trailing_ones();
        Some(first as usize..begin as usize)
    })
}

/// The extent of some particles by its middle.
#[derive(Clone, Copy, Debug)]
struct Centered {
    middle: [f64; 3],
    halves: [f64; 3],
    radius: f64,
}

impl Centered {
    #[inline(always)]
    fn of(&Extent { lower, upper, radius }: &Extent) -> Self {
        Centered {
            middle: [0, 1, 2].map(|d| 0.5 * (lower[d] + upper[d])),
            halves: [0, 1, 2].map(|d| 0.5 * (upper[d] - lower[d])),
            radius,
        }
    }
}

/// Extents in blocks of as many as there are lanes; those that fill up the last one are out of every reach.
#[derive(Default)]
struct Boxes {
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
    #[inline(always)]
    fn clear(&mut self) {
        self.blocks.clear();
        self.count = 0;
    }

    #[inline(always)]
    fn push(&mut self, one: Centered) {
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
    fn near<S: Simd>(&self, simd: S, one: &Centered, space: &Space, mut take: impl FnMut(Centered)) {
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
struct Space {
    /// Periods; infinite where open.
    period: [f64; 3],
    rounding: [f64; 3],
}

impl Space {
    fn of(bx: &SimulationBox) -> Self {
        Self { period: bx.periods().into(), rounding: [0, 1, 2].map(|d| rounding(bx, d)) }
    }
}

/// Doubles that are looked at side by side.
const LANES: usize = 8;

/// Eight extents.
struct Eight<S: Simd> {
    middle: [f64x8<S>; 3],
    halves: [f64x8<S>; 3],
    radius: f64x8<S>,
}

// Loops, not closures: a closure has no target features of its own, so that what it calls is not inlined.
impl<S: Simd> Eight<S> {
    /// At the origin.
    #[inline(always)]
    fn points(simd: S, radius: f64x8<S>) -> Self {
        let zero = f64x8::splat(simd, 0.0);
        Self { middle: [zero; 3], halves: [zero; 3], radius }
    }

    /// [`may_interact`] of each with another, one bit each.
    #[inline(always)]
    fn may_interact(&self, simd: S, other: &Centered, space: &Space) -> u8 {
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
fn eight<S: Simd>(simd: S, column: &[f64], first: usize) -> f64x8<S> {
    f64x8::from_slice(simd, &column[first..first + LANES])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::space::Vec3d;
    use proptest::prelude::*;

    struct Reached<'a> {
        rows: &'a OwnRows<'a>,
        count: usize,
        boxes: &'a [Centered],
        space: &'a Space,
    }

    impl Task for Reached<'_> {
        type Output = u64;
        type Scalar = f64;
        #[inline(always)]
        fn run<S: Simd>(self, simd: S) -> u64 {
            self.rows.reached(simd, 0..self.count, self.boxes, self.space)
        }
    }

    proptest! {
        #[test]
        fn runs_of_ones_have_all_of_them(bits: u64) {
            for bits in [bits, 0, u64::MAX, bits | 1 << 63, 1 << 63] {
                let runs: Vec<Range<usize>> = ones(bits).collect();
                prop_assert!(runs.windows(2).all(|two| two[0].end < two[1].start));
                let places: Vec<usize> = runs.into_iter().flatten().collect();
                prop_assert_eq!(places, (0..64).filter(|k| bits >> k & 1 == 1).collect::<Vec<_>>());
            }
        }

        #[test]
        fn rows_are_reached_as_each_of_them_may_interact(
            points in prop::collection::vec((prop::array::uniform3(0.0..1.0f64), 0.0..0.2f64), 1..=SUPER_CLUSTER),
            corners in prop::collection::vec(
                (prop::array::uniform3(0.0..1.0f64), prop::array::uniform3(0.0..0.3f64), 0.0..0.2f64), 0..4),
            periodic: [bool; 3],
        ) {
            let boundary = periodic.map(|periodic| if periodic { Boundary::Periodic } else { Boundary::Open });
            let bx = SimulationBox { lower: Vec3d::zeros(), upper: Vec3d::repeat(1.0), boundary };
            let column = |d: usize| points.iter().map(|(point, _)| point[d]).collect::<Vec<f64>>();
            let (x, y, z) = (column(0), column(1), column(2));
            let radius: Vec<f64> = points.iter().map(|(_, radius)| *radius).collect();
            let rows = OwnRows { keys: &[], position: [&x, &y, &z], radius: &radius };
            let boxes: Vec<Extent> = corners
                .iter()
                .map(|&(lower, size, radius)| {
                    let upper = [0, 1, 2].map(|d| f64::min(lower[d] + size[d], 1.0));
                    Extent { lower, upper, radius }
                })
                .collect();
            let centered: Vec<Centered> = boxes.iter().map(Centered::of).collect();
            let task = Reached { rows: &rows, count: points.len(), boxes: &centered, space: &Space::of(&bx) };
            let reached = dispatch(Instructions::Best, task);
            for row in 0..SUPER_CLUSTER {
                let point = || Extent::of_row(rows.position, rows.radius, row);
                let expected = row < points.len() && boxes.iter().any(|theirs| may_interact(theirs, &point(), &bx));
                prop_assert_eq!(reached >> row & 1 == 1, expected, "row {}", row);
            }
        }
    }
}
