//! The inner loops of a sweep, generic over laws, by kind of list:
//! - [`tiles`]: half lists as tiles, four rows against single particles;
//! - [`clusters`]: half lists of laws that tiles do not support, clusters against clusters;
//! - [`gather`]: full lists, particles against the neighbors found in range;
//! - [`particles`]: per-particle lists;
//! - [`cells`]: cells of a grid, rows against the rows found in range in the cells around.

mod candidates;
mod cell_search;
mod cells;
mod cluster_shifts;
mod clusters;
mod find_tiles;
mod gather;
mod gathered;
mod neighbor_search;
mod particles;
mod pipeline;
mod segment;
mod tiles;

pub use find_tiles::{TileSearchScratch, find_tiles};
pub use tiles::supports_tiles;

use super::cell_input::CellInput;
use super::law::{Columns, PairLaw, Parity, Reduction, Sum};
use super::law_lanes::LawShape;
use super::pack::{Layout, PackedInput};
use super::sums::ChunkSums;
use super::sweep::ActiveRows;
use crate::neighbors::{CLUSTER, ClusterList, NeighborList, SUPER_CLUSTER};
use crate::simd::real::Real;
use crate::simd::vec3::Vec3;
use crate::simd::{Lanes, Scalar, Task};
use fearless_simd::Simd;
use std::ops::{Deref, Range};

/// Data shared by all chunks of a sweep.
pub struct SweepData<T: 'static> {
    /// Packed input of the law.
    pub packed: PackedInput<T>,
    /// Rows to evaluate and write.
    pub rows: ActiveRows,
    /// Owned rows.
    pub owned: Range<usize>,
    /// Rows whose reactions are used: the owned ones, or all if reactions on halos return to their owners.
    pub reaction_rows: Range<usize>,
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
    /// No: it and its listed super-clusters are wholly owned.
    Inner,
    /// Possibly.
    Outer,
}

impl<T> SweepData<T> {
    /// Side of a super-cluster.
    #[inline(always)]
    pub fn side(&self, list: &ClusterList, super_cluster: usize) -> Side {
        match self.whole.contains(&super_cluster) && !list.reaches_out(super_cluster) {
            true => Side::Inner,
            false => Side::Outer,
        }
    }

    /// Whether a super-cluster is swept, for one side or both.
    #[inline(always)]
    fn swept(&self, list: &ClusterList, side: Option<Side>, super_cluster: usize) -> bool {
        let first = super_cluster * SUPER_CLUSTER;
        self.rows.wanted(first..first + SUPER_CLUSTER)
            && side.is_none_or(|side| side == self.side(list, super_cluster))
    }
}

/// Sweep of a chunk of super-clusters.
pub struct Chunk<'s, T: 'static> {
    /// Data shared by all chunks.
    pub data: &'s SweepData<T>,
    /// The list.
    pub list: &'s NeighborList,
    /// Position columns.
    pub position: [&'s [f64]; 3],
    /// Super-clusters of the chunk.
    pub super_clusters: Range<usize>,
    /// Side to sweep, on cluster and tile lists; `None`: both.
    pub side: Option<Side>,
    /// Input in the order of the cells, if the list is of cells.
    pub cells: Option<&'s CellInput<T>>,
}

impl<T: Scalar> Chunk<'_, T> {
    /// Sums of a law with this shape, without pairs yet.
    fn new_sums(&self, law: &LawShape) -> ChunkSums<T> {
        let touched = match self.data.symmetric {
            true => 0..self.data.reaction_rows.end.div_ceil(SUPER_CLUSTER),
            false => self.super_clusters.clone(),
        };
        let swept = self.super_clusters.clone().filter(|&super_cluster| {
            self.list.clusters().is_none_or(|list| self.data.swept(list, self.side, super_cluster))
        });
        // Sweeps over tiles return records instead of blocks.
        let tiled = matches!(law.layout(self.list), Layout::Records(_));
        let blocks = if tiled { 0 } else { swept.count() };
        let mut sums = ChunkSums::new(law.sums, self.super_clusters.clone(), blocks, touched);
        if self.data.counted {
            sums.count_work();
        }
        sums
    }
}

/// The law of a sweep, with the data that all chunks share.
struct Shared<'a, L, T: 'static> {
    law: &'a L,
    data: &'a SweepData<T>,
}

impl<L, T> Deref for Shared<'_, L, T> {
    type Target = SweepData<T>;

    #[inline(always)]
    fn deref(&self) -> &SweepData<T> {
        self.data
    }
}

/// Task that sweeps a chunk with a law.
pub struct LawChunk<'s, L, T: 'static> {
    /// The law.
    pub law: &'s L,
    /// The chunk.
    pub chunk: Chunk<'s, T>,
}

