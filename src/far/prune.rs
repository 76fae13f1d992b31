//! Pruning for the locally essential tree: which coarse leaves of other ranks a rank opens, and which nodes
//! and particles below them its boxes need.
use super::lanes::with_lanes;
use super::opening::{BoxLanes, LANES, Opening, TargetBox, WalkNode};
use super::split::Split;
use super::tree::{Node, Tree};
use crate::tree::Moments;

/// Maximum number of merged boxes of a rank: one bit each in [`LeafRequest::boxes`].
const MAX_BOXES: usize = 128;

/// Request for the subtree of a coarse leaf of another rank.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
pub(super) struct LeafRequest {
    /// The coarse leaf.
    pub leaf: u64,
    /// Bit mask of the boxes that open it: low and high half.
    boxes: [u64; 2],
}

impl LeafRequest {
    fn new(leaf: usize, boxes: u128) -> Self {
        Self { leaf: leaf as u64, boxes: [boxes as u64, (boxes >> 64) as u64] }
    }

    /// Bit mask of the boxes that open it.
    pub fn boxes(&self) -> u128 {
        u128::from(self.boxes[0]) | u128::from(self.boxes[1]) << 64
    }
}

/// Iterates over the positions of the set bits.
fn set_bits(mut bits: u128) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let place = (bits != 0).then(|| bits.trailing_zeros() as usize)?;
        bits &= bits - 1;
        Some(place)
    })
}

/// Merges consecutive groups of a rank into at most [`MAX_BOXES`] boxes.
pub(super) fn merged_boxes(groups: &[TargetBox]) -> Vec<TargetBox> {
    merged_by(groups, groups.len().div_ceil(MAX_BOXES).max(1))
}

/// Merges each `per_box` consecutive groups.
fn merged_by(groups: &[TargetBox], per_box: usize) -> Vec<TargetBox> {
    groups
        .chunks(per_box)
        .map(|group| group.iter().skip(1).fold(group[0], |all, one| all.joined(*one)))
        .collect()
}

/// Merges consecutive groups of a rank, in a periodic box, and returns the images of the merged boxes that are
/// within the cut of particles between two corners: at most [`MAX_BOXES`]. They contain all such images of the
/// groups.
pub(super) fn merged_images(
    groups: &[TargetBox],
    split: &Split,
    (lower, upper): ([f64; 3], [f64; 3]),
) -> Vec<TargetBox> {
    let mut per_box = groups.len().div_ceil(MAX_BOXES).max(1);
    loop {
        let boxes = merged_by(groups, per_box);
        let mut images = Vec::new();
        for group in &boxes {
            split.for_each_image(group, (lower, upper), |shift| images.push(group.moved(shift)));
        }
        if images.len() <= MAX_BOXES {
            return images;
        }
        if boxes.len() == 1 {
            // the cut is several boxes long: one box for all images
            let all = images.iter().skip(1).fold(images[0], |all, one| all.joined(*one));
            return vec![all];
        }
        per_box *= 2;
    }
}

/// Finds the coarse leaves that some of the boxes open, in order, by descending from the root of the top.
/// `leaf_of` is the coarse leaf of each node of the top (`usize::MAX`: none).
pub(super) fn requests(
    opening: &Opening,
    top: &[WalkNode],
    leaf_of: &[usize],
    boxes: &[TargetBox],
) -> Vec<LeafRequest> {
    let mut requests = Vec::new();
    if top.is_empty() || boxes.is_empty() {
        return requests;
    }
    let mut stack = vec![(0, u128::MAX >> (MAX_BOXES - boxes.len()))];
    let boxes = box_lanes(boxes);
    while let Some((index, candidates)) = stack.pop() {
        let rejecting = rejecting(opening, &top[index], &boxes, candidates);
        if rejecting == 0 {
            continue;
        }
        match leaf_of[index] {
            usize::MAX => stack.extend(top[index].node.child_range().map(|child| (child, rejecting))),
            leaf => requests.push(LeafRequest::new(leaf, rejecting)),
        }
    }
    requests.sort_unstable_by_key(|request| request.leaf);
    requests
}

/// Removes the boxes that no request names, and renumbers the masks.
pub(super) fn compact_requests(
    requests: &[LeafRequest],
    boxes: &[TargetBox],
) -> (Vec<LeafRequest>, Vec<TargetBox>) {
    let used = used_boxes(requests);
    let kept: Vec<usize> = set_bits(used).collect();
    let compact = |request: &LeafRequest| {
        let bits = kept.iter().enumerate().map(|(to, &from)| (request.boxes() >> from & 1) << to);
        LeafRequest::new(request.leaf as usize, bits.fold(0, |all, bit| all | bit))
    };
    (requests.iter().map(compact).collect(), kept.iter().map(|&place| boxes[place]).collect())
}

/// Returns the union of the requests' box masks.
pub(super) fn used_boxes(requests: &[LeafRequest]) -> u128 {
    requests.iter().fold(0, |all, request| all | request.boxes())
}

