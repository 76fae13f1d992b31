//! Search of a tile list within a cluster list: per four rows, the particles within range of any of them.

use super::candidates::Candidates;
use super::neighbor_search::{ENTRY_GEOMETRY, load_geometry};
use super::{broadcast_rows, lift, minimum_image, repeat_rows, vec3_from_fn};
use crate::Result;
use crate::neighbors::{
    CLUSTER, ClusterList, ENTRY_SCALE, GROUP, ListRequest, Radii, RecordChunk, SEGMENT, SUPER_CLUSTER,
    Sections, TILE, TILES, TileChunk, TileList, inner_clusters,
};
use crate::pair::pack::PackedInput;
use crate::pair::scratch_pools::scratch_pools;
use crate::parallel::Aligned;
use crate::parallel::{map_items, split_range};
use crate::simd::real::Real;
use crate::simd::{Instructions, Lanes, Scalar, Task, dispatch};
use fearless_simd::prelude::*;
use fearless_simd::{Simd, u16x8};
use std::ops::Range;

/// Lanes with elements `T`.
type R<T, S> = <T as Scalar>::Lanes<S>;

/// Words of an entry mask of a segment.
const MASK_WORDS: usize = (SEGMENT + 1) / u64::BITS as usize;

/// Prunes tiles from a half list: its pairs within the largest radius of a request. All pairs of the request
/// are covered if the list was built with radii larger by as much as two particles may have approached since.
/// The result has the same bits for any number of threads. `recycled` provides memory.
///
/// # Errors
/// [`crate::Error::State`] if a periodic edge is less than twice the radius.
pub fn find_tiles(list: &ClusterList, request: &ListRequest, recycled: Option<TileList>) -> Result<TileList> {
    assert!(
        request.owned == list.owned()
            && request.symmetric
            && list.symmetric()
            && request.first_with_lower_halos.is_some() == list.shares_pairs(),
        "tiles are pruned from a half list, for the rows of its build"
    );
    let largest = Radii::Each(request.radius).largest();
    request.bx.check_reach(largest)?;
    // Single precision if squares of the radius fit; the search has a margin for rounding.
    Ok(match Instructions::Best.have_single() && SINGLE_RANGE.contains(&largest) {
        true => find_with_lanes::<f32>(list, request, recycled),
        false => find_with_lanes::<f64>(list, request, recycled),
    })
}

/// Lengths whose squares are well within the range of single precision.
const SINGLE_RANGE: Range<f64> = 1e-15..1e15;

fn find_with_lanes<T: Scalar>(
    list: &ClusterList,
    request: &ListRequest,
    recycled: Option<TileList>,
) -> TileList {
    let mut packed = PackedInput::<T>::of_positions(request.radius, request.bx);
    packed.pack_positions(request.position, request.radius, Instructions::Best);
    let sections = Sections::of(request.id.len());
    let recycled = recycled
        .into_iter()
        .flat_map(TileList::into_chunks)
        .chain(std::iter::repeat_with(TileChunk::default));
    let items = split_range(list.super_clusters(), TileChunk::LENGTH).into_iter().zip(recycled).collect();
    let found = map_items(items, |(super_clusters, recycled)| {
        dispatch(
            Instructions::Best,
            TileSearch { list, request, packed: &packed, sections, super_clusters, recycled },
        )
    });
    let (records, chunks): (Vec<RecordChunk>, Vec<TileChunk>) = found.into_iter().unzip();
    let clusters = ClusterList::join(request, records);
    TileList::new(clusters, sections, chunks)
}

/// Tile search of a chunk of super-clusters.
struct TileSearch<'a, T: 'static> {
    list: &'a ClusterList,
    request: &'a ListRequest<'a>,
    packed: &'a PackedInput<T>,
    sections: Sections,
    super_clusters: Range<usize>,
    /// Memory for the result.
    recycled: TileChunk,
}

impl<T: Scalar> Task for TileSearch<'_, T> {
    type Output = (RecordChunk, TileChunk);
    type Scalar = T;

    #[inline(always)]
    fn run<S: Simd>(mut self, simd: S) -> (RecordChunk, TileChunk) {
        let mut search = scratch_pools::<T>().searches.take();
        let TileSearchScratch { members, tile_entries, union, merged, records, chunk } = &mut *search;
        records.clear();
        chunk.clear();
        let inner = inner_clusters(&self.request.owned, self.request.id.len());
        for begin in self.super_clusters.clone().step_by(GROUP) {
            let group = begin..self.super_clusters.end.min(begin + GROUP);
            chunk.begin(group.len());
            let members = &mut members[..group.len()];
            for (member, super_cluster) in members.iter_mut().zip(group.clone()) {
                member.count = member.candidates.shifts.decode(self.list, super_cluster);
                member.kept_clusters.clear();
            }
            let few = members.iter().all(|member| member.count <= SEGMENT);
            let mut shared = few && group.len() > 1 && self.packed.fits_one_frame(group.clone(), true);
            if shared {
                union.clear();
                for (member, super_cluster) in members.iter_mut().zip(group.clone()) {
                    member.load(simd, self.packed, super_cluster, (0, member.count));
                    merge_sorted(union, &member.kept_clusters, merged);
                }
                shared = union.len() <= SEGMENT;
            }
            if shared {
                chunk.segment(0..group.len() as u8, true, union, self.sections);
                for (number, member) in members.iter_mut().enumerate() {
                    tile_entries.number(member, union);
                    self.tiles(simd, begin, number, member, tile_entries, chunk);
                }
            } else {
                for (number, member) in members.iter_mut().enumerate() {
                    self.own_segments(simd, begin, number, member, tile_entries, chunk);
                }
            }
            members
                .iter()
                .for_each(|member| records.push(&member.kept_clusters, self.request.coding, &inner));
        }
        chunk.end();
        // The result takes as much memory as it needs, and hardly more.
        let mut exact = std::mem::take(&mut self.recycled);
        exact.copy_from(chunk);
        (records.clone(), exact)
    }
}

