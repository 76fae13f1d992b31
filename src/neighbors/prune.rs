//! The inner list of two: what an outer list holds within a smaller radius.
//!
//! After Pall et al. 2020, J. Chem. Phys. 153, 134110: a list with a wide skin is built seldom, and one with a narrow skin
//! is pruned from it more often, at the cost of a test per pair of clusters instead of a search.

use super::build::ENTRIES;
use super::list::{Piece, inner_clusters};
use super::near::{Frame, Near};
use super::{ClusterList, ListRequest};
use crate::Result;
use crate::pair::lane::aligned;
use crate::turns::{each, runs};
use fearless_simd::{Level, Simd, dispatch};
use std::ops::Range;

/// Super-clusters pruned in one piece.
const CHUNK: usize = 16;

impl ClusterList {
    /// The list of those pairs of a request that this list has: all of them, if it was built with radii as much larger as
    /// two particles may have come closer since. The same bits on any number of threads.
    ///
    /// # Errors
    /// Those of [`ClusterList::build`].
    pub fn prune(&self, request: &ListRequest) -> Result<Self> {
        assert!(
            request.owned == self.owned()
                && request.symmetric == self.symmetric()
                && request.with_lower_from.is_some() == self.shares_pairs(),
            "a list is pruned for the rows that it was built for"
        );
        let near = Near::new(request)?;
        let level = Level::new();
        let pieces = each(runs(self.super_clusters(), CHUNK), |super_clusters| {
            Piece::of(|piece| {
                dispatch!(level, simd => aligned(
                    #[inline(always)]
                    || self.pruned(simd, &near, super_clusters, piece),
                ));
            })
        });
        Ok(Self::join(request, pieces))
    }

    #[inline(always)]
    fn pruned<S: Simd>(&self, simd: S, near: &Near, super_clusters: Range<usize>, piece: &mut Piece) {
        let inner = inner_clusters(&near.request.owned, near.request.id.len());
        let (mut listed, mut kept) = (Vec::with_capacity(ENTRIES), Vec::with_capacity(ENTRIES));
        let mut frame = Frame::EMPTY;
        for super_cluster in super_clusters {
            kept.clear();
            near.prepare(super_cluster, &mut frame);
            if frame.present != 0 {
                self.decode(super_cluster, &mut listed);
                for entry in &listed {
                    if near.meets(simd, &frame, entry.cluster as usize, entry.mask & frame.present) {
                        kept.push(entry.cluster);
                    }
                }
            }
            piece.push(&kept, near.request.coding, &inner);
        }
    }
}