/// Packs boxes for the vectorized test.
pub(super) fn box_lanes(boxes: &[TargetBox]) -> Vec<BoxLanes> {
    boxes.chunks(LANES).map(BoxLanes::of).collect()
}

/// Returns those of the `candidates` boxes that do not accept a node.
fn rejecting(opening: &Opening, node: &WalkNode, boxes: &[BoxLanes], candidates: u128) -> u128 {
    with_lanes!(_simd => rejecting_in_lanes(opening, node, boxes, candidates))
}

#[inline(always)]
fn rejecting_in_lanes(opening: &Opening, node: &WalkNode, boxes: &[BoxLanes], candidates: u128) -> u128 {
    let mut all = 0;
    for (k, boxes) in boxes.iter().enumerate() {
        let selected = (candidates >> (k * LANES)) as u8;
        if selected != 0 {
            all |= u128::from(opening.rejecting(node, boxes) & selected) << (k * LANES);
        }
    }
    all
}

/// A node in a message to another rank.
#[repr(C)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
pub(super) struct SentNode {
    pub moments: Moments,
    pub node: Node,
}

/// Pruned subtrees, one after the other. Child and row indices are relative to the start of each subtree.
#[derive(Default)]
pub(super) struct Pruned {
    pub nodes: Vec<SentNode>,
    pub sources: Vec<[f64; 4]>,
}

/// Prunes a tree for a set of boxes.
pub(super) struct Pruner<'a> {
    pub opening: &'a Opening,
    /// Acceptance tests of the tree's nodes.
    pub walk_nodes: &'a [WalkNode],
    pub tree: &'a Tree,
    /// The requesting rank's boxes, packed by [`box_lanes`].
    pub boxes: &'a [BoxLanes],
}

