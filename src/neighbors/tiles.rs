//! Tile lists: a half list as tiles of four rows and the single particles within range of any of them.
//!
//! A tile list is an inner list: it is pruned from an outer cluster list (dual pair list of Pall et al. 2020,
//! J. Chem. Phys. 153, 134110). It has few pairs out of range and takes about two bytes per pair of rows.

use super::{CLUSTER, ClusterList, ListBytes, SUPER_CLUSTER, SectionMask, Sections};
use std::ops::Range;

/// Rows of a tile.
pub const TILE: usize = 4;

/// Tiles of a super-cluster.
pub const TILES: usize = SUPER_CLUSTER / TILE;

/// Super-clusters in a group, which share a segment if possible. More of them would load fewer clusters per
/// super-cluster; the working set of four still fits the nearest caches.
pub const GROUP: usize = 4;

/// Maximum number of clusters in a segment: their data and a padding particle fit the second-level cache.
pub const SEGMENT: usize = 255;

/// Per four rows i, the particles j within range of any of them.
///
/// Pairs within the four rows have no entry: every sweep evaluates them. All other pairs of the request are
/// in exactly one entry, as they are in the cluster list.
#[derive(Clone, Debug)]
pub struct TileList {
    clusters: ClusterList,
    /// Partition of all rows.
    sections: Sections,
    /// Chunks of [`TileChunk::LENGTH`] super-clusters each.
    chunks: Vec<TileChunk>,
}

/// Tiles of consecutive super-clusters, in groups of [`GROUP`].
#[derive(Clone, Debug, Default)]
pub(crate) struct TileChunk {
    /// Offset of each group's segments; one more than groups.
    segment_begins: Vec<u32>,
    /// Per group, the sections of its clusters.
    section_bits: Vec<u64>,
    segments: Vec<Segment>,
    clusters: Vec<u32>,
    /// Per super-cluster, the number of words of its tiles' entries.
    words: Vec<u32>,
    /// Four entries per word, the first in the lowest bits: processors have more units that extract from a
    /// word than from a vector.
    entries: Vec<u64>,
}

/// Tiles of a group's super-clusters, or of one of them, against the particles of some clusters.
#[derive(Clone, Debug)]
struct Segment {
    /// Super-clusters of the group that the segment is for.
    members: Range<u8>,
    /// Whether it is the first segment of these.
    first: bool,
    /// Offset and number of its clusters.
    first_cluster: u32,
    clusters: u16,
    /// Offset of each tile's words relative to `begin`, and the end of the last one.
    words: [u16; GROUP * TILES + 1],
    begin: u32,
}

/// View of a segment for sweeps.
#[derive(Clone, Copy)]
pub(crate) struct TileSegment<'a> {
    /// Super-clusters of the group that its rows are from.
    pub members: &'a Range<u8>,
    /// Whether the sweep evaluates the pairs within four rows in this segment.
    pub first: bool,
    /// Clusters of the particles j.
    pub clusters: &'a [u32],
    words: &'a [u16; GROUP * TILES + 1],
    entries: &'a [u64],
}

impl<'a> TileSegment<'a> {
    /// Entries of a tile of the group, four per word.
    #[inline(always)]
    pub fn entries(&self, tile: usize) -> &'a [u64] {
        &self.entries[self.words[tile] as usize..self.words[tile + 1] as usize]
    }
}

/// Factor between a particle's index and its entry, which then is the offset of a record's first quad without
/// further instructions.
pub const ENTRY_SCALE: usize = 4;

/// Exclusive upper bound of entries.
pub const ENTRIES: usize = CLUSTER * (SEGMENT + 1) * ENTRY_SCALE;

const _: () = assert!(ENTRIES <= 1 << u16::BITS, "an entry has sixteen bits");

/// Unpacks the entries of a word. An entry is [`ENTRY_SCALE`] times the particle's index: eight times the
/// index of its cluster in the segment plus its lane. The last entries of a tile may be padding: the index
/// behind all clusters.
#[inline(always)]
pub(crate) fn unpack_entries(word: u64) -> [usize; TILE] {
    let entry = |k: u32| usize::from((word >> (u16::BITS * k)) as u16);
    [entry(0), entry(1), entry(2), entry(3)]
}

const _: () = assert!(TileChunk::LENGTH.is_multiple_of(GROUP), "a group is in one chunk");

