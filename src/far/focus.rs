//! The locally essential tree: what a rank needs of the tree over all particles, and no more.
//!
//! Every rank refines the coarse leaves that it owns. The moments of all coarse leaves are gathered, so everybody has
//! the top of the tree. What lies below a coarse leaf stays with its owner, who decides with the same opening test as
//! the receiver, for boxes that enclose the receiver's super-clusters, which nodes and particles the receiver will
//! open, and sends them unasked. Nobody ever holds all nodes or all particles, unless the opening angle demands it.
use super::opening::{Opening, TargetBox, WalkNode};
use super::tree::{Node, Tree};
use crate::comm::Communicator;
use crate::tree::{Leaves, Moments};
use rayon::prelude::*;
use std::collections::HashMap;
use std::ops::Range;

/// What a rank contributes to the tree.
pub(crate) struct Share<'a> {
    /// The coarse leaves, the same on all ranks.
    pub leaves: &'a Leaves,
    /// Those that this rank owns: consecutive, and of all ranks together each exactly once.
    pub own: Range<usize>,
    /// Keys of the owned particles, sorted, all within the own leaves.
    pub keys: &'a [u64],
    /// The owned particles: x, y, z, mass.
    pub particles: &'a [[f64; 4]],
    /// Leaves of the tree hold at most so many particles.
    pub bucket: usize,
}

/// The part of the tree over all ranks' particles that a rank needs.
pub(crate) struct Focus {
    /// The tree; the owned particles are its first sources, in their order.
    pub tree: Tree,
    /// Nodes of the tree over the own particles.
    pub own_nodes: usize,
    /// Nodes received from other ranks.
    pub received_nodes: usize,
    /// Particles received from other ranks.
    pub received_particles: usize,
}

/// Boxes that stand for a rank's super-clusters towards other ranks.
const BOXES: usize = 128;

/// A node on its way to another rank.
#[repr(C)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
struct SentNode {
    moments: Moments,
    node: Node,
}

/// The tree of this rank, before anything of the others is known but the moments of their coarse leaves.
pub(crate) struct OwnTree {
    tree: Tree,
    /// The first so many nodes are the top: down to the coarse leaves.
    top: usize,
    /// Per coarse leaf its node in the tree, if it has particles.
    node_of: Vec<Option<usize>>,
    /// One tree an own coarse leaf.
    subtrees: Vec<Tree>,
}

impl OwnTree {
    /// Refine the own leaves, gather the moments of all, and put the top together. Collective.
    pub fn build(comm: &Communicator, share: &Share) -> Self {
        let first_rows: Vec<usize> = (share.own.start..=share.own.end)
            .map(|leaf| {
                if leaf == share.own.end {
                    share.keys.len() // also keys at the very end of the curve
                } else {
                    share.keys.partition_point(|&key| key < share.leaves.keys()[leaf])
                }
            })
            .collect();
        assert!(first_rows[0] == 0, "a rank owns particles below its first coarse leaf");
        let subtrees: Vec<Tree> = share
            .own
            .clone()
            .into_par_iter()
            .map(|leaf| {
                let rows = first_rows[leaf - share.own.start]..first_rows[leaf - share.own.start + 1];
                let start = share.leaves.keys()[leaf];
                let level = share.leaves.level(leaf);
                Tree::of_cell(&share.keys[rows.clone()], &share.particles[rows], start, level, share.bucket)
            })
            .collect();
        let own: Vec<Moments> =
            subtrees.iter().map(|tree| tree.moments.first().copied().unwrap_or_default()).collect();
        let moments = comm.all_gather(&own).concat();
        assert!(moments.len() == share.leaves.len(), "the ranks do not own each coarse leaf once");
        let (mut tree, leaf_of) = Tree::top(share.leaves, &moments);
        let top = tree.nodes.len();
        let mut node_of = vec![None; share.leaves.len()];
        for (node, leaf) in leaf_of.into_iter().enumerate().filter(|(_, leaf)| *leaf != usize::MAX) {
            node_of[leaf] = Some(node);
        }
        for (leaf, subtree) in share.own.clone().zip(&subtrees) {
            if let Some(node) = node_of[leaf] {
                tree.graft(node, subtree);
            }
        }
        Self { tree, top, node_of, subtrees }
    }

    /// The tree so far: below the coarse leaves of other ranks it is closed.
    pub fn tree(&self) -> &Tree {
        &self.tree
    }

