//! Finding the tiles of a list of clusters: per four rows the particles that any of them has in reach.

use super::found::{GEOMETRIES, bring};
use super::near::Near;
use super::{lift, nearest, repeat, spread, vector};
use crate::Result;
use crate::neighbors::{
    CLUSTER, ClusterList, GROUP, ListRequest, Piece, Radii, SEGMENT, SUPER_CLUSTER, Sections, TILE, TILES,
    TileChunk, TileList, VALUES, inner_clusters,
};
use crate::pair::aligned::Aligned;
use crate::pair::lane::{Instructions, Lanes, Scalar, Task, dispatch};
use crate::pair::pack::Packed;
use crate::pair::real::Real;
use crate::turns::{each, runs};
use fearless_simd::prelude::*;
use fearless_simd::{Simd, u16x8};
use std::ops::Range;

/// Lanes of the type T.
type R<T, S> = <T as Scalar>::Lanes<S>;

/// Words of the entries of a segment.
const WORDS: usize = (SEGMENT + 1) / u64::BITS as usize;

/// The tiles of those pairs within the largest radius of a request that a symmetric list has: all pairs of the request, if the list
/// was built with radii as much larger as two particles may have come closer since. The same bits on any number of threads. They take
/// the memory of tiles that are spent.
///
/// # Errors
/// [`crate::Error::State`] when a periodic edge is less than twice the radius.
pub fn find_tiles(list: &ClusterList, request: &ListRequest, spent: Option<TileList>) -> Result<TileList> {
    assert!(
        request.owned == list.owned()
            && request.symmetric
            && list.symmetric()
            && request.with_lower_from.is_some() == list.shares_pairs(),
        "tiles are of a half list, for the rows that it was built for"
    );
    let largest = Radii::Each(request.radius).largest();
    request.bx.check_reach(largest)?;
    // where single precision has room for squares; it leaves a margin for its rounding
    Ok(match Instructions::Best.have_single() && SQUARED.contains(&largest) {
        true => find::<f32>(list, request, spent),
        false => find::<f64>(list, request, spent),
    })
}

/// Lengths whose squares are far from the ends of single precision.
const SQUARED: Range<f64> = 1e-15..1e15;

fn find<T: Scalar>(list: &ClusterList, request: &ListRequest, spent: Option<TileList>) -> TileList {
    let mut packed = Packed::<T>::of_positions(request.radius, request.bx);
    packed.pack_positions(request.position, request.radius, Instructions::Best);
    let sections = Sections::of(request.id.len());
    let spent =
        spent.into_iter().flat_map(TileList::into_chunks).chain(std::iter::repeat_with(TileChunk::default));
    let items = runs(list.super_clusters(), TileChunk::LENGTH).into_iter().zip(spent).collect();
    let found = each(items, |(super_clusters, spent)| {
        dispatch(Instructions::Best, Find { list, request, packed: &packed, sections, super_clusters, spent })
    });
    let (pieces, chunks): (Vec<Piece>, Vec<TileChunk>) = found.into_iter().unzip();
    let clusters = ClusterList::join(request, pieces);
    TileList::new(clusters, sections, chunks)
}

/// A chunk of super-clusters whose tiles are to be found.
struct Find<'a, T: 'static> {
    list: &'a ClusterList,
    request: &'a ListRequest<'a>,
    packed: &'a Packed<T>,
    sections: Sections,
    super_clusters: Range<usize>,
    /// What it is to be left in.
    spent: TileChunk,
}

impl<T: Scalar> Task for Find<'_, T> {
    type Output = (Piece, TileChunk);
    type Scalar = T;

    #[inline(always)]
    fn run<S: Simd>(mut self, simd: S) -> (Piece, TileChunk) {
        let mut search = T::kept().searches.take();
        let TileSearch { members, found, union, room, piece, chunk } = &mut *search;
        piece.clear();
        chunk.clear();
        let inner = inner_clusters(&self.request.owned, self.request.id.len());
        for begin in self.super_clusters.clone().step_by(GROUP) {
            let group = begin..self.super_clusters.end.min(begin + GROUP);
            chunk.begin(group.len());
            let members = &mut members[..group.len()];
            for (member, super_cluster) in members.iter_mut().zip(group.clone()) {
                member.count = member.near.placed.decode(self.list, super_cluster);
                member.kept.clear();
            }
            let few = members.iter().all(|member| member.count <= SEGMENT);
            let mut joined = few && group.len() > 1 && self.packed.joinable(group.clone(), true);
            if joined {
                union.clear();
                for (member, super_cluster) in members.iter_mut().zip(group.clone()) {
                    member.place(simd, self.packed, super_cluster, (0, member.count));
                    unite(union, &member.kept, room);
                }
                joined = union.len() <= SEGMENT;
            }
            if joined {
                chunk.segment(0..group.len() as u8, true, union, self.sections);
                for (number, member) in members.iter_mut().enumerate() {
                    found.number(member, union);
                    self.tiles(simd, begin, number, member, found, chunk);
                }
            } else {
                for (number, member) in members.iter_mut().enumerate() {
                    self.own_segments(simd, begin, number, member, found, chunk);
                }
            }
            members.iter().for_each(|member| piece.push(&member.kept, self.request.coding, &inner));
        }
        chunk.end();
        // as long as they are, and hardly longer
        let mut left = std::mem::take(&mut self.spent);
        left.renew(chunk);
        (piece.clone(), left)
    }
}

