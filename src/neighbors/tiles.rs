//! Pairs one by one: what a half list of clusters holds within a smaller radius, as tiles of four rows and single particles.
//!
//! Like the inner of two lists of Pall et al. 2020, J. Chem. Phys. 153, 134110, it is found from an outer list again and
//! again. It holds few pairs out of range, and takes more memory: some two bytes a pair of rows.

use super::{CLUSTER, ClusterList, ListBytes, Listed, SUPER_CLUSTER, Sections};
use std::ops::Range;

/// Rows of a tile.
pub const TILE: usize = 4;

/// Tiles of a super-cluster's rows.
pub const TILES: usize = SUPER_CLUSTER / TILE;

/// Super-clusters that share a segment where they can: the more, the fewer clusters are brought near for each; what a sweep needs of
/// those of four still stays in the nearest caches.
pub const GROUP: usize = 4;

/// Clusters that a segment numbers, at most: what a sweep needs of them stays in the second cache, with one for particles that
/// are none.
pub const SEGMENT: usize = 255;

/// Per four rows i the particles j that any of them has within reach.
///
/// Pairs within the four rows are in no entry: whoever walks the list lets these meet each other. All other pairs of the request
/// that the list was found for are in an entry exactly once, as they are in the list of the clusters.
#[derive(Clone, Debug)]
pub struct TileList {
    clusters: ClusterList,
    /// The sections of all rows.
    sections: Sections,
    /// Of [`TileChunk::LENGTH`] super-clusters each.
    chunks: Vec<TileChunk>,
}

/// The tiles of some consecutive super-clusters, by groups of [`GROUP`].
#[derive(Clone, Debug, Default)]
pub(crate) struct TileChunk {
    /// Where the segments of each group begin; one more than groups.
    begins: Vec<u32>,
    /// In which sections of all rows the clusters of each group are.
    named: Vec<u64>,
    segments: Vec<Segment>,
    clusters: Vec<u32>,
    /// Words of the entries of each super-cluster's tiles.
    words: Vec<u32>,
    /// Four at a time, the first in the lowest bits: processors have more units to take apart a word than a vector.
    entries: Vec<u64>,
}

/// The tiles of rows of a group's super-clusters, or of one of them, with the particles of some clusters.
#[derive(Clone, Debug)]
struct Segment {
    /// Which of the group's super-clusters.
    members: Range<u8>,
    /// Whether none before it is of these.
    first: bool,
    /// Where its clusters begin, and how many there are.
    first_cluster: u32,
    clusters: u16,
    /// Where each tile's words begin, from `begin` on; and where the last one's end.
    words: [u16; GROUP * TILES + 1],
    begin: u32,
}

/// A segment as a sweep needs it.
#[derive(Clone, Copy)]
pub(crate) struct Tiles<'a> {
    /// Which of the group's super-clusters its rows are of.
    pub members: &'a Range<u8>,
    /// Whether pairs within four rows of these are still to be met.
    pub first: bool,
    /// Its clusters.
    pub clusters: &'a [u32],
    words: &'a [u16; GROUP * TILES + 1],
    entries: &'a [u64],
}

impl<'a> Tiles<'a> {
    /// The entries of a tile of the group, four a word.
    #[inline(always)]
    pub fn entries(&self, tile: usize) -> &'a [u64] {
        &self.entries[self.words[tile] as usize..self.words[tile + 1] as usize]
    }
}

/// What the place of a particle is multiplied by in an entry: then it is the place of the first of four values, and processors need no
/// instruction for it.
pub const VALUES: usize = 4;

/// All entries are less.
pub const ENTRIES: usize = CLUSTER * (SEGMENT + 1) * VALUES;

const _: () = assert!(ENTRIES <= 1 << u16::BITS, "an entry has sixteen bits");

/// The entries of a word: [`VALUES`] times the place of a particle, which is that of its cluster in the segment times eight and its own
/// in that. The last ones of a tile may be the first place behind all clusters.
#[inline(always)]
pub(crate) fn four(word: u64) -> [usize; TILE] {
    let entry = |k: u32| usize::from((word >> (u16::BITS * k)) as u16);
    [entry(0), entry(1), entry(2), entry(3)]
}