/// Groups of a chunk, except the last one.
const GROUPS: usize = TileChunk::LENGTH / GROUP;

impl TileChunk {
    /// Super-clusters of a chunk, except the last one: whole groups, and few enough that threads finish
    /// together.
    pub const LENGTH: usize = 8;

    /// Removes everything and keeps the memory.
    pub fn clear(&mut self) {
        self.segment_begins.clear();
        self.section_bits.clear();
        self.segments.clear();
        self.clusters.clear();
        self.words.clear();
        self.entries.clear();
    }

    /// Becomes a copy of `other`. Reuses the own memory if it is large enough and not much larger.
    pub fn copy_from(&mut self, other: &TileChunk) {
        copy_from(&mut self.segment_begins, &other.segment_begins);
        copy_from(&mut self.section_bits, &other.section_bits);
        copy_from(&mut self.segments, &other.segments);
        copy_from(&mut self.clusters, &other.clusters);
        copy_from(&mut self.words, &other.words);
        copy_from(&mut self.entries, &other.entries);
    }

    /// Begins a group of `super_clusters`.
    pub fn begin(&mut self, super_clusters: usize) {
        self.segment_begins.push(self.segments.len() as u32);
        self.section_bits.push(0);
        self.words.resize(self.words.len() + super_clusters, 0);
    }

    /// Appends a segment of these clusters for some super-clusters of the group; [`Self::tile`] then adds its
    /// entries. `first` is whether it is the first segment of these super-clusters.
    pub fn segment(&mut self, members: Range<u8>, first: bool, clusters: &[u32], sections: Sections) {
        let bits = clusters.iter().fold(0, |bits, &cluster| bits | sections.of_cluster(cluster as usize));
        self.section_bits.last_mut().into_iter().for_each(|of_group| *of_group |= bits);
        let first_cluster = self.clusters.len() as u32;
        self.clusters.extend_from_slice(clusters);
        let (clusters, begin) = (clusters.len() as u16, self.entries.len() as u32);
        let words = [0; GROUP * TILES + 1];
        self.segments.push(Segment { members, first, first_cluster, clusters, words, begin });
    }

    /// Adds the entries, a multiple of four, of a tile of the group to the last segment. Tiles come in order;
    /// omitted tiles have no entries.
    #[inline(always)]
    pub fn tile(&mut self, tile: usize, entries: &[u16]) {
        let word = |entries: &[u16; TILE]| {
            entries.iter().rev().fold(0, |word, entry| word << u16::BITS | u64::from(*entry))
        };
        self.entries.extend(entries.as_chunks().0.iter().map(word));
        self.words[(self.segment_begins.len() - 1) * GROUP + tile / TILES] += (entries.len() / TILE) as u32;
        if let Some(segment) = self.segments.last_mut() {
            segment.words[tile + 1..].fill((self.entries.len() - segment.begin as usize) as u16);
        }
    }

    /// Ends the last group.
    pub fn end(&mut self) {
        self.segment_begins.push(self.segments.len() as u32);
    }
}

/// Copies `others`; keeps the allocation if its capacity exceeds the need by at most a quarter.
fn copy_from<T: Clone>(values: &mut Vec<T>, others: &[T]) {
    let enough = others.len()..=others.len() + others.len() / 4;
    if !enough.contains(&values.capacity()) {
        *values = Vec::with_capacity(others.len());
    }
    values.clear();
    values.extend_from_slice(others);
}

impl TileList {
    /// The chunks, for reuse of their memory.
    pub(crate) fn into_chunks(self) -> Vec<TileChunk> {
        self.chunks
    }

    /// A list of these clusters and tiles.
    pub(crate) fn new(clusters: ClusterList, sections: Sections, chunks: Vec<TileChunk>) -> Self {
        TileList { clusters, sections, chunks }
    }

    /// Clusters of the entries' particles. As a cluster list they cover all pairs.
    pub fn clusters(&self) -> &ClusterList {
        &self.clusters
    }

    /// Groups that overlap these super-clusters, which are in the list.
    pub(crate) fn groups(&self, super_clusters: Range<usize>) -> Range<usize> {
        let first = self.clusters.super_clusters().start;
        (super_clusters.start - first) / GROUP..(super_clusters.end - first).div_ceil(GROUP)
    }

