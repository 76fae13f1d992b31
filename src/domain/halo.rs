//! Halos: the particles of other ranks that own ones may interact with.
//!
//! Every rank publishes the tight boxes of its super-clusters, united per coarse leaf in which they begin, with the
//! largest radius inside. A sender gives away the particles that are closer to a box of the receiver than the larger
//! of both radii. As each particle is inside a box of its rank and its radius at most the box's, no pair with
//! r < max(radius_i, radius_j) is missed.
//!
//! Where one of two ranks has their pairs ([`Across::One`]) only the halos of those pairs are sent: the boxes of the higher
//! rank are cut in two halves, of which the first goes to the lower rank and the second asks for what it needs of that rank.

use super::Across;
use super::assign::Assignment;
use super::exchange::{columns_of_packed, pack};
use crate::comm::Communicator;
use crate::pair::Instructions;
use crate::pair::lane::{Task, dispatch};
use crate::particles::{CLUSTER, Field, Meanwhile, Particles, Returned, SUPER_CLUSTER, SumsOf};
use crate::space::{Boundary, SimulationBox};
use crate::tree::bounds::Extent;
use fearless_simd::Simd;
use rayon::prelude::*;
use std::cell::RefCell;
use std::ops::Range;

/// So many boxes of another rank are looked at together before each of them is.
const TOGETHER: usize = 8;

/// A run of so many super-clusters is worth to be seen to by itself.
const RUN: usize = 4;

/// Radii are taken this much larger, because passes in single precision round distances.
const ROUNDING: f64 = 1.0 + 1e-6;

/// Who sends which rows to whom.
#[derive(Clone, Debug, Default)]
pub(super) struct Halos {
    /// For each rank the rows it is sent, in order, counted from the first owned one.
    send: Vec<Vec<u32>>,
    /// For each rank the rows where its particles are here.
    pub rows: Vec<Range<usize>>,
    /// The first of the own super-clusters that have pairs with particles of lower ranks here.
    pub first_with_lower: usize,
    across: Across,
    /// Runs of owned rows, counted from the first one, of which no other rank has sums, where one of two has their pairs.
    pub alone: Vec<Range<usize>>,
}

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
        let length = bx.upper[d] - bx.lower[d];
        if bx.boundary[d] == Boundary::Periodic {
            between -= length * (between / length).round();
        }
        let halves = 0.5 * ((one.upper[d] - one.lower[d]) + (other.upper[d] - other.lower[d]));
        let gap = (between.abs() - halves - rounding(bx, d)).max(0.0);
        distance2 += gap * gap;
    }
    distance2 <= reach * reach
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
                    Boundary::Periodic => rows.for_each(|(sum, x)| {
                        // both are in the box: their images are at most one period away
                        let (between, half) = (middle - x, 0.5 * length);
                        let periods =
                            f64::from(u8::from(between >= half)) - f64::from(u8::from(between <= -half));
                        add(sum, between - length * periods);
                    }),
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

impl Halos {
    /// Find who needs which of the rows, which are all owned here. Collective.
    pub fn find(
        comm: &Communicator,
        bx: &SimulationBox,
        assignment: &Assignment,
        particles: &Particles,
        radius: &[f64],
        across: Across,
    ) -> Self {
        let own = Own::new(assignment, comm.rank(), OwnRows::of(particles, radius));
        let boxes = comm.all_gather(own.boxes());
        let send = boxes.iter().enumerate().map(|(rank, theirs)| match rank {
            rank if rank == comm.rank() => Vec::new(),
            _ => own.needed(comm.rank(), (rank, theirs), &union(theirs.iter().copied()), bx, across),
        });
        let first_with_lower = match across {
            Across::Both => 0,
            Across::One => own.begins.get(half(own.boxes.len())).map_or(0, |begins| begins.start),
        };
        let send: Vec<Vec<u32>> = send.collect();
        let alone = match across {
            Across::Both => Vec::new(),
            Across::One => alone(&send, particles.len()),
        };
        Self { send, rows: Vec::new(), first_with_lower, across, alone }
    }