const _: () = assert!(TileChunk::LENGTH.is_multiple_of(GROUP), "a group is in one chunk");

/// Groups of a chunk, but for the last.
const GROUPS: usize = TileChunk::LENGTH / GROUP;

impl TileChunk {
    /// Super-clusters of a chunk, but for the last: whole groups, and few enough that no thread waits long for the last one.
    pub const LENGTH: usize = 8;

    /// Forget all, but not the memory.
    pub fn clear(&mut self) {
        self.begins.clear();
        self.named.clear();
        self.segments.clear();
        self.clusters.clear();
        self.words.clear();
        self.entries.clear();
    }

    /// Become another one, in the own memory where that is as large as it must be and not much larger.
    pub fn renew(&mut self, other: &TileChunk) {
        renew(&mut self.begins, &other.begins);
        renew(&mut self.named, &other.named);
        renew(&mut self.segments, &other.segments);
        renew(&mut self.clusters, &other.clusters);
        renew(&mut self.words, &other.words);
        renew(&mut self.entries, &other.entries);
    }

    /// Begin a group of so many super-clusters.
    pub fn begin(&mut self, super_clusters: usize) {
        self.begins.push(self.segments.len() as u32);
        self.named.push(0);
        self.words.resize(self.words.len() + super_clusters, 0);
    }

    /// Add a segment of these clusters for some of the group's super-clusters, to the tiles of which entries are then added; `first`
    /// if none before it was for these.
    pub fn segment(&mut self, members: Range<u8>, first: bool, clusters: &[u32], sections: Sections) {
        let named = clusters.iter().fold(0, |named, &cluster| named | sections.of_cluster(cluster as usize));
        self.named.last_mut().into_iter().for_each(|of_group| *of_group |= named);
        let first_cluster = self.clusters.len() as u32;
        self.clusters.extend_from_slice(clusters);
        let (clusters, begin) = (clusters.len() as u16, self.entries.len() as u32);
        let words = [0; GROUP * TILES + 1];
        self.segments.push(Segment { members, first, first_cluster, clusters, words, begin });
    }

    /// Add the entries of the last segment's tile of the group, whose number is a multiple of four; tiles come in order, and those that
    /// do not come have none.
    #[inline(always)]
    pub fn tile(&mut self, tile: usize, entries: &[u16]) {
        let word = |four: &[u16; TILE]| {
            four.iter().rev().fold(0, |word, entry| word << u16::BITS | u64::from(*entry))
        };
        self.entries.extend(entries.as_chunks().0.iter().map(word));
        self.words[(self.begins.len() - 1) * GROUP + tile / TILES] += (entries.len() / TILE) as u32;
        if let Some(segment) = self.segments.last_mut() {
            segment.words[tile + 1..].fill((self.entries.len() - segment.begin as usize) as u16);
        }
    }

    /// No more.
    pub fn end(&mut self) {
        self.begins.push(self.segments.len() as u32);
    }
}

/// Make values those of others.
fn renew<T: Clone>(values: &mut Vec<T>, others: &[T]) {
    let enough = others.len()..=others.len() + others.len() / 4;
    if !enough.contains(&values.capacity()) {
        *values = Vec::with_capacity(others.len());
    }
    values.clear();
    values.extend_from_slice(others);
}

impl TileList {
    /// Its tiles, for their memory.
    pub(crate) fn into_chunks(self) -> Vec<TileChunk> {
        self.chunks
    }

    /// The list of these clusters and tiles.
    pub(crate) fn new(clusters: ClusterList, sections: Sections, chunks: Vec<TileChunk>) -> Self {
        TileList { clusters, sections, chunks }
    }

    /// The clusters that hold the particles of the entries; with the list's own rules they have all its pairs.
    pub fn clusters(&self) -> &ClusterList {
        &self.clusters
    }

    /// The groups that have some of these super-clusters, of those that the list has.
    pub(crate) fn groups(&self, super_clusters: Range<usize>) -> Range<usize> {
        let first = self.clusters.super_clusters().start;
        (super_clusters.start - first) / GROUP..(super_clusters.end - first).div_ceil(GROUP)
    }

