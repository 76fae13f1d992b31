//! The locally essential tree: what a rank needs of the tree over all particles, and no more.
//!
//! Every rank refines the coarse leaves that it owns. The moments of all coarse leaves are gathered, so everybody has
//! the top of the tree. What lies below a coarse leaf stays with its owner. A rank finds out which leaves of others some
//! of the boxes around its super-clusters open, and asks their owners alone, with those boxes; an owner decides with the
//! same opening test which nodes and particles below they will open, and sends these. So ranks that are far apart
//! exchange nothing, and nobody ever holds all nodes or all particles, unless the opening angle demands it.
use super::opening::{Opening, TargetBox, WalkNode};
use super::prune::{
    Pruned, Pruning, SentNode, Wish, addressed, all_named, lanes_of, representatives, wishes,
};
use super::tree::{Node, Tree};
use crate::comm::Communicator;
use crate::tree::{Leaves, Moments};
use rayon::prelude::*;
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
    pub particles: Vec<[f64; 4]>,
    /// Leaves of the tree hold at most so many particles.
    pub bucket: usize,
}

/// The part of the tree over all ranks' particles that a rank needs.
pub(crate) struct Focus {
    /// The tree; the owned particles are its first sources, in their order.
    pub tree: Tree,
    /// Its nodes as the walk reads them.
    pub walk_nodes: Vec<WalkNode>,
    /// Number of owned particles.
    pub owned: usize,
    /// Nodes of the tree over the own particles.
    pub own_nodes: usize,
    /// Nodes received from other ranks.
    pub received_nodes: usize,
    /// Particles received from other ranks.
    pub received_particles: usize,
}

/// The tree of this rank, before anything of the others is known but the moments of their coarse leaves.
pub(crate) struct OwnTree {
    tree: Tree,
    /// The first so many nodes are the top: down to the coarse leaves.
    top: usize,
    /// Of each node of the top its coarse leaf, or `usize::MAX`.
    leaf_of: Vec<usize>,
    /// Per coarse leaf its node in the tree, if it has particles.
    node_of: Vec<Option<usize>>,
    /// Per rank its first coarse leaf, and the end.
    first_leaf: Vec<usize>,
    /// The own coarse leaves.
    own: Range<usize>,
    /// Nodes below each of them.
    below: Vec<usize>,
}

impl OwnTree {
    /// Refine the own leaves, gather the moments of all, and put the top together. Collective.
    pub fn build(comm: &Communicator, share: Share) -> Self {
        let (first_rows, subtrees) = subtrees(&share);
        let own: Vec<Moments> = subtrees.iter().map(root_moments).collect();
        let of_ranks = comm.all_gather(&own);
        let mut first_leaf = vec![0];
        first_leaf.extend(of_ranks.iter().scan(0, |next, own| {
            *next += own.len();
            Some(*next)
        }));
        let moments = of_ranks.concat();
        assert!(moments.len() == share.leaves.len(), "the ranks do not own each coarse leaf once");
        let (mut tree, leaf_of) = Tree::top(share.leaves, &moments);
        let top = tree.nodes.len();
        let mut node_of = vec![None; share.leaves.len()];
        for (node, &leaf) in leaf_of.iter().enumerate().filter(|(_, leaf)| **leaf != usize::MAX) {
            node_of[leaf] = Some(node);
        }
        let below: Vec<usize> =
            subtrees.iter().map(|subtree| subtree.nodes.len().saturating_sub(1)).collect();
        tree.nodes.reserve_exact(below.iter().sum());
        tree.moments.reserve_exact(below.iter().sum());
        tree.sources = share.particles;
        // each subtree goes as soon as its nodes are in the tree
        for ((leaf, subtree), first_row) in share.own.clone().zip(subtrees).zip(first_rows) {
            if let Some(node) = node_of[leaf] {
                tree.graft(node, subtree.nodes.into_iter().zip(subtree.moments), first_row);
            }
        }
        Self { tree, top, leaf_of, node_of, first_leaf, own: share.own, below }
    }

    /// The tree so far: below the coarse leaves of other ranks it is closed.
    pub fn tree(&self) -> &Tree {
        &self.tree
    }

