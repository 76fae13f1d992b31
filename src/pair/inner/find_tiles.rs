//! Finding the tiles of a list of clusters: per four rows the particles that any of them has in reach.

use super::found::{GEOMETRIES, bring};
use super::near::Near;
use super::{lift, nearest, repeat, spread, vector};
use crate::Result;
use crate::neighbors::{
    CLUSTER, ClusterList, ListRequest, Piece, SEGMENT, SUPER_CLUSTER, TILE, TILES, TileChunk, TileList,
    inner_clusters,
};
use crate::pair::aligned::Aligned;
use crate::pair::lane::{Instructions, Lanes, Scalar, Task, dispatch};
use crate::pair::pack::Packed;
use crate::pair::real::Real;
use fearless_simd::prelude::*;
use fearless_simd::{Simd, u16x8};
use rayon::prelude::*;
use std::ops::Range;

/// Lanes of the type T.
type R<T, S> = <T as Scalar>::Lanes<S>;

/// Words of the entries of a segment.
const WORDS: usize = (SEGMENT + 1) / u64::BITS as usize;

/// The tiles of those pairs within the largest radius of a request that a symmetric list has: all pairs of the request, if the list
/// was built with radii as much larger as two particles may have come closer since. The same bits on any number of threads.
///
/// # Errors
/// [`crate::Error::State`] when a periodic edge is less than twice the radius.
pub fn find_tiles(list: &ClusterList, request: &ListRequest) -> Result<TileList> {
    assert!(
        request.owned == list.owned() && request.symmetric && list.symmetric(),
        "tiles are of a half list, for the rows that it was built for"
    );
    let largest = request.radius.iter().copied().fold(0.0, f64::max);
    request.bx.check_reach(largest)?;
    // where single precision has room for squares; it leaves a margin for its rounding
    Ok(match Instructions::Best.have_single() && SQUARED.contains(&largest) {
        true => find::<f32>(list, request),
        false => find::<f64>(list, request),
    })
}

/// Lengths whose squares are far from the ends of single precision.
const SQUARED: Range<f64> = 1e-15..1e15;

fn find<T: Scalar>(list: &ClusterList, request: &ListRequest) -> TileList {
    let mut packed = Packed::<T>::of_positions(request.radius, request.bx);
    packed.pack_positions(request.position, request.radius, Instructions::Best);
    let super_clusters = list.super_clusters();
    let (pieces, chunks): (Vec<Piece>, Vec<TileChunk>) =
        (0..super_clusters.len().div_ceil(TileChunk::LENGTH))
            .into_par_iter()
            .map(|chunk| {
                let begin = super_clusters.start + chunk * TileChunk::LENGTH;
                let super_clusters = begin..super_clusters.end.min(begin + TileChunk::LENGTH);
                dispatch(Instructions::Best, Find { list, request, packed: &packed, super_clusters })
            })
            .unzip();
    let clusters = ClusterList::join(request.owned.clone(), true, request.coding, pieces);
    TileList::new(clusters, chunks)
}

/// A chunk of super-clusters whose tiles are to be found.
struct Find<'a, T> {
    list: &'a ClusterList,
    request: &'a ListRequest<'a>,
    packed: &'a Packed<T>,
    super_clusters: Range<usize>,
}

impl<T: Scalar> Task for Find<'_, T> {
    type Output = (Piece, TileChunk);
    type Scalar = T;

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> (Piece, TileChunk) {
        let (mut piece, mut chunk) = (Piece::default(), TileChunk::default());
        let inner = inner_clusters(&self.request.owned, self.request.id.len());
        let (mut near, mut offsets) = (Near::<T>::new(TILE), Aligned::new(0));
        let mut found = Found::new();
        let mut kept = Vec::new();
        for super_cluster in self.super_clusters {
            kept.clear();
            chunk.begin();
            let count = near.placed.decode(self.list, super_cluster);
            for first in (0..count).step_by(SEGMENT) {
                let entries = (first, count.min(first + SEGMENT));
                near.place(simd, self.packed, super_cluster, entries, true);
                bring::<T, S>(simd, self.packed, &near.placed, &mut offsets);
                let before = kept.len();
                found.number(&near, &mut kept);
                let behind = kept.len() - before;
                chunk.segment(&kept[before..]);
                for tile in 0..TILES {
                    let row = super_cluster * SUPER_CLUSTER + tile * TILE;
                    if self.request.owned.contains(&row) {
                        let entries = found.tile(simd, self.packed, row, &near, &offsets, behind);
                        chunk.tile(tile, entries);
                    } else {
                        chunk.tile(tile, &[]);
                    }
                }
            }
            piece.push(&kept, self.request.coding, &inner);
        }
        chunk.end();
        (piece, chunk)
    }
}