    /// Send what the others need, receive what this rank needs towards the groups `boxes`. Collective.
    pub fn exchange(
        self,
        comm: &Communicator,
        share: &Share,
        opening: &Opening,
        boxes: &[TargetBox],
    ) -> Focus {
        let own_nodes = self.tree.nodes.len();
        let mut focus = Focus { tree: self.tree, own_nodes, received_nodes: 0, received_particles: 0 };
        if comm.size() == 1 {
            return focus;
        }
        let together = boxes.len().div_ceil(BOXES).max(1);
        let mine: Vec<TargetBox> = boxes
            .chunks(together)
            .map(|group| group.iter().skip(1).fold(group[0], |all, one| all.joined(*one)))
            .collect();
        let peers = comm.all_gather(&mine);
        let mut top = opening.walk_nodes(&focus.tree);
        top.truncate(self.top);
        let own: Vec<(usize, usize, Vec<WalkNode>)> = share
            .own
            .clone()
            .zip(&self.subtrees)
            .filter_map(|(leaf, subtree)| Some((leaf, self.node_of[leaf]?, opening.walk_nodes(subtree))))
            .collect();
        let packets: Vec<Packet> = peers
            .par_iter()
            .enumerate()
            .map(|(rank, boxes)| {
                let mut packet = Packet::default();
                if rank == comm.rank() || boxes.is_empty() || top.is_empty() {
                    return packet;
                }
                let wanted = opened(opening, &top, boxes);
                for (leaf, node, walk_nodes) in &own {
                    if let Some(boxes) = wanted.get(node) {
                        let subtree = &self.subtrees[leaf - share.own.start];
                        packet.add(*leaf, Pruning { opening, walk_nodes, subtree }.tree(boxes));
                    }
                }
                packet
            })
            .collect();
        let leaves = comm.all_to_all(&packets.iter().map(|packet| packet.leaves.clone()).collect::<Vec<_>>());
        let (mut nodes, mut sources) = (Vec::new(), Vec::new());
        for packet in packets {
            nodes.push(packet.nodes);
            sources.push(packet.sources);
        }
        let nodes = comm.all_to_all(&nodes);
        let sources = comm.all_to_all(&sources);
        for ((leaves, nodes), sources) in leaves.iter().zip(&nodes).zip(&sources) {
            focus.received_nodes += nodes.len() - leaves.len(); // the coarse leaves themselves are known
            focus.received_particles += sources.len();
            let (mut node, mut source) = (0, 0);
            for [leaf, node_count, source_count] in leaves {
                let node_end = node + *node_count as usize;
                let source_end = source + *source_count as usize;
                let Some(at) = self.node_of[*leaf as usize] else {
                    unreachable!("a rank sent particles below a coarse leaf that has none")
                };
                let subtree = Tree {
                    nodes: nodes[node..node_end].iter().map(|sent| sent.node).collect(),
                    moments: nodes[node..node_end].iter().map(|sent| sent.moments).collect(),
                    sources: sources[source..source_end].to_vec(),
                };
                focus.tree.graft(at, &subtree);
                (node, source) = (node_end, source_end);
            }
        }
        focus
    }
}

/// What goes to one rank.
#[derive(Default)]
struct Packet {
    /// Per subtree: coarse leaf, nodes, particles.
    leaves: Vec<[u64; 3]>,
    nodes: Vec<SentNode>,
    sources: Vec<[f64; 4]>,
}

impl Packet {
    fn add(&mut self, leaf: usize, subtree: Tree) {
        self.leaves.push([leaf as u64, subtree.nodes.len() as u64, subtree.sources.len() as u64]);
        let nodes = subtree.nodes.iter().zip(&subtree.moments);
        self.nodes.extend(nodes.map(|(node, moments)| SentNode { moments: *moments, node: *node }));
        self.sources.extend_from_slice(&subtree.sources);
    }
}

/// The boxes that do not accept a node.
fn refusing(opening: &Opening, node: &WalkNode, boxes: &[TargetBox]) -> Vec<TargetBox> {
    boxes.iter().filter(|group| !opening.accepts(node, group)).copied().collect()
}

/// The nodes of the top that some of the boxes open, coming down from the root, with those boxes.
fn opened(opening: &Opening, top: &[WalkNode], boxes: &[TargetBox]) -> HashMap<usize, Vec<TargetBox>> {
    let mut opened = HashMap::new();
    let mut stack = vec![(0, boxes.to_vec())];
    while let Some((index, boxes)) = stack.pop() {
        let boxes = refusing(opening, &top[index], &boxes);
        if !boxes.is_empty() {
            let children = top[index].node.child_range().filter(|&child| child < top.len());
            stack.extend(children.map(|child| (child, boxes.clone())));
            opened.insert(index, boxes);
        }
    }
    opened
}

