//! Cluster list: neighbor clusters per super-cluster, compressed.

use super::build::Search;
use super::{CLUSTERS, Coding, Entry, ListBytes, ListRequest, SUPER_CLUSTER};
use crate::Result;
use crate::parallel::ScratchPool;
use crate::parallel::{map_items, split_range};
use std::ops::Range;

/// Per super-cluster S, the coded sorted clusters c with which any of its particles has a pair.
///
/// An entry covers all lane pairs of the i-clusters 8S + k with the j-cluster c; in a symmetric list, only
/// those with 8S + k <= c within S. Of two super-clusters whose rows are all owned, a symmetric list has the
/// pairs in the one that precedes the other on the shorter way along the closed curve. In the pair of a
/// cluster with itself the sweep omits lanes j <= i (j == i if not symmetric).
///
/// Every pair of the [`ListRequest`] is covered, exactly once in a symmetric list. Lane pairs out of range
/// are covered too, so sweeps test distances, those of the clusters' bounding boxes first. This selects pairs
/// better than a stored mask of i-clusters from the time of the build, and takes no memory.
#[derive(Clone, Debug)]
pub struct ClusterList {
    owned: Range<usize>,
    symmetric: bool,
    shares_pairs: bool,
    coding: Coding,
    counts: Vec<u32>,
    /// Offset of each record in the data; one more than there are records.
    offsets: Vec<u64>,
    data: Vec<u8>,
    /// Per record, whether it lists clusters of super-clusters that are not wholly owned; empty if none does.
    reaches_out_flags: Vec<bool>,
}

/// Buffers of records under construction.
static RECORD_POOL: ScratchPool<RecordChunk> = ScratchPool::new();

/// Records of consecutive super-clusters.
#[derive(Clone, Default)]
pub(crate) struct RecordChunk {
    counts: Vec<u32>,
    lengths: Vec<u64>,
    data: Vec<u8>,
    reaches_out_flags: Vec<bool>,
}

impl RecordChunk {
    /// Removes all records and keeps the memory.
    pub fn clear(&mut self) {
        self.counts.clear();
        self.lengths.clear();
        self.data.clear();
        self.reaches_out_flags.clear();
    }

    /// Collects the records that `make` adds, in no more memory than they need.
    #[inline(always)]
    pub fn of(make: impl FnOnce(&mut RecordChunk)) -> RecordChunk {
        let mut chunk = RECORD_POOL.take();
        chunk.clear();
        make(&mut chunk);
        chunk.clone()
    }

    /// Appends a record of sorted clusters. `inner` is the range of clusters in wholly owned super-clusters.
    pub fn push(&mut self, clusters: &[u32], coding: Coding, inner: &Range<usize>) {
        let is_inner =
            |cluster: Option<&u32>| cluster.is_none_or(|&cluster| inner.contains(&(cluster as usize)));
        self.reaches_out_flags.push(!(is_inner(clusters.first()) && is_inner(clusters.last())));
        let before = self.data.len();
        coding.encode(clusters, &mut self.data);
        self.counts.push(clusters.len() as u32);
        self.lengths.push((self.data.len() - before) as u64);
    }
}

/// Bit k is set if i-cluster k of a super-cluster is paired with a listed cluster.
#[inline(always)]
pub(super) fn member_mask(symmetric: bool, super_cluster: usize, cluster: usize) -> u8 {
    match cluster.checked_sub(8 * super_cluster) {
        Some(own @ 0..8) if symmetric => u8::MAX >> (7 - own),
        _ => u8::MAX,
    }
}

/// Clusters of the super-clusters whose rows are all owned, out of `rows` rows.
pub(crate) fn inner_clusters(owned: &Range<usize>, rows: usize) -> Range<usize> {
    let Range { start, end } = whole_super_clusters(owned, rows);
    start * CLUSTERS..end * CLUSTERS
}

/// Super-clusters whose rows are all owned, out of `rows` rows. Slots behind the last row count as owned.
pub fn whole_super_clusters(owned: &Range<usize>, rows: usize) -> Range<usize> {
    let end = if owned.end == rows { rows.div_ceil(SUPER_CLUSTER) } else { owned.end / SUPER_CLUSTER };
    let start = owned.start.div_ceil(SUPER_CLUSTER);
    start..end.max(start)
}

/// Super-clusters that hold owned rows.
fn super_clusters(owned: &Range<usize>) -> Range<usize> {
    match owned.is_empty() {
        true => owned.start / SUPER_CLUSTER..owned.start / SUPER_CLUSTER,
        false => owned.start / SUPER_CLUSTER..owned.end.div_ceil(SUPER_CLUSTER),
    }
}

