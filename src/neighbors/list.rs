//! The list of neighbor clusters per super-cluster.

use super::build::Search;
use super::{CLUSTERS, Coding, Entry, ListBytes, ListRequest, SUPER_CLUSTER};
use crate::Result;
use crate::turns::{each, runs};
use crate::unused::Unused;
use std::ops::Range;

/// Per super-cluster S the sorted clusters c with which any of its particles has a pair, coded.
///
/// An entry covers all lane pairs of the i-clusters 8S + k with the j-cluster c, in a symmetric list those with
/// 8S + k <= c, and of two owned super-clusters one lists the other: that behind which it comes sooner along the curve, where this
/// is closed, if both are whole. In the self pair the sweep leaves out lanes j <= i (j == i if not symmetric). Every pair of the [`ListRequest`] is covered, exactly once in a symmetric list; lane pairs
/// out of reach are covered too, so whoever walks the list tests distances, those of the clusters' boxes first. That
/// says more than a mask of the i-clusters could that had pairs with c when the list was built, and takes no memory.
#[derive(Clone, Debug)]
pub struct ClusterList {
    owned: Range<usize>,
    symmetric: bool,
    shares_pairs: bool,
    coding: Coding,
    counts: Vec<u32>,
    /// Where each record begins in the data; one more than there are records.
    offsets: Vec<u64>,
    data: Vec<u8>,
    /// Whether a record has clusters of super-clusters whose rows are not all owned; empty where none has.
    outer: Vec<bool>,
}

/// Records that were being made of some consecutive super-clusters.
static PIECES: Unused<Piece> = Unused::new();

/// The records of some consecutive super-clusters.
#[derive(Clone, Default)]
pub(crate) struct Piece {
    counts: Vec<u32>,
    lengths: Vec<u64>,
    data: Vec<u8>,
    outer: Vec<bool>,
}

impl Piece {
    /// Forget all, but not the memory.
    pub fn clear(&mut self) {
        self.counts.clear();
        self.lengths.clear();
        self.data.clear();
        self.outer.clear();
    }

    /// Records that `make` adds, in no more memory than they need.
    #[inline(always)]
    pub fn of(make: impl FnOnce(&mut Piece)) -> Piece {
        let mut made = PIECES.take();
        made.clear();
        make(&mut made);
        made.clone()
    }

    /// Adds a record: sorted clusters, of which those in `inner` are of super-clusters whose rows are all owned.
    pub fn push(&mut self, clusters: &[u32], coding: Coding, inner: &Range<usize>) {
        let among =
            |cluster: Option<&u32>| cluster.is_none_or(|&cluster| inner.contains(&(cluster as usize)));
        self.outer.push(!(among(clusters.first()) && among(clusters.last())));
        let before = self.data.len();
        coding.encode(clusters, &mut self.data);
        self.counts.push(clusters.len() as u32);
        self.lengths.push((self.data.len() - before) as u64);
    }
}

/// Bit k: i-cluster k of a super-cluster meets a cluster that is in its list.
#[inline(always)]
pub(super) fn members(symmetric: bool, super_cluster: usize, cluster: usize) -> u8 {
    match cluster.checked_sub(8 * super_cluster) {
        Some(own @ 0..8) if symmetric => u8::MAX >> (7 - own),
        _ => u8::MAX,
    }
}

/// The clusters of super-clusters whose rows are all owned.
pub(crate) fn inner_clusters(owned: &Range<usize>, rows: usize) -> Range<usize> {
    let Range { start, end } = whole_super_clusters(owned, rows);
    start * CLUSTERS..end * CLUSTERS
}

/// The super-clusters whose rows are all owned, of so many rows; what would be behind the last row is nobody's.
pub fn whole_super_clusters(owned: &Range<usize>, rows: usize) -> Range<usize> {
    let end = if owned.end == rows { rows.div_ceil(SUPER_CLUSTER) } else { owned.end / SUPER_CLUSTER };
    let start = owned.start.div_ceil(SUPER_CLUSTER);
    start..end.max(start)
}

/// The super-clusters that hold owned rows.
fn super_clusters(owned: &Range<usize>) -> Range<usize> {
    match owned.is_empty() {
        true => owned.start / SUPER_CLUSTER..owned.start / SUPER_CLUSTER,
        false => owned.start / SUPER_CLUSTER..owned.end.div_ceil(SUPER_CLUSTER),
    }
}

impl ClusterList {
    /// Builds the list, in parallel; the same bits for the same request on any number of threads.
    ///
    /// # Errors
    /// [`crate::Error::State`] when a periodic edge is less than twice the largest radius, since a pair would
    /// have two images in reach, or when a rank holds 2^32 rows.
    pub fn build(request: &ListRequest) -> Result<Self> {
        // few, lest a thread waits long for the last ones
        const CHUNK: usize = 8;
        let search = Search::new(request)?;
        let inner = inner_clusters(&request.owned, request.id.len());
        let pieces = each(runs(super_clusters(&request.owned), CHUNK), |super_clusters| {
            Piece::of(|piece| {
                search.run(super_clusters, |clusters| piece.push(clusters, request.coding, &inner));
            })
        });
        Ok(Self::join(request, pieces))
    }