impl<T: Scalar> TileSearch<'_, T> {
    /// Finds the segments of super-cluster `number` of the group that begins at super-cluster `begin`.
    #[inline(always)]
    fn own_segments<S: Simd>(
        &self,
        simd: S,
        begin: usize,
        number: usize,
        member: &mut Member<T>,
        tile_entries: &mut TileEntries,
        chunk: &mut TileChunk,
    ) {
        let mut kept_clusters = Vec::new();
        for first in (0..member.count).step_by(SEGMENT) {
            let entries = (first, member.count.min(first + SEGMENT));
            member.load(simd, self.packed, begin + number, entries);
            chunk.segment(number as u8..number as u8 + 1, first == 0, &member.kept_clusters, self.sections);
            let clusters = std::mem::take(&mut member.kept_clusters);
            tile_entries.number(member, &clusters);
            self.tiles(simd, begin, number, member, tile_entries, chunk);
            kept_clusters.extend_from_slice(&clusters);
        }
        member.kept_clusters = kept_clusters;
    }

    /// Adds the tiles of member `number` of a group to the last segment.
    #[inline(always)]
    fn tiles<S: Simd>(
        &self,
        simd: S,
        begin: usize,
        number: usize,
        member: &Member<T>,
        tile_entries: &mut TileEntries,
        chunk: &mut TileChunk,
    ) {
        for tile in number * TILES..(number + 1) * TILES {
            let row = begin * SUPER_CLUSTER + tile * TILE;
            if self.request.owned.contains(&row) {
                chunk.tile(
                    tile,
                    tile_entries.tile(simd, self.packed, row, &member.candidates, &member.offsets),
                );
            }
        }
    }
}

/// Scratch memory of a tile search.
pub struct TileSearchScratch<T> {
    members: [Member<T>; GROUP],
    tile_entries: TileEntries,
    /// Union of the members' clusters, and a buffer to merge into.
    union: Vec<u32>,
    merged: Vec<u32>,
    /// Results.
    records: RecordChunk,
    chunk: TileChunk,
}

impl<T: Scalar> Default for TileSearchScratch<T> {
    fn default() -> Self {
        let (records, chunk) = (RecordChunk::default(), TileChunk::default());
        let members = std::array::from_fn(|_| Member::new());
        TileSearchScratch {
            members,
            tile_entries: TileEntries::new(),
            union: Vec::new(),
            merged: Vec::new(),
            records,
            chunk,
        }
    }
}

/// A super-cluster of a group.
struct Member<T> {
    /// Number of entries in its list.
    count: usize,
    candidates: Candidates<T>,
    /// Geometry of the entries' particles.
    offsets: Aligned<T>,
    /// Entries that are candidates of any row, as indices within the processed ones.
    selected: Vec<u16>,
    /// Clusters of the selected entries.
    kept_clusters: Vec<u32>,
}

impl<T: Scalar> Member<T> {
    fn new() -> Self {
        Member {
            count: 0,
            candidates: Candidates::new(TILE),
            offsets: Aligned::new(0),
            selected: Vec::new(),
            kept_clusters: Vec::new(),
        }
    }

    /// Processes entries of the decoded list and selects the candidates.
    #[inline(always)]
    fn load<S: Simd>(
        &mut self,
        simd: S,
        packed: &PackedInput<T>,
        super_cluster: usize,
        entries: (usize, usize),
    ) {
        self.candidates.place(simd, packed, super_cluster, entries, true);
        load_geometry::<T, S>(simd, packed, &self.candidates.shifts, &mut self.offsets);
        self.selected.clear();
        self.selected.extend(self.candidates.any_candidates().map(|entry| entry as u16));
        self.kept_clusters.clear();
        let clusters = &self.candidates.shifts.clusters;
        self.kept_clusters.extend(self.selected.iter().map(|&entry| clusters[usize::from(entry)]));
    }
}

