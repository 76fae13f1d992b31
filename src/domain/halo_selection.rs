//! Selects the own rows that the boxes of another rank need; see [`super::halo`].

use super::PairSharing;
use super::assign::Assignment;
use super::interaction_test::{
    BoxMetric, CenteredExtent, ExtentBlocks, ExtentLanes, LANES, load_lanes, may_interact,
};
use crate::parallel::RowRanges;
use crate::particles::{Field, Particles, SUPER_CLUSTER};
use crate::simd::Instructions;
use crate::simd::{Task, dispatch};
use crate::space::SimulationBox;
use crate::tree::bounds::Extent;
use fearless_simd::Simd;
use rayon::prelude::*;
use std::ops::Range;

/// Tasks per thread when rows are selected.
const TASKS: usize = 4;

/// A rank that publishes boxes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Publisher {
    /// The rank.
    pub rank: usize,
    /// The number of its boxes.
    pub boxes: usize,
    /// The first box of the second half, [`Assignment::middle`].
    pub middle: usize,
}

impl PairSharing {
    /// Returns the range of own boxes whose rows are sent to the other rank, and the range of the other
    /// rank's boxes that request them.
    pub(super) fn boxes(self, own: Publisher, theirs: Publisher) -> [Range<usize>; 2] {
        match self {
            PairSharing::OneRank if own.rank > theirs.rank => [0..own.middle, 0..theirs.boxes],
            PairSharing::OneRank => [0..own.boxes, theirs.middle..theirs.boxes],
            PairSharing::BothRanks => [0..own.boxes, 0..theirs.boxes],
        }
    }
}

/// Returns the union of extents.
pub(crate) fn union(extents: impl IntoIterator<Item = Extent>) -> Extent {
    extents.into_iter().fold(Extent::NOTHING, Extent::with)
}

/// The rows that a rank owns, numbered from the first owned one.
#[derive(Clone, Copy)]
pub(super) struct OwnRows<'a> {
    /// Sorted keys.
    pub keys: &'a [u64],
    /// x, y, z.
    pub position: [&'a [f64]; 3],
    /// Radii (length unit).
    pub radius: &'a [f64],
}

impl<'a> OwnRows<'a> {
    /// Returns the owned rows of these particles. `radius` has one entry for every row.
    pub fn of(particles: &'a Particles, radius: &'a [f64]) -> Self {
        assert!(radius.len() == particles.len(), "one radius per row");
        let owned = particles.owned();
        Self {
            keys: &particles.key[owned.clone()],
            position: particles.vector(Field::Position).map(|column| &column[owned.clone()]),
            radius: &radius[owned],
        }
    }