    /// The list of these clusters: one sorted vector per super-cluster with owned rows.
    pub fn from_clusters(
        owned: Range<usize>,
        symmetric: bool,
        coding: Coding,
        clusters: &[Vec<u32>],
    ) -> Self {
        assert_eq!(clusters.len(), super_clusters(&owned).len(), "clusters for each super-cluster");
        let mut piece = Piece::default();
        let inner = inner_clusters(&owned, owned.end);
        clusters.iter().for_each(|clusters| piece.push(clusters, coding, &inner));
        Self::of_records(owned, symmetric, coding, vec![piece])
    }

    /// The list of a request: records of pieces in order.
    pub(crate) fn join(request: &ListRequest, pieces: Vec<Piece>) -> Self {
        let shares_pairs = request.with_lower_from.is_some();
        assert!(request.symmetric || !shares_pairs, "a full list has the pairs of all owned rows");
        let list = Self::of_records(request.owned.clone(), request.symmetric, request.coding, pieces);
        Self { shares_pairs, ..list }
    }

    /// Concatenates records in order.
    fn of_records(owned: Range<usize>, symmetric: bool, coding: Coding, pieces: Vec<Piece>) -> Self {
        let mut offsets = vec![0];
        let mut end = 0;
        for length in pieces.iter().flat_map(|piece| &piece.lengths) {
            end += length;
            offsets.push(end);
        }
        let mut data = Vec::with_capacity(end as usize);
        let mut counts = Vec::with_capacity(offsets.len() - 1);
        let any = pieces.iter().any(|piece| piece.outer.contains(&true));
        let mut outer = Vec::new();
        for piece in pieces {
            data.extend_from_slice(&piece.data);
            counts.extend_from_slice(&piece.counts);
            outer.extend(piece.outer.iter().filter(|_| any));
        }
        Self { owned, symmetric, shares_pairs: false, coding, counts, offsets, data, outer }
    }

    /// Whether a super-cluster lists a cluster of a super-cluster whose rows are not all owned.
    #[inline]
    pub fn reaches_out(&self, super_cluster: usize) -> bool {
        self.outer.get(super_cluster - self.super_clusters().start).copied().unwrap_or(false)
    }

    /// The super-clusters with a list: those that hold owned rows.
    pub fn super_clusters(&self) -> Range<usize> {
        super_clusters(&self.owned)
    }

    /// Whether pairs of owned rows appear once.
    pub fn symmetric(&self) -> bool {
        self.symmetric
    }

    /// Whether pairs of an owned row and a halo are in one list of two ranks, not in both.
    pub fn shares_pairs(&self) -> bool {
        self.shares_pairs
    }

    /// The rows whose neighbors are listed.
    pub fn owned(&self) -> Range<usize> {
        self.owned.clone()
    }

    /// How the indices are coded.
    pub fn coding(&self) -> Coding {
        self.coding
    }

    /// Entries in a super-cluster's list.
    #[inline]
    pub fn entries(&self, super_cluster: usize) -> usize {
        self.counts[super_cluster - self.super_clusters().start] as usize
    }

    /// Replaces `entries` with a super-cluster's list, sorted by cluster.
    #[inline(always)]
    pub fn decode(&self, super_cluster: usize, entries: &mut Vec<Entry>) {
        entries.clear();
        let k = super_cluster - self.super_clusters().start;
        let (begin, end) = (self.offsets[k] as usize, self.offsets[k + 1] as usize);
        let count = self.counts[k] as usize;
        // what follows the record is not read as part of it, but may be looked at together with its last bytes
        entries.reserve(count);
        let symmetric = self.symmetric;
        let read = self.coding.decode(&self.data[begin..], count, |cluster| {
            entries.push(Entry { cluster, mask: members(symmetric, super_cluster, cluster as usize) });
        });
        assert_eq!(read, Ok(end - begin), "a neighbor list decodes to what was encoded");
    }

    /// The records' bytes, where each begins (one more than records) and entries a record, for other memories.
    pub fn records(&self) -> (&[u8], &[u64], &[u32]) {
        (&self.data, &self.offsets, &self.counts)
    }

    /// The memory of the list.
    pub fn bytes(&self) -> ListBytes {
        ListBytes {
            indices: self.data.len() as u64,
            offsets: (size_of_val(&self.offsets[..]) + size_of_val(&self.counts[..]) + self.outer.len())
                as u64,
        }
    }
}