/// Merges sorted clusters into a sorted union.
fn merge_sorted(union: &mut Vec<u32>, more: &[u32], merged: &mut Vec<u32>) {
    if union.is_empty() {
        union.extend_from_slice(more);
        return;
    }
    merged.clear();
    let (mut own, mut other) = (union.iter().copied().peekable(), more.iter().copied().peekable());
    while let (Some(a), Some(b)) = (own.peek().copied(), other.peek().copied()) {
        merged.push(a.min(b));
        own.next_if(|cluster| *cluster <= b);
        other.next_if(|cluster| *cluster <= a);
    }
    merged.extend(own.chain(other));
    std::mem::swap(union, merged);
}

/// Entries of a tile.
struct TileEntries {
    /// Per selected entry of the list, the tile entry of its cluster's first particle.
    numbers: [u16; MASK_WORDS * u64::BITS as usize],
    /// Number of clusters in the segment; their number times 8 is the index of the padding particle.
    padding: usize,
    /// Tile entries, with space for one more cluster.
    entries: Vec<u16>,
}

/// Per 8-bit pattern, the positions of its set bits times [`ENTRY_SCALE`].
static SET_BITS: [[u16; CLUSTER]; 256] = {
    let mut places = [[0; CLUSTER]; 256];
    let mut bits = 0;
    while bits < places.len() {
        let (mut position, mut count) = (0, 0);
        while position < CLUSTER {
            if bits >> position & 1 == 1 {
                places[bits][count] = (position * ENTRY_SCALE) as u16;
                count += 1;
            }
            position += 1;
        }
        bits += 1;
    }
    places
};

impl TileEntries {
    fn new() -> Self {
        TileEntries {
            numbers: [0; MASK_WORDS * u64::BITS as usize],
            padding: 0,
            entries: vec![0; (SEGMENT + 2) * CLUSTER],
        }
    }

    /// Numbers the selected entries of a member by the positions of their clusters among the segment's sorted
    /// clusters.
    #[inline(always)]
    fn number<T: Scalar>(&mut self, member: &Member<T>, clusters: &[u32]) {
        self.padding = clusters.len();
        let mut position = 0;
        for &entry in &member.selected {
            let entry = usize::from(entry);
            while clusters[position] != member.candidates.shifts.clusters[entry] {
                position += 1;
            }
            self.numbers[entry] = (position * CLUSTER * ENTRY_SCALE) as u16;
        }
    }

    /// Entries of the particles within range of any of the four rows from `row` on, padded to a multiple of
    /// four with the index behind all clusters.
    #[inline(always)]
    fn tile<T: Scalar, S: Simd>(
        &mut self,
        simd: S,
        packed: &PackedInput<T>,
        row: usize,
        candidates: &Candidates<T>,
        offsets: &[T],
    ) -> &[u16] {
        let (cluster, first) = (row / CLUSTER, row % CLUSTER);
        let rows = const { R::<T, S>::ROWS };
        let block = packed.block(cluster);
        // The margin is in the unit of the bounds.
        let reach = packed.largest + f64::from(candidates.margin) * packed.unit;
        let reach = R::<T, S>::literal(simd, reach * reach);
        let mut positions = [vec3_from_fn(|_| R::<T, S>::literal(simd, 0.0)); TILE];
        for (k, position) in positions.iter_mut().take(TILE / rows).enumerate() {
            *position = vec3_from_fn(
                #[inline(always)]
                |d| broadcast_rows::<R<T, S>>(simd, block, d, first + k * rows),
            );
        }
        let self_entry = candidates.shifts.self_entry(cluster);
        // Particles of the tile's own cluster behind the tile.
        let following = (0xff_u64 << (first + TILE)) as u8;
        let offsets = offsets.as_chunks::<ENTRY_GEOMETRY>().0;
        let mut count = 0;
        for (word, &entries) in candidates.words(cluster, first).iter().enumerate() {
            let mut left = entries;
            while left != 0 {
                let number = word * u64::BITS as usize + left.trailing_zeros() as usize;
                left &= left - 1;
                let other = vec3_from_fn(
                    #[inline(always)]
                    |d| repeat_rows::<R<T, S>>(simd, &offsets[number], d),
                );
                let mut hits = 0;
                for position in &positions[..TILE / rows] {
                    let mut r = *position - other;
                    if candidates.shifts.needs_images && candidates.shifts.is_ambiguous(number) {
                        r = minimum_image(r, lift(simd, packed.periods), lift(simd, packed.frequency));
                    }
                    hits |= R::<T, S>::bits(r.dot(r).less(reach));
                }
                let mut hits = (0..rows).fold(0, |any, row| any | (hits >> (row * CLUSTER)) as u8);
                if Some(number) == self_entry {
                    hits &= following;
                }
                let begin = u16x8::splat(simd, self.numbers[number]);
                let places = begin + u16x8::from_slice(simd, &SET_BITS[hits as usize]);
                places.store_slice(&mut self.entries[count..count + CLUSTER]);
                count += hits.count_ones() as usize;
            }
        }
        let end = count.next_multiple_of(TILE);
        self.entries[count..end].fill((self.padding * CLUSTER * ENTRY_SCALE) as u16);
        &self.entries[..end]
    }
}
