//! Finding the neighbor clusters of super-clusters: a walk down the octree, then the tests of [`super::near`].

use super::half::listed_there;
use super::list::members;
use super::near::{Frame, Near};
use super::{CLUSTER, CLUSTERS, ListRequest};
use crate::Result;
use crate::pair::lane::aligned;
use crate::tree::{Bounds, Leaves, Octree};
use fearless_simd::{Level, Simd, dispatch, f64x8, prelude::*};
use std::ops::Range;

/// Clusters of a super-cluster's list that there is room for at once.
pub(super) const ENTRIES: usize = 1024;

/// Rows in a leaf of the tree that is searched, at most.
const BUCKET: u64 = 64;

/// What all searches share.
pub(super) struct Search<'a> {
    near: Near<'a>,
    tree: Octree,
    nodes: NodeBoxes,
    level: Level,
}

/// Boxes of the octree's nodes as centers and halves, columns, so that a node's children are tested together.
struct NodeBoxes {
    center: [Vec<f64>; 3],
    half: [Vec<f64>; 3],
    radius: Vec<f64>,
}

impl NodeBoxes {
    fn new(bounds: &Bounds) -> Self {
        // A node without particles lies beyond every reach.
        let nothing = |node: usize| bounds.lower[node][0] > bounds.upper[node][0];
        let column = |of: &dyn Fn(usize) -> f64| (0..bounds.radius.len()).map(of).collect::<Vec<f64>>();
        let (lower, upper) = (&bounds.lower, &bounds.upper);
        Self {
            center: [0, 1, 2].map(|d| {
                column(&|k| if nothing(k) { f64::MAX } else { 0.5 * lower[k][d] + 0.5 * upper[k][d] })
            }),
            half: [0, 1, 2]
                .map(|d| column(&|k| if nothing(k) { 0.0 } else { 0.5 * upper[k][d] - 0.5 * lower[k][d] })),
            radius: bounds.radius.clone(),
        }
    }
}

// Functions, not closures: a closure has no target features of its own, so that what it calls is not inlined.

/// Eight values of a column.
#[inline(always)]
fn eight<S: Simd>(simd: S, column: &[f64], first: usize) -> f64x8<S> {
    f64x8::from_slice(simd, &column[first..first + 8])
}

impl<'a> Search<'a> {
    pub fn new(request: &'a ListRequest<'a>) -> Result<Self> {
        // neither has much that many threads can share
        let (near, (tree, nodes)) = rayon::join(|| Near::new(request), || tree(request));
        Ok(Self { near: near?, nodes, tree, level: Level::new() })
    }

    /// Hands the sorted neighbor clusters of each super-cluster in the range to `take`, in order.
    pub fn run(&self, super_clusters: Range<usize>, take: impl FnMut(&[u32])) {
        dispatch!(self.level, simd => aligned(
            #[inline(always)]
            || self.run_with(simd, super_clusters, take),
        ));
    }

    #[inline(always)]
    fn run_with<S: Simd>(&self, simd: S, super_clusters: Range<usize>, mut take: impl FnMut(&[u32])) {
        let (mut stack, mut clusters) = (Vec::with_capacity(ENTRIES), Vec::with_capacity(ENTRIES));
        let mut frame = Frame::EMPTY;
        for super_cluster in super_clusters {
            clusters.clear();
            self.near.prepare(super_cluster, &mut frame);
            if frame.present != 0 {
                self.walk(simd, &frame, &mut stack, &mut clusters);
            }
            take(&clusters);
        }
    }

    /// Depth first in the order of keys, so that clusters are met in ascending order.
    #[inline(always)]
    fn walk<S: Simd>(&self, simd: S, frame: &Frame, stack: &mut Vec<u32>, clusters: &mut Vec<u32>) {
        let request = self.near.request;
        let (symmetric, begin) = (request.symmetric, request.owned.start / CLUSTER);
        let listed_there = match symmetric {
            true => listed_there(request, frame.first_cluster / CLUSTERS),
            false => [0..0, 0..0],
        };
        // others have pairs with what is before the first cluster
        let first = match request.with_lower_from {
            Some(from) if frame.first_cluster / CLUSTERS < from => begin,
            _ => 0,
        };
        let mut next = first;
        stack.clear();
        stack.push(0);
        while let Some(node) = stack.pop() {
            let node = node as usize;
            let rows = self.tree.rows(node);
            if rows.is_empty() || rows.end <= first * CLUSTER {
                continue;
            }
            if listed_there.iter().any(|there| there.start <= rows.start && rows.end <= there.end) {
                continue;
            }
            if !self.tree.is_leaf(node) {
                let first = self.tree.children(node).start;
                let mut hits = self.near_nodes(simd, frame, first);
                while hits != 0 {
                    let child = 7 - hits.leading_zeros();
                    hits ^= 1 << child;
                    stack.push(first as u32 + child);
                }
                continue;
            }
            for cluster in next.max(rows.start / CLUSTER)..rows.end.div_ceil(CLUSTER) {
                if listed_there.iter().any(|there| there.contains(&(cluster * CLUSTER))) {
                    continue;
                }
                let allowed = frame.present & members(symmetric, frame.first_cluster / CLUSTERS, cluster);
                if self.near.meets(simd, frame, cluster, allowed) {
                    clusters.push(cluster as u32);
                }
            }
            next = next.max(rows.end.div_ceil(CLUSTER));
        }
    }

    /// Which of eight sibling nodes come within reach.
    #[inline(always)]
    fn near_nodes<S: Simd>(&self, simd: S, frame: &Frame, first: usize) -> u8 {
        let mut square = f64x8::splat(simd, 0.0);
        for d in 0..3 {
            let apart = eight(simd, &self.nodes.center[d], first) - frame.center[d];
            let apart = apart.max(-apart);
            let around = self.near.period[d] - apart;
            let apart = apart.min(around.max(-around));
            let gap = (apart - eight(simd, &self.nodes.half[d], first) - frame.half[d]).max(0.0);
            square = gap.mul_add(gap, square);
        }
        let reach = eight(simd, &self.nodes.radius, first).max(frame.radius) + self.near.slack;
        let beyond = square.simd_gt(reach * reach * (1.0 + 1e-9));
        !beyond.to_bitmask() as u8
    }
}

/// The octree over the rows of a request, and the boxes of its nodes.
fn tree(request: &ListRequest) -> (Octree, NodeBoxes) {
    let keys = filled_keys(request);
    let keys = keys.as_deref().unwrap_or(request.keys);
    let mut leaves = Leaves::root();
    leaves.converge(keys, BUCKET);
    let tree = Octree::new(&leaves, keys);
    let bounds = Bounds::new(&tree, request.position, request.radius, &|row| request.ghost(row));
    (tree, NodeBoxes::new(&bounds))
}

/// The keys with those of ghosts replaced by their predecessor's, so that they are sorted; `None` if they are.
fn filled_keys(request: &ListRequest) -> Option<Vec<u64>> {
    if request.keys.is_sorted() {
        return None;
    }
    let mut last = 0;
    let filled: Vec<u64> = (0..request.keys.len())
        .map(|row| {
            last = if request.ghost(row) { last } else { request.keys[row] };
            last
        })
        .collect();
    assert!(filled.is_sorted(), "particles are sorted by key");
    Some(filled)
}
