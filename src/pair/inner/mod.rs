//! The inner loops, once for all laws: clusters against clusters over half lists, fours against particles over their tiles,
//! particles against the neighbors found in full lists, and particles against their own lists.

mod clusters;
mod find_tiles;
mod found;
mod gathered;
mod near;
mod particles;
mod placed;
mod segment;
mod stages;
mod tiles;

pub use find_tiles::{TileSearch, find_tiles};

use super::lane::{Lanes, Scalar, Task};
use super::law::{Columns, PairLaw, Parity, Reduction, Sum};
use super::pack::{Layout, Packed};
use super::real::Real;
use super::sums::ChunkSums;
use super::sweep::Chosen;
use super::vec3::Vec3;
use crate::neighbors::{CLUSTER, ClusterList, NeighborList, SUPER_CLUSTER};
use fearless_simd::Simd;
use std::ops::Range;

/// What all chunks of a sweep share.
pub struct Shared<'a, L, T: 'static> {
    /// The law.
    pub law: &'a L,
    /// Its packed input.
    pub packed: Packed<T>,
    /// The rows that the sweep is for.
    pub rows: Chosen,
    /// Rows this rank owns.
    pub owned: Range<usize>,
    /// Rows that are given what pairs of half lists give them: these or, where halos are given it for their owners, all.
    pub given: Range<usize>,
    /// Whether pairs of owned rows are listed once.
    pub symmetric: bool,
    /// Super-clusters whose rows are all owned.
    pub whole: Range<usize>,
    /// Whether the work of rows is counted.
    pub counted: bool,
}

/// Whether the sums of a super-cluster need rows that are not owned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Not: it is whole, and so are those of its neighbors.
    Inner,
    /// They may.
    Outer,
}

impl<L, T> Shared<'_, L, T> {
    /// The side of a super-cluster.
    #[inline(always)]
    pub fn side(&self, list: &ClusterList, super_cluster: usize) -> Side {
        match self.whole.contains(&super_cluster) && !list.reaches_out(super_cluster) {
            true => Side::Inner,
            false => Side::Outer,
        }
    }

    /// Whether a super-cluster is to be swept, on one side or on both.
    #[inline(always)]
    fn swept(&self, list: &ClusterList, side: Option<Side>, super_cluster: usize) -> bool {
        let first = super_cluster * SUPER_CLUSTER;
        self.rows.wanted(first..first + SUPER_CLUSTER)
            && side.is_none_or(|side| side == self.side(list, super_cluster))
    }
}

/// How a sweep of a law over a list wants its input.
pub fn layout<L: PairLaw>(list: &NeighborList) -> Layout {
    match list {
        NeighborList::Tiled(_) if tiles::serve::<L>() => Layout::records::<L>(),
        _ => Layout::Columns,
    }
}

/// A chunk of super-clusters to sweep.
pub struct Chunk<'s, 'a, L, T: 'static> {
    /// What the chunks share.
    pub shared: &'s Shared<'a, L, T>,
    /// The list.
    pub list: &'s NeighborList,
    /// Position columns.
    pub position: [&'s [f64]; 3],
    /// The chunk.
    pub super_clusters: Range<usize>,
    /// Those of the chunk that are swept, on lists of clusters; `None`: all.
    pub side: Option<Side>,
}

impl<L: PairLaw, T: Scalar> Task for Chunk<'_, '_, L, T> {
    type Output = ChunkSums<T>;
    type Scalar = T;

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> ChunkSums<T> {
        let touched = match self.shared.symmetric {
            true => 0..self.shared.given.end.div_ceil(SUPER_CLUSTER),
            false => self.super_clusters.clone(),
        };
        let swept = self.super_clusters.clone().filter(|&super_cluster| {
            self.list.clusters().is_none_or(|list| self.shared.swept(list, self.side, super_cluster))
        });
        // those over tiles have sums in another form
        let tiled = matches!(layout::<L>(self.list), Layout::Records(_));
        let blocks = if tiled { 0 } else { swept.count() };
        let mut sums = ChunkSums::new(L::SUMS, self.super_clusters.clone(), blocks, touched);
        if self.shared.counted {
            sums.count_work();
        }
        match self.list {
            NeighborList::Clustered(list) if self.shared.symmetric => {
                clusters::sums::<L, T, S>(simd, self.shared, list, self.side, &mut sums);
            }
            NeighborList::Clustered(list) => {
                gathered::sums::<L, T, S>(simd, self.shared, list, self.side, &mut sums);
            }
            NeighborList::Tiled(list) => {
                tiles::sums::<L, T, S>(simd, self.shared, list, self.side, &mut sums)
            }
            NeighborList::PerParticle(list) => {
                particles::sums::<L, T, S>(simd, self.shared, list, &self.position, &mut sums);
            }
        }
        sums
    }
}

