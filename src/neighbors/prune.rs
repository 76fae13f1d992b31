//! Pruning of an inner cluster list from an outer one (Pall et al. 2020, J. Chem. Phys. 153, 134110).
//!
//! A list with a wide skin is built rarely. A list with a narrow skin is pruned from it more often, at the
//! cost of a test per cluster pair instead of a search.

use super::build::LIST_CAPACITY;
use super::list::{RecordChunk, inner_clusters};
use super::near::{Frame, RangeTests};
use super::{ClusterList, ListRequest};
use crate::Result;
use crate::parallel::{map_items, split_range};
use crate::simd::aligned;
use fearless_simd::{Level, Simd, dispatch};
use std::ops::Range;

/// Super-clusters per task.
const TASK_SUPER_CLUSTERS: usize = 16;

impl ClusterList {
    /// Prunes the pairs of a request from this list. All pairs of the request are covered if this list was
    /// built with radii larger by as much as two particles may have approached since. The result has the same
    /// bits for any number of threads.
    ///
    /// # Errors
    /// Those of [`ClusterList::build`].
    pub fn prune(&self, request: &ListRequest) -> Result<Self> {
        assert!(
            request.owned == self.owned()
                && request.symmetric == self.symmetric()
                && request.first_with_lower_halos.is_some() == self.shares_pairs(),
            "a list is prune_chunk for the rows that it was built for"
        );
        let near = RangeTests::new(request)?;
        let level = Level::new();
        let chunks = map_items(split_range(self.super_clusters(), TASK_SUPER_CLUSTERS), |super_clusters| {
            RecordChunk::of(|chunk| {
                dispatch!(level, simd => aligned(
                    #[inline(always)]
                    || self.prune_chunk(simd, &near, super_clusters, chunk),
                ));
            })
        });
        Ok(Self::join(request, chunks))
    }

    #[inline(always)]
    fn prune_chunk<S: Simd>(
        &self,
        simd: S,
        near: &RangeTests,
        super_clusters: Range<usize>,
        chunk: &mut RecordChunk,
    ) {
        let inner = inner_clusters(&near.request.owned, near.request.id.len());
        let (mut entries, mut kept) = (Vec::with_capacity(LIST_CAPACITY), Vec::with_capacity(LIST_CAPACITY));
        let mut frame = Frame::EMPTY;
        for super_cluster in super_clusters {
            kept.clear();
            near.prepare(super_cluster, &mut frame);
            if frame.present != 0 {
                self.decode(super_cluster, &mut entries);
                for entry in &entries {
                    if near.meets(simd, &frame, entry.cluster as usize, entry.mask & frame.present) {
                        kept.push(entry.cluster);
                    }
                }
            }
            chunk.push(&kept, near.request.coding, &inner);
        }
    }
}
