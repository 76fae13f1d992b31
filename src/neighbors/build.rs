//! Search of the neighbor clusters of super-clusters: octree traversal, then the tests of [`super::near`].

use super::half::rows_listed_elsewhere;
use super::list::member_mask;
use super::near::{Frame, RangeTests};
use super::{CLUSTER, CLUSTERS, ListRequest, SUPER_CLUSTER};
use crate::Result;
use crate::faults::{Fault, planted};
use crate::simd::aligned;
use crate::tree::{Bounds, Leaves, Octree};
use fearless_simd::{Level, Simd, dispatch, f64x8, prelude::*};
use std::ops::Range;

/// Initial capacity for the clusters of a super-cluster.
pub(super) const LIST_CAPACITY: usize = 1024;

/// Maximum number of rows per leaf of the search tree.
const BUCKET: u64 = 64;

/// Data of all searches.
pub(super) struct Search<'a> {
    near: RangeTests<'a>,
    tree: Octree,
    nodes: NodeBoxes,
    level: Level,
}

/// Bounding boxes of the octree's nodes as columns, so that eight children are tested at once.
struct NodeBoxes {
    center: [Vec<f64>; 3],
    half: [Vec<f64>; 3],
    radius: Vec<f64>,
}

impl NodeBoxes {
    fn new(bounds: &Bounds) -> Self {
        // The box of an empty node is out of range of everything.
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

// Functions, not closures: closures have no target features of their own, so their callees are not inlined.

/// Loads eight values of a column.
#[inline(always)]
fn load_eight<S: Simd>(simd: S, column: &[f64], first: usize) -> f64x8<S> {
    f64x8::from_slice(simd, &column[first..first + 8])
}

impl<'a> Search<'a> {
    pub fn new(request: &'a ListRequest<'a>) -> Result<Self> {
        // Both have serial parts, so they run concurrently.
        let (near, (tree, nodes)) = rayon::join(|| RangeTests::new(request), || tree(request));
        Ok(Self { near: near?, nodes, tree, level: Level::new() })
    }

    /// Passes the sorted neighbor clusters of each super-cluster in the range to `take`, in order.
    pub fn run(&self, super_clusters: Range<usize>, take: impl FnMut(&[u32])) {
        dispatch!(self.level, simd => aligned(
            #[inline(always)]
            || self.run_with(simd, super_clusters, take),
        ));
    }

    #[inline(always)]
    fn run_with<S: Simd>(&self, simd: S, super_clusters: Range<usize>, mut take: impl FnMut(&[u32])) {
        let (mut stack, mut clusters) =
            (Vec::with_capacity(LIST_CAPACITY), Vec::with_capacity(LIST_CAPACITY));
        let mut frame = Frame::EMPTY;
        for super_cluster in super_clusters {
            clusters.clear();
            self.near.prepare(super_cluster, &mut frame);
            if frame.present != 0 {
                self.walk(simd, &frame, &mut stack, &mut clusters);
            }
            if planted(Fault::PairLost) && super_cluster == self.near.request.owned.start / SUPER_CLUSTER {
                clusters.truncate(clusters.len().saturating_sub(1));
            }
            take(&clusters);
        }
    }

    /// Depth-first traversal in key order, which visits clusters in ascending order.
    #[inline(always)]
    fn walk<S: Simd>(&self, simd: S, frame: &Frame, stack: &mut Vec<u32>, clusters: &mut Vec<u32>) {
        let request = self.near.request;
        let (symmetric, begin) = (request.symmetric, request.owned.start / CLUSTER);
        let rows_listed_elsewhere = match symmetric {
            true => rows_listed_elsewhere(request, frame.first_cluster / CLUSTERS),
            false => [0..0, 0..0],
        };
        // Other ranks list the pairs with rows before the first owned cluster.
        let first = match request.first_with_lower_halos {
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
            if rows_listed_elsewhere
                .iter()
                .any(|elsewhere| elsewhere.start <= rows.start && rows.end <= elsewhere.end)
            {
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
                if rows_listed_elsewhere.iter().any(|elsewhere| elsewhere.contains(&(cluster * CLUSTER))) {
                    continue;
                }
                let allowed = frame.present & member_mask(symmetric, frame.first_cluster / CLUSTERS, cluster);
                if self.near.meets(simd, frame, cluster, allowed) {
                    clusters.push(cluster as u32);
                }
            }
            next = next.max(rows.end.div_ceil(CLUSTER));
        }
    }

    /// Bit mask of the siblings, of eight, that are within range.
    #[inline(always)]
    fn near_nodes<S: Simd>(&self, simd: S, frame: &Frame, first: usize) -> u8 {
        let mut square = f64x8::splat(simd, 0.0);
        for d in 0..3 {
            let apart = load_eight(simd, &self.nodes.center[d], first) - frame.center[d];
            let apart = apart.max(-apart);
            let around = self.near.period[d] - apart;
            let apart = apart.min(around.max(-around));
            let gap = (apart - load_eight(simd, &self.nodes.half[d], first) - frame.half[d]).max(0.0);
            square = gap.mul_add(gap, square);
        }
        let reach = load_eight(simd, &self.nodes.radius, first).max(frame.radius) + self.near.slack;
        let beyond = square.simd_gt(reach * reach * (1.0 + 1e-9));
        !beyond.to_bitmask() as u8
    }
}

/// Builds the octree over all rows and the boxes of its nodes.
fn tree(request: &ListRequest) -> (Octree, NodeBoxes) {
    let keys = filled_keys(request);
    let keys = keys.as_deref().unwrap_or(request.keys);
    let mut leaves = Leaves::root();
    leaves.converge(keys, BUCKET);
    let tree = Octree::new(&leaves, keys);
    let bounds = Bounds::new(&tree, request.position, request.radius, &|row| request.ghost(row));
    (tree, NodeBoxes::new(&bounds))
}

/// Replaces the keys of ghosts by their predecessor's, so that all are sorted; `None` if they already are.
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