    /// Conservative mask of the sections that some super-clusters list, their own rows included.
    pub(crate) fn section_mask(&self, super_clusters: Range<usize>) -> SectionMask {
        // Pairs within four rows are in no segment.
        let own = super_clusters.start * SUPER_CLUSTER..super_clusters.end * SUPER_CLUSTER;
        let own = self.sections.of_rows(own.start..own.end.min(self.owned().end));
        let bits_of = |group: usize| self.chunks[group / GROUPS].section_bits[group % GROUPS];
        let bits = self.groups(super_clusters).fold(own, |bits, group| bits | bits_of(group));
        SectionMask { sections: self.sections, bits }
    }

    /// Super-clusters of a group.
    pub(crate) fn members(&self, group: usize) -> Range<usize> {
        let all = self.clusters.super_clusters();
        let begin = all.start + group * GROUP;
        begin..all.end.min(begin + GROUP)
    }

    /// Segments of a group.
    #[inline(always)]
    pub(crate) fn segments(&self, group: usize) -> impl Iterator<Item = TileSegment<'_>> {
        let chunk = &self.chunks[group / GROUPS];
        let range =
            chunk.segment_begins[group % GROUPS] as usize..chunk.segment_begins[group % GROUPS + 1] as usize;
        chunk.segments[range].iter().map(move |segment| {
            let first = segment.first_cluster as usize;
            let clusters = &chunk.clusters[first..first + segment.clusters as usize];
            let entries =
                segment.begin as usize..segment.begin as usize + segment.words[GROUP * TILES] as usize;
            TileSegment {
                members: &segment.members,
                first: segment.first,
                clusters,
                words: &segment.words,
                entries: &chunk.entries[entries],
            }
        })
    }

    /// Number of words of the entries of a super-cluster's tiles.
    pub(crate) fn words(&self, super_cluster: usize) -> usize {
        let place = super_cluster - self.clusters.super_clusters().start;
        self.chunks[place / TileChunk::LENGTH].words[place % TileChunk::LENGTH] as usize
    }

    /// Passes every pair of rows (i, j) that the list covers to `take`, pairs within four rows included.
    pub fn pairs(&self, mut take: impl FnMut(usize, usize)) {
        for group in self.groups(self.clusters.super_clusters()) {
            let begin = self.members(group).start * SUPER_CLUSTER;
            for tiles in self.segments(group) {
                for tile in tiles.members.start as usize * TILES..tiles.members.end as usize * TILES {
                    let rows = begin + tile * TILE..begin + (tile + 1) * TILE;
                    if tiles.first {
                        rows.clone().for_each(|i| (i + 1..rows.end).for_each(|j| take(i, j)));
                    }
                    for entry in tiles.entries(tile).iter().copied().flat_map(unpack_entries) {
                        let index = entry / ENTRY_SCALE;
                        if let Some(cluster) = tiles.clusters.get(index / CLUSTER) {
                            let j = *cluster as usize * CLUSTER + index % CLUSTER;
                            rows.clone().for_each(|i| take(i, j));
                        }
                    }
                }
            }
        }
    }

    /// Number of segments shared by several super-clusters.
    pub fn shared_segments(&self) -> usize {
        self.chunks
            .iter()
            .flat_map(|chunk| &chunk.segments)
            .filter(|segment| segment.members.len() > 1)
            .count()
    }

    /// Rows whose neighbors are listed.
    pub fn owned(&self) -> Range<usize> {
        self.clusters.owned()
    }

    /// Memory of the list.
    pub fn bytes(&self) -> ListBytes {
        let ListBytes { indices, offsets } = self.clusters.bytes();
        let of = |chunk: &TileChunk| size_of_val(&chunk.entries[..]) + size_of_val(&chunk.clusters[..]);
        let entries: usize = self.chunks.iter().map(of).sum();
        let of = |chunk: &TileChunk| {
            let offsets = size_of_val(&chunk.segment_begins[..])
                + size_of_val(&chunk.section_bits[..])
                + size_of_val(&chunk.words[..]);
            offsets + size_of_val(&chunk.segments[..])
        };
        let offset_bytes: usize = self.chunks.iter().map(of).sum();
        ListBytes { indices: indices + entries as u64, offsets: offsets + offset_bytes as u64 }
    }
}