    /// Returns a mask of the rows of one super-cluster: bit k is set if row k may interact with a particle in
    /// any of the boxes.
    #[inline(always)]
    fn rows_in_reach<S: Simd>(
        &self,
        simd: S,
        rows: Range<usize>,
        boxes: &[CenteredExtent],
        space: &BoxMetric,
    ) -> u64 {
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
                let mut rows = ExtentLanes::points(simd, load_lanes(simd, &radius, first));
                for d in 0..3 {
                    rows.middle[d] = load_lanes(simd, &position[d], first);
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

/// Own rows, super-clusters and boxes during the halo search.
pub(super) struct OwnBoxes<'a> {
    rows: OwnRows<'a>,
    super_clusters: Vec<Extent>,
    /// For each box, the super-clusters that begin in its leaf.
    begins: Vec<Range<usize>>,
    boxes: Vec<Extent>,
    /// Union of all boxes.
    whole: Extent,
    rank: usize,
    assignment: &'a Assignment,
}

impl<'a> OwnBoxes<'a> {
    /// Computes the boxes of the rows of a rank.
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

    /// Returns the published boxes: for each coarse leaf in which super-clusters begin, the extent of these.
    /// Super-clusters are taken whole, so that some of their particles may lie in later leaves of the rank.
    pub fn boxes(&self) -> &[Extent] {
        &self.boxes
    }

    /// Returns the first super-cluster that has pairs with particles of lower ranks here.
    pub fn first_with_lower(&self, across: PairSharing) -> usize {
        match across {
            PairSharing::BothRanks => 0,
            PairSharing::OneRank => {
                let second_half = self.begins.get(self.assignment.middle(self.rank));
                second_half.map_or(0, |begins| begins.start)
            }
        }
    }

    /// Returns the own rows that rank `other` with the boxes `theirs` needs, in order; `their_whole` is the
    /// union of its boxes.
    pub fn needed(
        &self,
        (other, theirs): (usize, &[Extent]),
        their_whole: &Extent,
        bx: &SimulationBox,
        across: PairSharing,
    ) -> RowRanges {
        // Most ranks are far away: one test rejects them without a test per box.
        if self.whole.is_nothing() || their_whole.is_nothing() || !may_interact(&self.whole, their_whole, bx)
        {
            return RowRanges::default();
        }
        let publisher = |rank, boxes| Publisher { rank, boxes, middle: self.assignment.middle(rank) };
        let [own, asking] =
            across.boxes(publisher(self.rank, self.boxes.len()), publisher(other, theirs.len()));
        let theirs = &theirs[asking];
        let space = BoxMetric::of(bx);
        let mut near_all = ExtentBlocks::default();
        let some = theirs.iter().filter(|theirs| may_interact(&self.whole, theirs, bx));
        some.for_each(|theirs| near_all.push(CenteredExtent::of(theirs)));
        let task = |boxes: Range<usize>| FindNeeded { own: self, boxes, theirs: &near_all, space: &space };
        let each = own.len().div_ceil(TASKS * rayon::current_num_threads()).max(1);
        let tasks =
            own.clone().into_par_iter().step_by(each).map(|first| task(first..own.end.min(first + each)));
        let parts: Vec<Vec<Range<usize>>> = tasks.map(|task| dispatch(Instructions::Best, task)).collect();
        let mut needed = RowRanges::default();
        parts.into_iter().flatten().for_each(|run| needed.add(run));
        needed
    }
}

/// Task that selects the rows needed by another rank among the super-clusters that begin in a range of own
/// boxes.
struct FindNeeded<'a> {
    own: &'a OwnBoxes<'a>,
    /// Range of own boxes.
    boxes: Range<usize>,
    theirs: &'a ExtentBlocks,
    space: &'a BoxMetric,
}

impl Task for FindNeeded<'_> {
    type Output = Vec<Range<usize>>;
    type Scalar = f64;

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> Vec<Range<usize>> {
        let FindNeeded { own, boxes, theirs, space } = self;
        let (mut runs, mut near_leaf, mut near_super) = (Vec::new(), ExtentBlocks::default(), Vec::new());
        for leaf in boxes {
            near_leaf.clear();
            theirs.near(simd, &CenteredExtent::of(&own.boxes[leaf]), space, |theirs| near_leaf.push(theirs));
            if near_leaf.is_empty() {
                continue;
            }
            for s in own.begins[leaf].clone() {
                near_super.clear();
                let super_cluster = CenteredExtent::of(&own.super_clusters[s]);
                near_leaf.near(simd, &super_cluster, space, |theirs| near_super.push(theirs));
                if !near_super.is_empty() {
                    let members = s * SUPER_CLUSTER..own.rows.keys.len().min((s + 1) * SUPER_CLUSTER);
                    let reached = own.rows.rows_in_reach(simd, members.clone(), &near_super, space);
                    runs.extend(
                        bit_runs(reached).map(|run| members.start + run.start..members.start + run.end),
                    );
                }
            }
        }
        runs
    }
}

/// Returns the runs of set bits, from the lowest bit on.
#[inline(always)]
fn bit_runs(bits: u64) -> impl Iterator<Item = Range<usize>> {
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
        boxes: &'a [CenteredExtent],
        space: &'a BoxMetric,
    }

    impl Task for Reached<'_> {
        type Output = u64;
        type Scalar = f64;
        #[inline(always)]
        fn run<S: Simd>(self, simd: S) -> u64 {
            self.rows.rows_in_reach(simd, 0..self.count, self.boxes, self.space)
        }
    }

    proptest! {
        #[test]
        fn runs_of_ones_have_all_of_them(bits: u64) {
            for bits in [bits, 0, u64::MAX, bits | 1 << 63, 1 << 63] {
                let runs: Vec<Range<usize>> = bit_runs(bits).collect();
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
            let centered: Vec<CenteredExtent> = boxes.iter().map(CenteredExtent::of).collect();
            let task = Reached { rows: &rows, count: points.len(), boxes: &centered, space: &BoxMetric::of(&bx) };
            let reached = dispatch(Instructions::Best, task);
            for row in 0..SUPER_CLUSTER {
                let point = || Extent::of_row(rows.position, rows.radius, row);
                let expected = row < points.len() && boxes.iter().any(|theirs| may_interact(theirs, &point(), &bx));
                prop_assert_eq!(reached >> row & 1 == 1, expected, "row {}", row);
            }
        }
    }
}