impl<T: Scalar> Find<'_, T> {
    /// Segments of one super-cluster of the group that begins with another.
    #[inline(always)]
    fn own_segments<S: Simd>(
        &self,
        simd: S,
        begin: usize,
        number: usize,
        member: &mut Member<T>,
        found: &mut Found,
        chunk: &mut TileChunk,
    ) {
        let mut kept = Vec::new();
        for first in (0..member.count).step_by(SEGMENT) {
            let entries = (first, member.count.min(first + SEGMENT));
            member.place(simd, self.packed, begin + number, entries);
            chunk.segment(number as u8..number as u8 + 1, first == 0, &member.kept, self.sections);
            let clusters = std::mem::take(&mut member.kept);
            found.number(member, &clusters);
            self.tiles(simd, begin, number, member, found, chunk);
            kept.extend_from_slice(&clusters);
        }
        member.kept = kept;
    }

    /// Add the tiles of a member of a group to the last segment.
    #[inline(always)]
    fn tiles<S: Simd>(
        &self,
        simd: S,
        begin: usize,
        number: usize,
        member: &Member<T>,
        found: &mut Found,
        chunk: &mut TileChunk,
    ) {
        for tile in number * TILES..(number + 1) * TILES {
            let row = begin * SUPER_CLUSTER + tile * TILE;
            if self.request.owned.contains(&row) {
                chunk.tile(tile, found.tile(simd, self.packed, row, &member.near, &member.offsets));
            }
        }
    }
}

/// What a thread needs to find the tiles of a chunk; it stays for the next chunk.
pub struct TileSearch<T> {
    members: [Member<T>; GROUP],
    found: Found,
    /// Clusters of a group, and of what has been united of it.
    union: Vec<u32>,
    room: Vec<u32>,
    /// What is found.
    piece: Piece,
    chunk: TileChunk,
}

impl<T: Scalar> Default for TileSearch<T> {
    fn default() -> Self {
        let (piece, chunk) = (Piece::default(), TileChunk::default());
        let members = std::array::from_fn(|_| Member::new());
        TileSearch { members, found: Found::new(), union: Vec::new(), room: Vec::new(), piece, chunk }
    }
}

/// A super-cluster whose tiles are looked for.
struct Member<T> {
    /// Entries of its list.
    count: usize,
    near: Near<T>,
    /// Where the particles of the entries are.
    offsets: Aligned<T>,
    /// The entries that any of its rows meets, by their places among those looked at.
    met: Vec<u16>,
    /// Their clusters.
    kept: Vec<u32>,
}

impl<T: Scalar> Member<T> {
    fn new() -> Self {
        Member {
            count: 0,
            near: Near::new(TILE),
            offsets: Aligned::new(0),
            met: Vec::new(),
            kept: Vec::new(),
        }
    }

    /// Look at some entries of the decoded list.
    #[inline(always)]
    fn place<S: Simd>(&mut self, simd: S, packed: &Packed<T>, super_cluster: usize, entries: (usize, usize)) {
        self.near.place(simd, packed, super_cluster, entries, true);
        bring::<T, S>(simd, packed, &self.near.placed, &mut self.offsets);
        self.met.clear();
        self.met.extend(self.near.any_met().map(|entry| entry as u16));
        self.kept.clear();
        let clusters = &self.near.placed.clusters;
        self.kept.extend(self.met.iter().map(|&entry| clusters[usize::from(entry)]));
    }
}

/// Add sorted clusters to sorted clusters.
fn unite(union: &mut Vec<u32>, more: &[u32], room: &mut Vec<u32>) {
    if union.is_empty() {
        union.extend_from_slice(more);
        return;
    }
    room.clear();
    let (mut own, mut other) = (union.iter().copied().peekable(), more.iter().copied().peekable());
    while let (Some(a), Some(b)) = (own.peek().copied(), other.peek().copied()) {
        room.push(a.min(b));
        own.next_if(|cluster| *cluster <= b);
        other.next_if(|cluster| *cluster <= a);
    }
    room.extend(own.chain(other));
    std::mem::swap(union, room);
}

/// The particles that are found for a tile.
struct Found {
    /// Per entry that any row meets the entry of the first particle of its cluster in tiles.
    numbers: [u16; WORDS * u64::BITS as usize],
    /// The number behind all of the segment's clusters.
    behind: usize,
    /// Their numbers, and room for a cluster more.
    entries: Vec<u16>,
}

/// Per pattern of eight bits the places of those that are set, times [`VALUES`].
static PLACES: [[u16; CLUSTER]; 256] = {
    let mut places = [[0; CLUSTER]; 256];
    let mut bits = 0;
    while bits < places.len() {
        let (mut place, mut count) = (0, 0);
        while place < CLUSTER {
            if bits >> place & 1 == 1 {
                places[bits][count] = (place * VALUES) as u16;
                count += 1;
            }
            place += 1;
        }
        bits += 1;
    }
    places
};

impl Found {
    fn new() -> Self {
        Found {
            numbers: [0; WORDS * u64::BITS as usize],
            behind: 0,
            entries: vec![0; (SEGMENT + 2) * CLUSTER],
        }
    }

    /// Number the entries of a member that any of its rows meets by their places among sorted clusters.
    #[inline(always)]
    fn number<T: Scalar>(&mut self, member: &Member<T>, clusters: &[u32]) {
        self.behind = clusters.len();
        let mut place = 0;
        for &entry in &member.met {
            let entry = usize::from(entry);
            while clusters[place] != member.near.placed.clusters[entry] {
                place += 1;
            }
            self.numbers[entry] = (place * CLUSTER * VALUES) as u16;
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
                let begin = u16x8::splat(simd, self.numbers[number]);
                let places = begin + u16x8::from_slice(simd, &PLACES[hits as usize]);
                places.store_slice(&mut self.entries[count..count + CLUSTER]);
                count += hits.count_ones() as usize;
            }
        }
        let end = count.next_multiple_of(TILE);
        self.entries[count..end].fill((self.behind * CLUSTER * VALUES) as u16);
        &self.entries[..end]
    }
}