impl<L: PairLaw, T: Scalar> Task for LawChunk<'_, L, T> {
    type Output = ChunkSums<T>;
    type Scalar = T;

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> ChunkSums<T> {
        let mut sums = self.chunk.new_sums(const { &LawShape::of::<L>() });
        let (shared, side) = (&Shared { law: self.law, data: self.chunk.data }, self.chunk.side);
        match self.chunk.list {
            NeighborList::Clustered(list) if !shared.symmetric => {
                gather::sums::<L, T, S>(simd, shared, list, side, &mut sums);
            }
            NeighborList::Clustered(list) => {
                half_clusters::<L, T, S>(simd, shared, list, side, &mut sums);
            }
            NeighborList::Tiled(list) => {
                if const { supports_tiles::<L>() } {
                    tiles::sums::<L, T, S>(simd, shared, list, side, &mut sums);
                } else {
                    half_clusters::<L, T, S>(simd, shared, list.clusters(), side, &mut sums);
                }
            }
            NeighborList::PerParticle(list) => {
                particles::sums::<L, T, S>(simd, shared, list, &self.chunk.position, &mut sums);
            }
            NeighborList::Cells(list) => {
                let Some(input) = self.chunk.cells else { unreachable!("sorted before") };
                cells::sums::<L, T, S>(simd, shared, list, input, &mut sums);
            }
        }
        sums
    }
}

/// Sweeps a half list of clusters, for laws that tiles do not support: the loop is not compiled for others.
#[inline(always)]
fn half_clusters<L: PairLaw, T: Scalar, S: Simd>(
    simd: S,
    shared: &Shared<L, T>,
    list: &ClusterList,
    side: Option<Side>,
    sums: &mut ChunkSums<T>,
) {
    if const { supports_tiles::<L>() } {
        unreachable!("checked before: half lists of this law are tiles");
    } else {
        clusters::sums::<L, T, S>(simd, shared, list, side, sums);
    }
}

/// Whether a pair must be evaluated for each of its particles.
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

/// Whether all odd columns are reduced by addition.
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

/// Minimum image of each lane's separation; `periods` and `inverse` are 0 if open.
#[inline(always)]
fn minimum_image<R: Real>(r: Vec3<R>, periods: Vec3<R>, inverse: Vec3<R>) -> Vec3<R> {
    Vec3 {
        x: r.x - periods.x * (r.x * inverse.x).round(),
        y: r.y - periods.y * (r.y * inverse.y).round(),
        z: r.z - periods.z * (r.z * inverse.z).round(),
    }
}

/// Sums of a particle without pairs.
#[inline(always)]
fn identity_sums<L: PairLaw, R: Real>(token: R::Token) -> L::Sums<R> {
    L::Sums::<R>::from_columns(
        #[inline(always)]
        |c| R::literal(token, L::SUMS[c].reduction.identity()),
    )
}

/// Contributions in the lanes of a mask, identities elsewhere.
#[inline(always)]
fn masked_sums<L: PairLaw, R: Real>(token: R::Token, mask: R::Mask, contribution: L::Sums<R>) -> L::Sums<R> {
    contribution.zip(
        contribution,
        #[inline(always)]
        |c, contribution, _| {
            R::select(mask, contribution, R::literal(token, L::SUMS[c].reduction.identity()))
        },
    )
}

/// Joins the contributions in the lanes of a mask with the totals.
#[inline(always)]
fn add_masked<L: PairLaw, R: Real>(
    mask: R::Mask,
    contribution: L::Sums<R>,
    totals: L::Sums<R>,
) -> L::Sums<R> {
    totals.zip(
        contribution,
        #[inline(always)]
        |c, total, value| R::select(mask, L::SUMS[c].reduction.join(total, value), total),
    )
}

/// Joins two totals.
#[inline(always)]
fn join_sums<L: PairLaw, R: Real>(totals: L::Sums<R>, more: L::Sums<R>) -> L::Sums<R> {
    totals.zip(
        more,
        #[inline(always)]
        |c, total, more| L::SUMS[c].reduction.join(total, more),
    )
}

/// Contributions to j of the pairs in a mask, except for the sign of odd columns, which must be sums: those
/// of i by symmetry, or `second` for columns without parity.
#[inline(always)]
fn reaction<L: PairLaw, R: Real>(
    token: R::Token,
    mask: R::Mask,
    contribution: L::Sums<R>,
    second: impl FnOnce() -> L::Sums<R>,
) -> L::Sums<R> {
    const { assert!(odd_are_sums(L::SUMS), "odd columns must be sums") };
    let own = if const { two_sided(L::SUMS) } { second() } else { contribution };
    let reaction = own.zip(
        contribution,
        #[inline(always)]
        |c, own, contribution| if L::SUMS[c].parity == Parity::Neither { own } else { contribution },
    );
    masked_sums::<L, R>(token, mask, reaction)
}

/// Creates a vector component by component.
#[inline(always)]
fn vec3_from_fn<R>(component: impl Fn(usize) -> R) -> Vec3<R> {
    Vec3 { x: component(0), y: component(1), z: component(2) }
}

/// Mask of the pairs of a cluster with itself: all but i with i or, on half lists, those with j behind i.
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

/// Column of a block, repeated in every row: particles j.
#[inline(always)]
fn repeat_rows<R: Lanes>(token: R::Token, block: &[R::Scalar], column: usize) -> R {
    R::repeat_rows(token, &block[column * CLUSTER..][..CLUSTER])
}

/// Column of a block, broadcast over the rows of a vector from row `first` on: particles i.
#[inline(always)]
fn broadcast_rows<R: Lanes>(token: R::Token, block: &[R::Scalar], column: usize, first: usize) -> R {
    R::broadcast_rows(token, &block[column * CLUSTER..][..CLUSTER], first)
}

/// Broadcasts a vector to lanes.
#[inline(always)]
fn lift<R: Real>(token: R::Token, values: [f64; 3]) -> Vec3<R> {
    Vec3 { x: values[0], y: values[1], z: values[2] }.lift(token)
}
