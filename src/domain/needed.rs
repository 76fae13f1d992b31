//! Which of a rank's rows the boxes of another rank need, as [`super::halo`] says.

use super::Across;
use super::assign::Assignment;
use crate::pair::Instructions;
use crate::pair::lane::{Task, dispatch};
use crate::particles::{Field, Particles, SUPER_CLUSTER};
use crate::space::{Boundary, SimulationBox};
use crate::tree::bounds::Extent;
use fearless_simd::Simd;
use rayon::prelude::*;
use std::ops::Range;

/// So many boxes of another rank are looked at together before each of them is.
const TOGETHER: usize = 8;

/// Radii are taken this much larger, because passes in single precision round distances.
const ROUNDING: f64 = 1.0 + 1e-6;

/// A rank, and how many boxes it publishes.
pub(super) type Publisher = (usize, usize);

impl Across {
    /// Of which of its boxes a rank sends rows to another rank, and for which of that one's.
    pub(super) fn boxes(self, own: Publisher, theirs: Publisher) -> [Range<usize>; 2] {
        match self {
            Across::One if own.0 > theirs.0 => [0..half(own.1), 0..theirs.1],
            Across::One => [0..own.1, half(theirs.1)..theirs.1],
            Across::Both => [0..own.1, 0..theirs.1],
        }
    }
}

/// The first box of the second half.
fn half(boxes: usize) -> usize {
    boxes / 2
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

    /// Which rows of a super-cluster may interact with a particle in any of the boxes: [`may_interact`] of each, in loops over rows
    /// that compile to lanes.
    #[inline(always)]
    fn reached(&self, rows: Range<usize>, boxes: &[Extent], bx: &SimulationBox) -> [bool; SUPER_CLUSTER] {
        let mut reached = [0u64; SUPER_CLUSTER];
        for theirs in boxes {
            let mut distance2 = [0.0; SUPER_CLUSTER];
            for d in 0..3 {
                let (middle, halves) =
                    (0.5 * (theirs.lower[d] + theirs.upper[d]), 0.5 * (theirs.upper[d] - theirs.lower[d]));
                let (length, rounding) = (bx.upper[d] - bx.lower[d], rounding(bx, d));
                let add = |sum: &mut f64, between: f64| {
                    let gap = (between.abs() - halves - rounding).max(0.0);
                    *sum += gap * gap;
                };
                let rows = distance2.iter_mut().zip(&self.position[d][rows.clone()]);
                match bx.boundary[d] {
                    Boundary::Open => rows.for_each(|(sum, x)| add(sum, middle - x)),
                    Boundary::Periodic => rows.for_each(|(sum, x)| add(sum, nearest(middle - x, length))),
                }
            }
            for ((reached, distance2), radius) in
                reached.iter_mut().zip(distance2).zip(&self.radius[rows.clone()])
            {
                let reach = theirs.radius.max(*radius) * ROUNDING;
                *reached |= u64::from((reach > 0.0) & (distance2 <= reach * reach));
            }
        }
        reached.map(|reached| reached > 0)
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
}

impl<'a> Own<'a> {
    /// Boxes of the rows of a rank.
    pub fn new(assignment: &Assignment, rank: usize, rows: OwnRows<'a>) -> Self {
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
        Self { rows, super_clusters, begins: all_begins, boxes, whole }
    }

    /// What this rank publishes: for each coarse leaf in which super-clusters begin the extent of these, whole, so that some
    /// of their particles may lie in later leaves of the rank.
    pub fn boxes(&self) -> &[Extent] {
        &self.boxes
    }

    /// The first of the super-clusters that have pairs with particles of lower ranks here.
    pub fn first_with_lower(&self, across: Across) -> usize {
        match across {
            Across::Both => 0,
            Across::One => self.begins.get(half(self.boxes.len())).map_or(0, |begins| begins.start),
        }
    }

    /// The rows of this rank that another one with these boxes needs, in order; `their_whole` is the extent of all its boxes.
    pub fn needed(
        &self,
        rank: usize,
        (other, theirs): (usize, &[Extent]),
        their_whole: &Extent,
        bx: &SimulationBox,
        across: Across,
    ) -> Vec<u32> {
        let [own, asking] = across.boxes((rank, self.boxes.len()), (other, theirs.len()));
        let theirs = &theirs[asking];
        // Most ranks are far away: one test for them, not one a box.
        if self.whole.is_nothing() || their_whole.is_nothing() || !may_interact(&self.whole, their_whole, bx)
        {
            return Vec::new();
        }
        let mut near_all = Vec::new();
        near(&self.whole, theirs, bx, &mut near_all);
        // Along the curve boxes that follow each other are neighbors: most leaves are far from all of these at once.
        let together: Vec<(Extent, &[Extent])> =
            near_all.chunks(TOGETHER).map(|boxes| (union(boxes.iter().copied()), boxes)).collect();
        let of_leaf = |(leaf, begins): (&Extent, &Range<usize>)| {
            dispatch(
                Instructions::Best,
                Needed { own: self, leaf, begins: begins.clone(), together: &together, bx },
            )
        };
        let (boxes, begins) = (&self.boxes[own.clone()], &self.begins[own]);
        let parts: Vec<Vec<u32>> = boxes.par_iter().zip(begins).map(of_leaf).collect();
        parts.concat()
    }
}

/// The rows, among those of the super-clusters that begin in a leaf, that the boxes of another rank need.
struct Needed<'a> {
    own: &'a Own<'a>,
    /// The extent of these super-clusters.
    leaf: &'a Extent,
    begins: Range<usize>,
    /// The boxes, some together with the extent of these.
    together: &'a [(Extent, &'a [Extent])],
    bx: &'a SimulationBox,
}

impl Task for Needed<'_> {
    type Output = Vec<u32>;
    type Scalar = f64;

    /// The loops over rows compile to the lanes of these instructions.
    #[inline(always)]
    fn run<S: Simd>(self, _simd: S) -> Vec<u32> {
        let Needed { own, leaf, begins, together, bx } = self;
        let (mut rows, mut near_leaf, mut near_super) = (Vec::new(), Vec::new(), Vec::new());
        for (_, boxes) in together.iter().filter(|(all, _)| may_interact(all, leaf, bx)) {
            near(leaf, boxes, bx, &mut near_leaf);
        }
        if near_leaf.is_empty() {
            return rows;
        }
        for s in begins {
            near_super.clear();
            near(&own.super_clusters[s], &near_leaf, bx, &mut near_super);
            if !near_super.is_empty() {
                let members = s * SUPER_CLUSTER..own.rows.keys.len().min((s + 1) * SUPER_CLUSTER);
                let reached = own.rows.reached(members.clone(), &near_super, bx);
                rows.extend(members.zip(reached).filter_map(|(row, reached)| reached.then_some(row as u32)));
            }
        }
        rows
    }
}

/// Adds those of the boxes that may interact with an extent.
#[inline(always)]
fn near(extent: &Extent, boxes: &[Extent], bx: &SimulationBox, found: &mut Vec<Extent>) {
    found.extend(boxes.iter().filter(|theirs| may_interact(theirs, extent, bx)));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::space::Vec3d;
    use proptest::prelude::*;

    proptest! {
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
            let reached = rows.reached(0..points.len(), &boxes, &bx);
            for (row, reached) in reached.into_iter().enumerate() {
                let point = || Extent::of_row(rows.position, rows.radius, row);
                let expected = row < points.len() && boxes.iter().any(|theirs| may_interact(theirs, &point(), &bx));
                prop_assert_eq!(reached, expected, "row {}", row);
            }
        }
    }
}