    /// Send and receive id, key and the fields of halos, and lay out the rows: halos of lower ranks, padding, owned, halos of
    /// higher ranks. Padding has the first key of the own range, so that all keys stay sorted. Where one of two ranks has their
    /// pairs there is padding behind owned rows, too, with the last key: no cluster has owned rows and halos, whose pairs with each
    /// other are others'.
    pub fn attach(&mut self, comm: &Communicator, own_keys: Range<u64>, particles: &mut Particles) {
        let fields = particles.fields_of_halos();
        let leaving: Vec<Vec<u64>> = self.send.iter().map(|rows| pack(particles, &fields, rows)).collect();
        let arrived = comm.all_to_all(&leaving);
        let width = columns_of_packed(&fields);
        let counts: Vec<usize> = arrived.iter().map(|words| words.len() / width).collect();
        let lower: usize = counts[..comm.rank()].iter().sum();
        let start = lower.next_multiple_of(SUPER_CLUSTER);
        let owned = start..start + particles.len();
        self.rows.clear();
        let (mut next, mut behind) = (0, 0..0);
        for (rank, &count) in counts.iter().enumerate() {
            if rank == comm.rank() {
                let shares = self.across == Across::One && counts[rank..].iter().any(|&count| count > 0);
                next = if shares { owned.end.next_multiple_of(CLUSTER) } else { owned.end };
                behind = owned.end..next;
            }
            self.rows.push(next..next + count);
            next += count;
        }
        if next == particles.len() {
            return;
        }
        let halo = |column: usize, place: &mut dyn FnMut(Range<usize>, &[u64])| {
            for ((rows, words), &count) in self.rows.iter().zip(&arrived).zip(&counts) {
                place(rows.clone(), &words[column * count..(column + 1) * count]);
            }
        };
        let layout = Layout { owned: owned.clone(), padding: lower..start, rows: next };
        layout.spread(&mut particles.id, u64::MAX);
        halo(0, &mut |rows, words| particles.id[rows].copy_from_slice(words));
        layout.spread(&mut particles.key, own_keys.start);
        particles.key[behind].fill(own_keys.end.saturating_sub(1));
        halo(1, &mut |rows, words| particles.key[rows].copy_from_slice(words));
        let mut packed = 2;
        for (field, column) in particles.rebuild() {
            layout.spread(column, if field == Field::Position { f64::INFINITY } else { 0.0 });
            if field.of_halos() {
                halo(packed, &mut |rows, words| {
                    column[rows]
                        .iter_mut()
                        .zip(words)
                        .for_each(|(value, &word)| *value = f64::from_bits(word));
                });
                packed += 1;
            } else {
                column[..layout.padding.start].fill(0.0);
            }
        }
        particles.set_owned(owned);
    }

    /// Give the owners of halos what was summed for these, and show what other ranks summed for rows of this one, in the order of the
    /// ranks; `meanwhile` is done while that is on its way. Collective.
    pub fn give_back(
        &self,
        comm: &Communicator,
        columns: usize,
        sums: &SumsOf,
        meanwhile: impl FnOnce(),
        show: impl FnOnce(&[Returned]),
    ) {
        if comm.size() == 1 || self.send.is_empty() {
            meanwhile();
            return show(&[]);
        }
        let to: Vec<usize> = self.rows.iter().map(|rows| rows.len() * columns).collect();
        let from: Vec<usize> = self.send.iter().map(|rows| rows.len() * columns).collect();
        let write = |rank: usize, values: &mut [f64]| sums(self.rows[rank].start, values);
        let read = |values: &[&[f64]]| {
            let returned = self.send.iter().zip(values).map(|(rows, sums)| Returned { rows, sums });
            show(&returned.filter(|returned| !returned.rows.is_empty()).collect::<Vec<_>>());
        };
        comm.exchange_in_place((&to, write), (&from, read), meanwhile);
    }

    /// Copy fields of the owned rows into the halo rows of the other ranks; `meanwhile` is done while they are on their way,
    /// and must not look at halos.
    pub fn refresh(
        &self,
        comm: &Communicator,
        particles: &mut Particles,
        fields: &[Field],
        meanwhile: Option<&mut Meanwhile>,
    ) {
        if comm.size() == 1 || self.send.is_empty() {
            return;
        }
        let components: Vec<(Field, usize)> =
            fields.iter().flat_map(|&field| (0..field.components()).map(move |c| (field, c))).collect();
        let first = particles.owned().start;
        let to: Vec<usize> = self.send.iter().map(|rows| rows.len() * components.len()).collect();
        let from: Vec<usize> = self.rows.iter().map(|rows| rows.len() * components.len()).collect();
        // written, shown to others and read one after the other
        let particles = RefCell::new(particles);
        let write = |rank: usize, values: &mut [f64]| {
            let (particles, rows): (&Particles, _) = (&particles.borrow(), &self.send[rank]);
            let columns = values.par_chunks_exact_mut(rows.len()).zip(&components);
            columns.for_each(|(values, &(field, component))| {
                let column = &particles.component(field, component)[first..];
                values.iter_mut().zip(rows).for_each(|(value, &row)| *value = column[row as usize]);
            });
        };
        let read = |values: &[&[f64]]| {
            let mut particles = particles.borrow_mut();
            for (rows, values) in self.rows.iter().zip(values).filter(|(rows, _)| !rows.is_empty()) {
                for (values, &(field, component)) in values.chunks_exact(rows.len()).zip(&components) {
                    particles.component_mut(field, component)[rows.clone()].copy_from_slice(values);
                }
            }
        };
        comm.exchange_in_place((&to, write), (&from, read), || {
            if let Some(meanwhile) = meanwhile {
                meanwhile(&particles.borrow());
            }
        });
    }
}