/// Whether the second side of a pair must be evaluated by itself.
const fn two_sided(sums: &[Sum]) -> bool {
    let mut k = 0;
    while k < sums.len() {
        if matches!(sums[k].parity, Parity::Neither) {
            return true;
        }
        k += 1;
    }
    false
}

/// Whether what changes its sign is summed.
const fn odd_are_sums(sums: &[Sum]) -> bool {
    let mut k = 0;
    while k < sums.len() {
        if matches!(sums[k].parity, Parity::Odd) && !matches!(sums[k].reduction, Reduction::Sum) {
            return false;
        }
        k += 1;
    }
    true
}

/// The nearest image of each lane's separation; `periods` and `inverse` are 0 where open.
#[inline(always)]
fn nearest<R: Real>(r: Vec3<R>, periods: Vec3<R>, inverse: Vec3<R>) -> Vec3<R> {
    Vec3 {
        x: r.x - periods.x * (r.x * inverse.x).round(),
        y: r.y - periods.y * (r.y * inverse.y).round(),
        z: r.z - periods.z * (r.z * inverse.z).round(),
    }
}

/// The sums of no pair.
#[inline(always)]
fn nothing<L: PairLaw, R: Real>(token: R::Token) -> L::Sums<R> {
    L::Sums::<R>::from_columns(
        #[inline(always)]
        |c| R::literal(token, L::SUMS[c].reduction.identity()),
    )
}

/// What the lanes of a mask were given; of the others, what no pair gives.
#[inline(always)]
fn masked<L: PairLaw, R: Real>(token: R::Token, mask: R::Mask, given: L::Sums<R>) -> L::Sums<R> {
    given.zip(
        given,
        #[inline(always)]
        |c, given, _| R::select(mask, given, R::literal(token, L::SUMS[c].reduction.identity())),
    )
}

/// The totals with what the lanes of a mask were given.
#[inline(always)]
fn collected<L: PairLaw, R: Real>(mask: R::Mask, given: L::Sums<R>, totals: L::Sums<R>) -> L::Sums<R> {
    totals.zip(
        given,
        #[inline(always)]
        |c, total, value| R::select(mask, L::SUMS[c].reduction.join(total, value), total),
    )
}

/// Two totals as one.
#[inline(always)]
fn joined<L: PairLaw, R: Real>(totals: L::Sums<R>, more: L::Sums<R>) -> L::Sums<R> {
    totals.zip(
        more,
        #[inline(always)]
        |c, total, more| L::SUMS[c].reduction.join(total, more),
    )
}

/// What the pairs in a mask give to j, but for the sign of what is odd, which must be a sum: what they gave to i, or what
/// `second` evaluates where no symmetry tells.
#[inline(always)]
fn reaction<L: PairLaw, R: Real>(
    token: R::Token,
    mask: R::Mask,
    given: L::Sums<R>,
    second: impl FnOnce() -> L::Sums<R>,
) -> L::Sums<R> {
    const { assert!(odd_are_sums(L::SUMS), "what is odd under exchange can only be summed") };
    let own = if const { two_sided(L::SUMS) } { second() } else { given };
    let reaction = own.zip(
        given,
        #[inline(always)]
        |c, own, given| if L::SUMS[c].parity == Parity::Neither { own } else { given },
    );
    masked::<L, R>(token, mask, reaction)
}

/// A vector made component by component.
#[inline(always)]
fn vector<R>(component: impl Fn(usize) -> R) -> Vec3<R> {
    Vec3 { x: component(0), y: component(1), z: component(2) }
}

/// Lanes of a cluster's self pairs: each particle but itself, or those after it in half lists.
#[inline(always)]
fn self_pairs(first: usize, rows: usize, symmetric: bool) -> u64 {
    let mut bits = 0;
    for row in 0..rows {
        let i = first + row;
        let lanes: u64 = if symmetric { 0xfe << i } else { !(1 << i) };
        bits |= (lanes & 0xff) << (CLUSTER * row);
    }
    bits
}

/// One column of a block in every row: particles j.
#[inline(always)]
fn repeat<R: Lanes>(token: R::Token, block: &[R::Scalar], column: usize) -> R {
    R::repeat(token, &block[column * CLUSTER..][..CLUSTER])
}

/// One column of a block spread over a vector of rows from `first` on: particles i.
#[inline(always)]
fn spread<R: Lanes>(token: R::Token, block: &[R::Scalar], column: usize, first: usize) -> R {
    R::spread(token, &block[column * CLUSTER..][..CLUSTER], first)
}

/// A vector of scalars in every lane.
#[inline(always)]
fn lift<R: Real>(token: R::Token, values: [f64; 3]) -> Vec3<R> {
    Vec3 { x: values[0], y: values[1], z: values[2] }.lift(token)
}