/// What some boxes need of a subtree whose root they open.
struct Pruning<'a> {
    opening: &'a Opening,
    walk_nodes: &'a [WalkNode],
    subtree: &'a Tree,
}

impl Pruning<'_> {
    fn tree(&self, boxes: &[TargetBox]) -> Tree {
        let mut pruned = Tree {
            nodes: vec![Node::default()],
            moments: vec![self.subtree.moments[0]],
            sources: Vec::new(),
        };
        self.open(0, 0, boxes, &mut pruned);
        pruned
    }

    /// Copy what is directly below node `from` to below node `to` of the pruned tree, and open what must be.
    fn open(&self, from: usize, to: usize, boxes: &[TargetBox], pruned: &mut Tree) {
        let node = self.subtree.nodes[from];
        if node.rows > 0 {
            pruned.nodes[to] =
                Node { first_row: pruned.sources.len() as u32, rows: node.rows, ..Node::default() };
            pruned.sources.extend_from_slice(&self.subtree.sources[node.row_range()]);
            return;
        }
        let first = pruned.nodes.len();
        pruned.nodes[to] = Node { first_child: first as u32, children: node.children, ..Node::default() };
        pruned.nodes.resize(first + node.children as usize, Node::default());
        pruned.moments.extend_from_slice(&self.subtree.moments[node.child_range()]);
        for (child, to) in node.child_range().zip(first..) {
            let boxes = refusing(self.opening, &self.walk_nodes[child], boxes);
            if !boxes.is_empty() {
                self.open(child, to, &boxes, pruned);
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
        Opening { criterion, angle, range: 0.02, order: 2 }
    }

    /// Total mass and number of sources that a box meets in a tree.
    fn met(opening: &Opening, tree: &Tree, group: &TargetBox) -> (f64, usize) {
        let mut found = Interactions::default();
        opening.walk(&opening.walk_nodes(tree), group, &mut Vec::new(), &mut found);
        let nodes: f64 = found.nodes.iter().map(|&node| tree.moments[node as usize].mass).sum();
        let rows = found.rows.iter().flat_map(|&(first, end)| &tree.sources[first as usize..end as usize]);
        let points: Vec<f64> = rows.map(|source| source[3]).collect();
        (nodes + points.iter().sum::<f64>(), found.nodes.len() + points.len())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        /// Whatever lies inside a box for which a tree was pruned finds in the pruned tree all that it finds in the
        /// whole one.
        #[test]
        fn a_pruned_tree_has_all_that_its_boxes_need(
            seed in 0u64..1000, count in 1usize..800, angle in 0.0..1.2f64, relative: bool,
            corners in prop::collection::vec(([-1.5..1.5, -1.5..1.5, -1.5..1.5f64], 0.0..0.5f64), 1..6),
            within in (0.0..1.0f64, 0.0..1.0f64, 0.0..1.0f64),
        ) {
            let (keys, particles) = sample(Distribution::Evrard, count, seed);
            let whole = Tree::of_cell(&keys, &particles, 0, 0, 16);
            let criterion = if relative { Criterion::RelativeError(1e-2) } else { Criterion::Geometric };
            let opening = opening(criterion, angle);
            let boxes: Vec<TargetBox> = corners.iter().map(|(lower, size)| TargetBox {
                lower: *lower, upper: lower.map(|x| x + size), acceleration: 0.5,
            }).collect();
            let walk_nodes = opening.walk_nodes(&whole);
            let wanting = refusing(&opening, &walk_nodes[0], &boxes);
            prop_assume!(!wanting.is_empty());
            let pruned = Pruning { opening: &opening, walk_nodes: &walk_nodes, subtree: &whole }.tree(&wanting);
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
        let whole = Tree::of_cell(&keys, &particles, 0, 0, 16);
        let opening = opening(Criterion::Geometric, 0.5);
        let far = TargetBox { lower: [3.0; 3], upper: [3.1; 3], acceleration: 0.0 };
        let near = TargetBox { lower: [0.0; 3], upper: [0.1; 3], acceleration: 0.0 };
        let pruned = Pruning { opening: &opening, walk_nodes: &opening.walk_nodes(&whole), subtree: &whole }
            .tree(&[far]);
        met(&opening, &pruned, &near);
    }
}