    /// The top of the tree as the walk reads it, closed at the coarse leaves.
    pub fn closed_top(&self, opening: &Opening) -> Vec<WalkNode> {
        let closed =
            |(node, leaf): (&Node, &usize)| if *leaf == usize::MAX { *node } else { Node::default() };
        let nodes: Vec<Node> = self.tree.nodes.iter().zip(&self.leaf_of).map(closed).collect();
        opening.walk_nodes_of(&nodes, &self.tree.moments[..self.top])
    }

    /// Of each node of the top its coarse leaf, or `usize::MAX`.
    pub fn leaf_of(&self) -> &[usize] {
        &self.leaf_of
    }

    /// The node of a coarse leaf, if that has particles.
    pub fn node_of(&self, leaf: usize) -> Option<usize> {
        self.node_of[leaf]
    }

    /// The number of nodes below each of the own coarse leaves.
    pub fn below(&self) -> &[usize] {
        &self.below
    }

    /// Send what the others need, receive what this rank needs towards the groups `boxes`. Collective.
    pub fn exchange(self, comm: &Communicator, opening: &Opening, boxes: &[TargetBox]) -> Focus {
        let walk_nodes = opening.walk_nodes(&self.tree);
        if comm.size() == 1 {
            return Focus::of(self.tree, walk_nodes);
        }
        let mine = representatives(boxes);
        let mut wanted = wishes(opening, &self.closed_top(opening), &self.leaf_of, &mine);
        wanted.retain(|wish| !self.own.contains(&(wish.leaf as usize)));
        let (asked, asking): (Vec<Vec<Wish>>, Vec<Vec<TargetBox>>) = self
            .first_leaf
            .windows(2)
            .map(|leaves| {
                let below = |end: usize| wanted.partition_point(|wish| (wish.leaf as usize) < end);
                addressed(&wanted[below(leaves[0])..below(leaves[1])], &mine)
            })
            .unzip();
        let of_others = comm.all_to_all(&asked);
        let box_counts: Vec<usize> =
            of_others.iter().map(|wishes| all_named(wishes).count_ones() as usize).collect();
        let their_boxes = comm.exchange(&asking, &box_counts);
        let packets = self.packets(opening, &walk_nodes, &of_others, &their_boxes);

        let leaf_counts: Vec<usize> = asked.iter().map(Vec::len).collect();
        let (mut leaves, mut nodes, mut sources) = (Vec::new(), Vec::new(), Vec::new());
        for packet in packets {
            leaves.push(packet.leaves);
            nodes.push(packet.pruned.nodes);
            sources.push(packet.pruned.sources);
        }
        let leaves = comm.exchange(&leaves, &leaf_counts);
        let total =
            |leaves: &Vec<[u64; 3]>, which: usize| leaves.iter().map(|leaf| leaf[which] as usize).sum();
        let nodes = comm.exchange(&nodes, &leaves.iter().map(|leaves| total(leaves, 1)).collect::<Vec<_>>());
        let sources =
            comm.exchange(&sources, &leaves.iter().map(|leaves| total(leaves, 2)).collect::<Vec<_>>());
        let mut focus = Focus::of(self.tree, walk_nodes);
        let received = nodes.iter().map(Vec::len).sum();
        focus.tree.nodes.reserve_exact(received);
        focus.tree.moments.reserve_exact(received);
        focus.tree.sources.reserve_exact(sources.iter().map(Vec::len).sum());
        for ((leaves, nodes), sources) in leaves.iter().zip(&nodes).zip(&sources) {
            focus.graft(&self.node_of, leaves, nodes, sources);
        }
        let opened = leaves.iter().flatten().filter_map(|[leaf, ..]| self.node_of[*leaf as usize]);
        focus.renew_walk_nodes(opening, opened);
        focus
    }

    /// What the ranks get for their wishes, which their boxes belong to.
    fn packets(
        &self,
        opening: &Opening,
        walk_nodes: &[WalkNode],
        wishes: &[Vec<Wish>],
        boxes: &[Vec<TargetBox>],
    ) -> Vec<Packet> {
        let packet = |(wishes, boxes): (&Vec<Wish>, &Vec<TargetBox>)| {
            let boxes = lanes_of(boxes);
            let pruning = Pruning { opening, walk_nodes, tree: &self.tree, boxes: &boxes };
            let mut packet = Packet::default();
            for wish in wishes {
                let leaf = wish.leaf as usize;
                let Some(root) = self.node_of[leaf] else {
                    unreachable!("a rank asks for what is below a coarse leaf that has no particles")
                };
                packet.add(leaf, |pruned| pruning.append(root, wish.boxes(), pruned));
            }
            packet
        };
        wishes.par_iter().zip(boxes).map(packet).collect()
    }
}