/// Runs of super-clusters, of at least [`RUN`] each, that have none of these rows, of so many in all.
fn alone(some: &[Vec<u32>], rows: usize) -> Vec<Range<usize>> {
    let mut have = vec![false; rows.div_ceil(SUPER_CLUSTER)];
    some.iter().flatten().for_each(|&row| have[row as usize / SUPER_CLUSTER] = true);
    let mut begin = 0;
    let runs = have.chunk_by(|a, b| a == b).map(|run| {
        begin += run.len();
        (run, begin - run.len()..begin)
    });
    runs.filter(|(run, _)| !run[0] && run.len() >= RUN)
        .map(|(_, run)| run.start * SUPER_CLUSTER..rows.min(run.end * SUPER_CLUSTER))
        .collect()
}

/// Where rows go when halos come.
struct Layout {
    owned: Range<usize>,
    padding: Range<usize>,
    rows: usize,
}

impl Layout {
    /// Move a column of owned rows to its place and fill the padding and the halos behind; those before, which were owned rows, are
    /// to be overwritten.
    fn spread<T: Copy>(&self, column: &mut Vec<T>, ghost: T) {
        let owned = column.len();
        column.resize(self.rows, ghost);
        column.copy_within(..owned, self.owned.start);
        column[self.padding.clone()].fill(ghost);
    }
}

/// Remove all rows that are not owned.
pub(super) fn detach(particles: &mut Particles) {
    let owned = particles.owned();
    if owned.len() == particles.len() {
        return;
    }
    fn keep<T: Copy>(column: &mut Vec<T>, owned: &Range<usize>) {
        column.copy_within(owned.clone(), 0);
        column.truncate(owned.len());
    }
    keep(&mut particles.id, &owned);
    keep(&mut particles.key, &owned);
    particles.rebuild().for_each(|(_, column)| keep(column, &owned));
    particles.set_owned(0..owned.len());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::space::Vec3d;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn runs_without_some_rows_are_all_that_are_long_enough(
            rows in 0..3000usize,
            ranks in prop::collection::vec(prop::collection::btree_set(0..3000u32, 0..6), 0..4),
        ) {
            let of = |some: std::collections::BTreeSet<u32>| {
                some.into_iter().filter(|&row| (row as usize) < rows).collect::<Vec<_>>()
            };
            let some: Vec<Vec<u32>> = ranks.into_iter().map(of).collect();
            let runs = alone(&some, rows);
            let touched = |s: usize| some.iter().flatten().any(|&row| row as usize / SUPER_CLUSTER == s);
            let count = rows.div_ceil(SUPER_CLUSTER);
            for s in 0..count {
                // how far the super-clusters around it are untouched, too
                let before = (0..s).rev().take_while(|&s| !touched(s)).count();
                let behind = (s..count).take_while(|&s| !touched(s)).count();
                let long = !touched(s) && before + behind >= RUN;
                let members = s * SUPER_CLUSTER..rows.min((s + 1) * SUPER_CLUSTER);
                let within = runs.iter().filter(|run| run.start <= members.start && members.end <= run.end).count();
                let meets = runs.iter().filter(|run| run.start < members.end && members.start < run.end).count();
                prop_assert_eq!((within, meets), (usize::from(long), usize::from(long)), "{}", s);
            }
            prop_assert!(runs.windows(2).all(|two| two[0].end < two[1].start));
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
            let reached = rows.reached(0..points.len(), &boxes, &bx);
            for (row, reached) in reached.into_iter().enumerate() {
                let point = || Extent::of_row(rows.position, rows.radius, row);
                let expected = row < points.len() && boxes.iter().any(|theirs| may_interact(theirs, &point(), &bx));
                prop_assert_eq!(reached, expected, "row {}", row);
            }
        }
    }
}