/// The particles that are found for a tile.
struct Found {
    /// Per entry of the segment how many before it are met by any row.
    numbers: [u16; WORDS * u64::BITS as usize],
    /// Their numbers, and room for a cluster more.
    entries: Vec<u16>,
    /// Per pattern of eight bits the places of those that are set.
    places: [[u16; CLUSTER]; 256],
}

impl Found {
    fn new() -> Self {
        let mut places = [[0; CLUSTER]; 256];
        for (bits, places) in places.iter_mut().enumerate() {
            let set = (0..CLUSTER as u16).filter(|place| bits >> place & 1 == 1);
            places.iter_mut().zip(set).for_each(|(place, set)| *place = set);
        }
        Found { numbers: [0; WORDS * u64::BITS as usize], entries: vec![0; (SEGMENT + 2) * CLUSTER], places }
    }

    /// Number the clusters of a segment that any row meets, and keep them.
    #[inline(always)]
    fn number<T: Scalar>(&mut self, near: &Near<T>, kept: &mut Vec<u32>) {
        let mut next = 0;
        for (word, mut met) in near.met_by_any().enumerate() {
            while met != 0 {
                let number = word * u64::BITS as usize + met.trailing_zeros() as usize;
                met &= met - 1;
                self.numbers[number] = next;
                next += 1;
                kept.push(near.placed.clusters[number]);
            }
        }
    }

    /// The particles that any of the four rows from `row` on has in reach, by the numbers of their clusters; then, up to a
    /// multiple of four, that of the first place behind all clusters.
    #[inline(always)]
    fn tile<T: Scalar, S: Simd>(
        &mut self,
        simd: S,
        packed: &Packed<T>,
        row: usize,
        near: &Near<T>,
        offsets: &[T],
        behind: usize,
    ) -> &[u16] {
        let (cluster, first) = (row / CLUSTER, row % CLUSTER);
        let rows = const { R::<T, S>::ROWS };
        let block = packed.block(cluster);
        // where the margin is in the unit of the bounds
        let reach = packed.largest + f64::from(near.margin) * packed.unit;
        let reach = R::<T, S>::literal(simd, reach * reach);
        let mut positions = [vector(|_| R::<T, S>::literal(simd, 0.0)); TILE];
        for (k, position) in positions.iter_mut().take(TILE / rows).enumerate() {
            *position = vector(
                #[inline(always)]
                |d| spread::<R<T, S>>(simd, block, d, first + k * rows),
            );
        }
        let itself = near.placed.itself(cluster);
        // those of its own cluster that follow the tile
        let following = (0xff_u64 << (first + TILE)) as u8;
        let offsets = offsets.as_chunks::<GEOMETRIES>().0;
        let mut count = 0;
        for (word, &entries) in near.met(cluster, first).iter().enumerate() {
            let mut left = entries;
            while left != 0 {
                let number = word * u64::BITS as usize + left.trailing_zeros() as usize;
                left &= left - 1;
                let other = vector(
                    #[inline(always)]
                    |d| repeat::<R<T, S>>(simd, &offsets[number], d),
                );
                let mut hits = 0;
                for position in &positions[..TILE / rows] {
                    let mut r = *position - other;
                    if near.placed.images && near.placed.is_ambiguous(number) {
                        r = nearest(r, lift(simd, packed.periods), lift(simd, packed.frequency));
                    }
                    hits |= R::<T, S>::bits(r.dot(r).less(reach));
                }
                let mut hits = (0..rows).fold(0, |any, row| any | (hits >> (row * CLUSTER)) as u8);
                if Some(number) == itself {
                    hits &= following;
                }
                let begin = u16x8::splat(simd, self.numbers[number] * CLUSTER as u16);
                let places = begin + u16x8::from_slice(simd, &self.places[hits as usize]);
                places.store_slice(&mut self.entries[count..count + CLUSTER]);
                count += hits.count_ones() as usize;
            }
        }
        let end = count.next_multiple_of(TILE);
        self.entries[count..end].fill((behind * CLUSTER) as u16);
        &self.entries[..end]
    }
}