impl Pruner<'_> {
    /// Appends the subtree of `root` that the `candidates` boxes open. `root` itself is opened. Accepted
    /// nodes become closed nodes.
    pub fn append(&self, root: usize, candidates: u128, pruned: &mut Pruned) {
        let begin = [pruned.nodes.len(), pruned.sources.len()];
        pruned.nodes.push(SentNode { moments: self.tree.moments[root], node: Node::default() });
        self.open(root, begin[0], candidates, begin, pruned);
    }

    /// Copies the children of node `from` below node `to` of the subtree that starts at `begin`, and recurses
    /// into the opened ones.
    fn open(&self, from: usize, to: usize, candidates: u128, begin: [usize; 2], pruned: &mut Pruned) {
        let node = self.tree.nodes[from];
        if node.rows > 0 {
            let first_row = (pruned.sources.len() - begin[1]) as u32;
            pruned.nodes[to].node = Node { first_row, rows: node.rows, ..Node::default() };
            pruned.sources.extend_from_slice(&self.tree.sources[node.row_range()]);
            return;
        }
        let first = pruned.nodes.len();
        let first_child = (first - begin[0]) as u32;
        pruned.nodes[to].node = Node { first_child, children: node.children, ..Node::default() };
        let closed = |moments: &Moments| SentNode { moments: *moments, node: Node::default() };
        pruned.nodes.extend(self.tree.moments[node.child_range()].iter().map(closed));
        for (child, to) in node.child_range().zip(first..) {
            let rejecting = rejecting(self.opening, &self.walk_nodes[child], self.boxes, candidates);
            if rejecting != 0 {
                self.open(child, to, rejecting, begin, pruned);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::far::accuracy::{Distribution, sample};
    use crate::far::opening::{Criterion, Interactions};
    use proptest::prelude::*;

    fn opening(criterion: Criterion, angle: f64) -> Opening {
        Opening { criterion, angle, range: 0.02, order: 2, split: None }
    }

    /// The tree over all particles.
    fn whole(keys: &[u64], particles: &[[f64; 4]]) -> Tree {
        Tree { sources: particles.to_vec(), ..Tree::nodes_of_cell(keys, particles, 0, 0, 16) }
    }

    /// Total mass and number of sources that a box interacts with.
    fn met(opening: &Opening, tree: &Tree, group: &TargetBox) -> (f64, usize) {
        let mut found = Interactions::default();
        opening.walk(&opening.walk_nodes(tree), group, &mut Vec::new(), &mut found);
        let nodes: f64 = found.nodes.iter().map(|&node| tree.moments[node as usize].mass).sum();
        let rows = found.rows.iter().flat_map(|&(first, end)| &tree.sources[first as usize..end as usize]);
        let points: Vec<f64> = rows.map(|source| source[3]).collect();
        (nodes + points.iter().sum::<f64>(), found.nodes.len() + points.len())
    }

    /// The pruned tree for these boxes, appended after `before` copies of itself.
    fn pruned(pruner: &Pruner, candidates: u128, before: usize) -> Tree {
        let mut all = Pruned::default();
        (0..before).for_each(|_| pruner.append(0, candidates, &mut all));
        let [nodes, sources] = [all.nodes.len(), all.sources.len()];
        pruner.append(0, candidates, &mut all);
        Tree {
            nodes: all.nodes[nodes..].iter().map(|sent| sent.node).collect(),
            moments: all.nodes[nodes..].iter().map(|sent| sent.moments).collect(),
            sources: all.sources[sources..].to_vec(),
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        /// A box inside a box that the tree was pruned for finds the same interactions in the pruned tree as
        /// in the whole tree.
        #[test]
        fn a_pruned_tree_has_all_that_its_boxes_need(
            seed in 0u64..1000, count in 1usize..800, angle in 0.0..1.2f64, relative: bool,
            corners in prop::collection::vec(([-1.5..1.5, -1.5..1.5, -1.5..1.5f64], 0.0..0.5f64), 1..20),
            within in (0.0..1.0f64, 0.0..1.0f64, 0.0..1.0f64), drawn: u64,
        ) {
            let (keys, particles) = sample(Distribution::Evrard, count, seed);
            let whole = whole(&keys, &particles);
            let criterion = if relative { Criterion::RelativeError(1e-2) } else { Criterion::Geometric };
            let opening = opening(criterion, angle);
            let boxes: Vec<TargetBox> = corners.iter().map(|(lower, size)| TargetBox {
                lower: *lower, upper: lower.map(|x| x + size), acceleration: 0.5,
            }).collect();
            let walk_nodes = opening.walk_nodes(&whole);
            let (lanes, all) = (box_lanes(&boxes), (1 << boxes.len()) - 1);
            for node in &walk_nodes {
                let each = boxes.iter().map(|group| u128::from(!opening.accepts(node, group)));
                let expected = each.enumerate().fold(0, |bits, (place, rejects)| bits | rejects << place);
                for candidates in [all, all & u128::from(drawn)] {
                    prop_assert_eq!(rejecting(&opening, node, &lanes, candidates), expected & candidates);
                }
            }
            let wanting = rejecting(&opening, &walk_nodes[0], &lanes, all);
            prop_assume!(wanting != 0);
            let pruner = Pruner { opening: &opening, walk_nodes: &walk_nodes, tree: &whole, boxes: &lanes };
            // the position in the buffer must not matter
            let [pruned, behind] = [0, 1].map(|before| pruned(&pruner, wanting, before));
            prop_assert!(pruned.nodes == behind.nodes && pruned.sources == behind.sources);
            prop_assert!(pruned.moments == behind.moments);
            prop_assert!(pruned.nodes.len() <= whole.nodes.len() && pruned.sources.len() <= whole.sources.len());
            for group in &boxes {
                let span = [0, 1, 2].map(|d| group.upper[d] - group.lower[d]);
                let part = [within.0, within.1, within.2];
                let inside = TargetBox {
                    lower: [0, 1, 2].map(|d| group.lower[d] + 0.5 * span[d] * part[d]),
                    acceleration: 0.6,
                    ..*group
                };
                for group in [group, &inside] {
                    let (expected, got) = (met(&opening, &whole, group), met(&opening, &pruned, group));
                    prop_assert!((expected.0 - got.0).abs() < 1e-12 && expected.1 == got.1);
                    prop_assert!((got.0 - 1.0).abs() < 1e-9, "mass met: {}", got.0);
                }
            }
        }
    }

    #[test]
    #[should_panic(expected = "its owner did not send")]
    fn opening_what_was_not_sent_is_noticed() {
        let (keys, particles) = sample(Distribution::Evrard, 500, 1);
        let whole = whole(&keys, &particles);
        let opening = opening(Criterion::Geometric, 0.5);
        let far = TargetBox { lower: [3.0; 3], upper: [3.1; 3], acceleration: 0.0 };
        let near = TargetBox { lower: [0.0; 3], upper: [0.1; 3], acceleration: 0.0 };
        let walk_nodes = opening.walk_nodes(&whole);
        let far = box_lanes(&[far]);
        let pruner = Pruner { opening: &opening, walk_nodes: &walk_nodes, tree: &whole, boxes: &far };
        met(&opening, &pruned(&pruner, 1, 0), &near);
    }

    #[test]
    fn compact_requests_name_the_same_boxes() {
        let all: Vec<TargetBox> =
            (0..MAX_BOXES).map(|k| TargetBox::around(&[[k as f64, 0.0, 0.0, 1.0]])).collect();
        let requests = [LeafRequest::new(3, 1 << 127 | 1 << 64 | 1), LeafRequest::new(9, 1 << 64 | 1 << 5)];
        let (sent, boxes) = compact_requests(&requests, &all);
        assert_eq!(boxes, [0, 5, 64, 127].map(|k| all[k]));
        assert_eq!(
            sent.iter().map(|request| (request.leaf, request.boxes())).collect::<Vec<_>>(),
            [(3, 13), (9, 6)]
        );
        assert_eq!(used_boxes(&sent).count_ones(), 4);
    }
}
