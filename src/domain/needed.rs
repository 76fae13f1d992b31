//! Which of a rank's rows the boxes of another rank need, as [`super::halo`] says.

use super::Across;
use super::assign::Assignment;
use super::reach::{Boxes, Centered, Eight, LANES, Space, eight, may_interact};
use crate::pair::Instructions;
use crate::pair::lane::{Task, dispatch};
use crate::particles::{Field, Particles, SUPER_CLUSTER};
use crate::runs::Runs;
use crate::space::SimulationBox;
use crate::tree::bounds::Extent;
use fearless_simd::Simd;
use rayon::prelude::*;
use std::ops::Range;

/// Tasks a thread in which the rows of a rank are looked at.
const TASKS: usize = 4;

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

/// Own rows, super-clusters and boxes, while halos are found.
pub(super) struct Own<'a> {
    rows: OwnRows<'a>,
    super_clusters: Vec<Extent>,
    /// Per box the super-clusters that begin in its leaf.
    begins: Vec<Range<usize>>,
    boxes: Vec<Extent>,
    /// Of all boxes together.
    whole: Extent,
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
                Extent::of_all(rows.position, rows.radius, members)
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
        Self { rows, super_clusters, begins: all_begins, boxes, whole, rank, assignment }
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
            Across::One => {
                let second_half = self.begins.get(self.assignment.middle(self.rank));
                second_half.map_or(0, |begins| begins.start)
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
        let publisher = |rank, boxes| Publisher { rank, boxes, middle: self.assignment.middle(rank) };
        let [own, asking] =
            across.boxes(publisher(self.rank, self.boxes.len()), publisher(other, theirs.len()));
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
            if near_leaf.is_empty() {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::space::{Boundary, Vec3d};
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