impl Focus {
    /// Of the own tree alone.
    fn of(tree: Tree, walk_nodes: Vec<WalkNode>) -> Self {
        let (owned, own_nodes) = (tree.sources.len(), tree.nodes.len());
        Focus { tree, walk_nodes, owned, own_nodes, received_nodes: 0, received_particles: 0 }
    }

    /// Those of the nodes that have been opened, and of all that have been received.
    fn renew_walk_nodes(&mut self, opening: &Opening, opened: impl Iterator<Item = usize>) {
        let Tree { nodes, moments, .. } = &self.tree;
        for node in opened {
            self.walk_nodes[node] = opening.walk_node(&nodes[node], &moments[node]);
        }
        let received = self.walk_nodes.len()..;
        self.walk_nodes.extend(opening.walk_nodes_of(&nodes[received.clone()], &moments[received]));
    }

    /// Put what another rank has sent below its coarse leaves.
    fn graft(
        &mut self,
        node_of: &[Option<usize>],
        leaves: &[[u64; 3]],
        nodes: &[SentNode],
        sources: &[[f64; 4]],
    ) {
        self.received_nodes += nodes.len() - leaves.len(); // the coarse leaves themselves are known
        self.received_particles += sources.len();
        let (mut node, mut source) = (0, 0);
        for [leaf, node_count, source_count] in leaves {
            let node_end = node + *node_count as usize;
            let source_end = source + *source_count as usize;
            let Some(at) = node_of[*leaf as usize] else {
                unreachable!("a rank sent particles below a coarse leaf that has none")
            };
            let subtree = nodes[node..node_end].iter().map(|sent| (sent.node, sent.moments));
            self.tree.graft(at, subtree, self.tree.sources.len());
            self.tree.sources.extend_from_slice(&sources[source..source_end]);
            (node, source) = (node_end, source_end);
        }
    }
}

/// The trees below the own coarse leaves, without sources, and the first rows of the leaves.
fn subtrees(share: &Share) -> (Vec<usize>, Vec<Tree>) {
    let row_of = |leaf: usize| {
        if leaf == share.own.end {
            return share.keys.len(); // also keys at the very end of the curve
        }
        share.keys.partition_point(|&key| key < share.leaves.keys()[leaf])
    };
    let first_rows: Vec<usize> = (share.own.start..=share.own.end).map(row_of).collect();
    assert!(first_rows[0] == 0, "a rank owns particles below its first coarse leaf");
    let subtrees = share
        .own
        .clone()
        .into_par_iter()
        .map(|leaf| {
            let own = leaf - share.own.start;
            let rows = first_rows[own]..first_rows[own + 1];
            let (start, level) = (share.leaves.keys()[leaf], share.leaves.level(leaf));
            let particles = &share.particles[rows.clone()];
            Tree::nodes_of_cell(&share.keys[rows], particles, start, level, share.bucket)
        })
        .collect();
    (first_rows, subtrees)
}

/// The moments of all that is in a tree.
fn root_moments(tree: &Tree) -> Moments {
    tree.moments.first().copied().unwrap_or_default()
}

/// What goes to one rank.
#[derive(Default)]
struct Packet {
    /// Per subtree: coarse leaf, nodes, particles.
    leaves: Vec<[u64; 3]>,
    pruned: Pruned,
}

impl Packet {
    /// The part below a coarse leaf, which is appended so.
    fn add(&mut self, leaf: usize, append: impl FnOnce(&mut Pruned)) {
        let before = [self.pruned.nodes.len(), self.pruned.sources.len()];
        append(&mut self.pruned);
        let [nodes, sources] = [self.pruned.nodes.len() - before[0], self.pruned.sources.len() - before[1]];
        self.leaves.push([leaf as u64, nodes as u64, sources as u64]);
    }
}