impl ClusterList {
    /// Builds the list in parallel. It has the same bits for any number of threads.
    ///
    /// # Errors
    /// [`crate::Error::State`] if a periodic edge is less than twice the largest radius, since a pair would
    /// have two images in range, or if a rank holds 2^32 rows.
    pub fn build(request: &ListRequest) -> Result<Self> {
        // Few per task, so that the last tasks end early.
        const TASK_SUPER_CLUSTERS: usize = 8;
        let search = Search::new(request)?;
        let inner = inner_clusters(&request.owned, request.id.len());
        let chunks =
            map_items(split_range(super_clusters(&request.owned), TASK_SUPER_CLUSTERS), |super_clusters| {
                RecordChunk::of(|chunk| {
                    search.run(super_clusters, |clusters| chunk.push(clusters, request.coding, &inner));
                })
            });
        Ok(Self::join(request, chunks))
    }

    /// A list of these clusters: one sorted vector per super-cluster with owned rows.
    pub fn from_clusters(
        owned: Range<usize>,
        symmetric: bool,
        coding: Coding,
        clusters: &[Vec<u32>],
    ) -> Self {
        assert_eq!(clusters.len(), super_clusters(&owned).len(), "clusters for each super-cluster");
        let mut chunk = RecordChunk::default();
        let inner = inner_clusters(&owned, owned.end);
        clusters.iter().for_each(|clusters| chunk.push(clusters, coding, &inner));
        Self::concatenate(owned, symmetric, coding, vec![chunk])
    }

    /// The list of a request from records in order.
    pub(crate) fn join(request: &ListRequest, chunks: Vec<RecordChunk>) -> Self {
        let shares_pairs = request.first_with_lower_halos.is_some();
        assert!(request.symmetric || !shares_pairs, "a full list has the pairs of all owned rows");
        let list = Self::concatenate(request.owned.clone(), request.symmetric, request.coding, chunks);
        Self { shares_pairs, ..list }
    }

    /// Concatenates records in order.
    fn concatenate(owned: Range<usize>, symmetric: bool, coding: Coding, chunks: Vec<RecordChunk>) -> Self {
        let mut offsets = vec![0];
        let mut end = 0;
        for length in chunks.iter().flat_map(|chunk| &chunk.lengths) {
            end += length;
            offsets.push(end);
        }
        let mut data = Vec::with_capacity(end as usize);
        let mut counts = Vec::with_capacity(offsets.len() - 1);
        let any = chunks.iter().any(|chunk| chunk.reaches_out_flags.contains(&true));
        let mut reaches_out_flags = Vec::new();
        for chunk in chunks {
            data.extend_from_slice(&chunk.data);
            counts.extend_from_slice(&chunk.counts);
            reaches_out_flags.extend(chunk.reaches_out_flags.iter().filter(|_| any));
        }
        Self { owned, symmetric, shares_pairs: false, coding, counts, offsets, data, reaches_out_flags }
    }

    /// Whether a super-cluster lists a cluster of a super-cluster that is not wholly owned.
    #[inline]
    pub fn reaches_out(&self, super_cluster: usize) -> bool {
        self.reaches_out_flags.get(super_cluster - self.super_clusters().start).copied().unwrap_or(false)
    }

    /// Super-clusters with a list: those that hold owned rows.
    pub fn super_clusters(&self) -> Range<usize> {
        super_clusters(&self.owned)
    }

    /// Whether pairs of owned rows appear once.
    pub fn symmetric(&self) -> bool {
        self.symmetric
    }

    /// Whether a pair of an owned row and a halo is listed by one of two ranks, not by both.
    pub fn shares_pairs(&self) -> bool {
        self.shares_pairs
    }

    /// Rows whose neighbors are listed.
    pub fn owned(&self) -> Range<usize> {
        self.owned.clone()
    }

    /// Code of the indices.
    pub fn coding(&self) -> Coding {
        self.coding
    }

    /// Number of entries of a super-cluster.
    #[inline]
    pub fn entries(&self, super_cluster: usize) -> usize {
        self.counts[super_cluster - self.super_clusters().start] as usize
    }

    /// Replaces `entries` by a super-cluster's list, sorted by cluster.
    #[inline(always)]
    pub fn decode(&self, super_cluster: usize, entries: &mut Vec<Entry>) {
        entries.clear();
        let k = super_cluster - self.super_clusters().start;
        let (begin, end) = (self.offsets[k] as usize, self.offsets[k + 1] as usize);
        let count = self.counts[k] as usize;
        // The slice extends beyond the record: wide loads of its last bytes may read the next record, unused.
        entries.reserve(count);
        let symmetric = self.symmetric;
        let read = self.coding.decode(&self.data[begin..], count, |cluster| {
            entries.push(Entry { cluster, mask: member_mask(symmetric, super_cluster, cluster as usize) });
        });
        assert_eq!(read, Ok(end - begin), "a neighbor list decodes to what was encoded");
    }

    /// The bytes of all records, their offsets (one more than records) and numbers of entries, for copies to
    /// devices.
    pub fn records(&self) -> (&[u8], &[u64], &[u32]) {
        (&self.data, &self.offsets, &self.counts)
    }

    /// Memory of the list.
    pub fn bytes(&self) -> ListBytes {
        ListBytes {
            indices: self.data.len() as u64,
            offsets: (size_of_val(&self.offsets[..])
                + size_of_val(&self.counts[..])
                + self.reaches_out_flags.len()) as u64,
        }
    }
}