    /// What some super-clusters list, their own rows included.
    pub(crate) fn listed(&self, super_clusters: Range<usize>) -> Listed {
        // pairs within four rows are in no segment
        let own = super_clusters.start * SUPER_CLUSTER..super_clusters.end * SUPER_CLUSTER;
        let own = self.sections.of_rows(own.start..own.end.min(self.owned().end));
        let named = |group: usize| self.chunks[group / GROUPS].named[group % GROUPS];
        let bits = self.groups(super_clusters).fold(own, |bits, group| bits | named(group));
        Listed { sections: self.sections, bits }
    }

    /// The super-clusters of a group.
    pub(crate) fn members(&self, group: usize) -> Range<usize> {
        let all = self.clusters.super_clusters();
        let begin = all.start + group * GROUP;
        begin..all.end.min(begin + GROUP)
    }

    /// The segments of a group.
    #[inline(always)]
    pub(crate) fn segments(&self, group: usize) -> impl Iterator<Item = Tiles<'_>> {
        let chunk = &self.chunks[group / GROUPS];
        let range = chunk.begins[group % GROUPS] as usize..chunk.begins[group % GROUPS + 1] as usize;
        chunk.segments[range].iter().map(move |segment| {
            let first = segment.first_cluster as usize;
            let clusters = &chunk.clusters[first..first + segment.clusters as usize];
            let entries =
                segment.begin as usize..segment.begin as usize + segment.words[GROUP * TILES] as usize;
            Tiles {
                members: &segment.members,
                first: segment.first,
                clusters,
                words: &segment.words,
                entries: &chunk.entries[entries],
            }
        })
    }

    /// Words of the entries of a super-cluster's tiles.
    pub(crate) fn words(&self, super_cluster: usize) -> usize {
        let place = super_cluster - self.clusters.super_clusters().start;
        self.chunks[place / TileChunk::LENGTH].words[place % TileChunk::LENGTH] as usize
    }

    /// Every pair of rows that the list lets meet, pairs within four rows included: rows i, rows j, of so many rows.
    pub fn pairs(&self, mut take: impl FnMut(usize, usize)) {
        for group in self.groups(self.clusters.super_clusters()) {
            let begin = self.members(group).start * SUPER_CLUSTER;
            for tiles in self.segments(group) {
                for tile in tiles.members.start as usize * TILES..tiles.members.end as usize * TILES {
                    let rows = begin + tile * TILE..begin + (tile + 1) * TILE;
                    if tiles.first {
                        rows.clone().for_each(|i| (i + 1..rows.end).for_each(|j| take(i, j)));
                    }
                    for entry in tiles.entries(tile).iter().copied().flat_map(four) {
                        let place = entry / VALUES;
                        if let Some(cluster) = tiles.clusters.get(place / CLUSTER) {
                            let j = *cluster as usize * CLUSTER + place % CLUSTER;
                            rows.clone().for_each(|i| take(i, j));
                        }
                    }
                }
            }
        }
    }

    /// Segments that several super-clusters share.
    pub fn shared_segments(&self) -> usize {
        self.chunks
            .iter()
            .flat_map(|chunk| &chunk.segments)
            .filter(|segment| segment.members.len() > 1)
            .count()
    }

    /// The rows whose neighbors are listed.
    pub fn owned(&self) -> Range<usize> {
        self.clusters.owned()
    }

    /// The memory of the list.
    pub fn bytes(&self) -> ListBytes {
        let ListBytes { indices, offsets } = self.clusters.bytes();
        let of = |chunk: &TileChunk| size_of_val(&chunk.entries[..]) + size_of_val(&chunk.clusters[..]);
        let entries: usize = self.chunks.iter().map(of).sum();
        let of = |chunk: &TileChunk| {
            let begins = size_of_val(&chunk.begins[..])
                + size_of_val(&chunk.named[..])
                + size_of_val(&chunk.words[..]);
            begins + size_of_val(&chunk.segments[..])
        };
        let begins: usize = self.chunks.iter().map(of).sum();
        ListBytes { indices: indices + entries as u64, offsets: offsets + begins as u64 }
    }
}
