//! The locally essential tree of a rank (Salmon 1990): the part of the global tree that
//! its walks visit.
//!
//! Every rank refines its own coarse leaves. An all-gather of the moments of all coarse leaves gives every
//! rank the top of the tree; the subtree of a coarse leaf stays with its owner. A rank tests the merged boxes
//! of its super-clusters against the coarse leaves of other ranks, and requests the opened leaves from their
//! owners, together with the boxes. The owner applies the same acceptance test and sends only the nodes and
//! particles that these boxes need. Distant ranks exchange nothing, and no rank holds the whole tree unless
//! the opening angle requires it.
use super::opening::{Opening, TargetBox, WalkNode};
use super::prune::{
    LeafRequest, Pruned, Pruner, SentNode, box_lanes, compact_requests, merged_boxes, merged_images,
    requests, used_boxes,
};
use super::tree::{Node, Tree};
use crate::comm::Communicator;
use crate::tree::{Leaves, Moments};
use rayon::prelude::*;
use std::ops::Range;

/// A rank's input to the tree.
pub(crate) struct TreeInput<'a> {
    /// The coarse leaves, the same on all ranks.
    pub leaves: &'a Leaves,
    /// The coarse leaves that this rank owns: a consecutive range. Each coarse leaf has exactly one owner.
    pub own: Range<usize>,
    /// Sorted keys of the owned particles, all within the own leaves.
    pub keys: &'a [u64],
    /// The owned particles as `[x, y, z, mass]`.
    pub particles: Vec<[f64; 4]>,
    /// Maximum number of particles in a leaf of the tree.
    pub bucket: usize,
}

/// The locally essential tree of this rank.
pub(crate) struct LocallyEssentialTree {
    /// The tree. The owned particles are its first sources, in their order.
    pub tree: Tree,
    /// Acceptance tests of its nodes.
    pub walk_nodes: Vec<WalkNode>,
    /// Number of owned particles.
    pub owned: usize,
    /// Nodes of the top and of the tree over the own particles.
    pub own_nodes: usize,
    /// Nodes received from other ranks.
    pub received_nodes: usize,
    /// Particles received from other ranks.
    pub received_particles: usize,
}

/// The tree of this rank before the exchange: its own subtrees below the top of the global tree.
pub(crate) struct OwnTree {
    tree: Tree,
    /// Number of nodes of the top of the tree. They come first and end at the coarse leaves.
    top: usize,
    /// Coarse leaf of each node of the top, or `usize::MAX`.
    leaf_of: Vec<usize>,
    /// Node of each coarse leaf, if it has particles.
    node_of: Vec<Option<usize>>,
    /// First coarse leaf of each rank, then the number of leaves.
    first_leaf: Vec<usize>,
    /// The own coarse leaves.
    own: Range<usize>,
    /// Number of nodes below each own coarse leaf.
    below: Vec<usize>,
}

impl OwnTree {
    /// Refines the own leaves, gathers the moments of all coarse leaves, and builds the top. Collective.
    pub fn build(comm: &Communicator, input: TreeInput) -> Self {
        let (first_rows, subtrees) = subtrees(&input);
        let own: Vec<Moments> = subtrees.iter().map(root_moments).collect();
        let of_ranks = comm.all_gather(&own);
        let mut first_leaf = vec![0];
        first_leaf.extend(of_ranks.iter().scan(0, |next, own| {
            *next += own.len();
            Some(*next)
        }));
        let moments = of_ranks.concat();
        assert!(moments.len() == input.leaves.len(), "the ranks do not own each coarse leaf once");
        let (mut tree, leaf_of) = Tree::top(input.leaves, &moments);
        let top = tree.nodes.len();
        let mut node_of = vec![None; input.leaves.len()];
        for (node, &leaf) in leaf_of.iter().enumerate().filter(|(_, leaf)| **leaf != usize::MAX) {
            node_of[leaf] = Some(node);
        }
        let below: Vec<usize> =
            subtrees.iter().map(|subtree| subtree.nodes.len().saturating_sub(1)).collect();
        tree.nodes.reserve_exact(below.iter().sum());
        tree.moments.reserve_exact(below.iter().sum());
        tree.sources = input.particles;
        // each subtree is freed once its nodes are in the tree
        for ((leaf, subtree), first_row) in input.own.clone().zip(subtrees).zip(first_rows) {
            if let Some(node) = node_of[leaf] {
                tree.graft(node, subtree.nodes.into_iter().zip(subtree.moments), first_row);
            }
        }
        Self { tree, top, leaf_of, node_of, first_leaf, own: input.own, below }
    }

    /// Returns the tree before the exchange. The coarse leaves of other ranks are closed nodes.
    pub fn tree(&self) -> &Tree {
        &self.tree
    }

    /// Returns the acceptance tests of the top of the tree, closed at the coarse leaves.
    pub fn closed_top(&self, opening: &Opening) -> Vec<WalkNode> {
        let closed =
            |(node, leaf): (&Node, &usize)| if *leaf == usize::MAX { *node } else { Node::default() };
        let nodes: Vec<Node> = self.tree.nodes.iter().zip(&self.leaf_of).map(closed).collect();
        opening.walk_nodes_of(&nodes, &self.tree.moments[..self.top])
    }

    /// Coarse leaf of each node of the top, or `usize::MAX`.
    pub fn leaf_of(&self) -> &[usize] {
        &self.leaf_of
    }

    /// Node of a coarse leaf, if the leaf has particles.
    pub fn node_of(&self, leaf: usize) -> Option<usize> {
        self.node_of[leaf]
    }

    /// Number of nodes below each own coarse leaf.
    pub fn below(&self) -> &[usize] {
        &self.below
    }

    /// Exchanges subtrees: sends what other ranks requested, and receives what the groups `boxes` need.
    /// Collective.
    pub fn exchange(
        self,
        comm: &Communicator,
        opening: &Opening,
        boxes: &[TargetBox],
    ) -> LocallyEssentialTree {
        let walk_nodes = opening.walk_nodes(&self.tree);
        if comm.size() == 1 {
            return LocallyEssentialTree::of(self.tree, walk_nodes);
        }
        let mine = match (&opening.split, self.tree.moments.first()) {
            (Some(split), Some(root)) => merged_images(boxes, split, (root.lower, root.upper)),
            _ => merged_boxes(boxes),
        };
        let mut wanted = requests(opening, &self.closed_top(opening), &self.leaf_of, &mine);
        wanted.retain(|request| !self.own.contains(&(request.leaf as usize)));
        let (requests_out, boxes_out): (Vec<Vec<LeafRequest>>, Vec<Vec<TargetBox>>) = self
            .first_leaf
            .windows(2)
            .map(|leaves| {
                let below = |end: usize| wanted.partition_point(|request| (request.leaf as usize) < end);
                compact_requests(&wanted[below(leaves[0])..below(leaves[1])], &mine)
            })
            .unzip();
        let requests_in = comm.all_to_all(&requests_out);
        let box_counts: Vec<usize> =
            requests_in.iter().map(|requests| used_boxes(requests).count_ones() as usize).collect();
        let boxes_in = comm.exchange(&boxes_out, &box_counts);
        let packets = self.packets(opening, &walk_nodes, &requests_in, &boxes_in);

        let leaf_counts: Vec<usize> = requests_out.iter().map(Vec::len).collect();
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
        let mut essential = LocallyEssentialTree::of(self.tree, walk_nodes);
        let received = nodes.iter().map(Vec::len).sum();
        essential.tree.nodes.reserve_exact(received);
        essential.tree.moments.reserve_exact(received);
        essential.tree.sources.reserve_exact(sources.iter().map(Vec::len).sum());
        for ((leaves, nodes), sources) in leaves.iter().zip(&nodes).zip(&sources) {
            essential.graft(&self.node_of, leaves, nodes, sources);
        }
        let opened = leaves.iter().flatten().filter_map(|[leaf, ..]| self.node_of[*leaf as usize]);
        essential.update_walk_nodes(opening, opened);
        essential
    }

    /// Prunes the tree for every rank's requests; the boxes of a rank are those that its requests name.
    fn packets(
        &self,
        opening: &Opening,
        walk_nodes: &[WalkNode],
        requests: &[Vec<LeafRequest>],
        boxes: &[Vec<TargetBox>],
    ) -> Vec<Packet> {
        let packet = |(requests, boxes): (&Vec<LeafRequest>, &Vec<TargetBox>)| {
            let boxes = box_lanes(boxes);
            let pruner = Pruner { opening, walk_nodes, tree: &self.tree, boxes: &boxes };
            let mut packet = Packet::default();
            for request in requests {
                let leaf = request.leaf as usize;
                let Some(root) = self.node_of[leaf] else {
                    unreachable!("a rank asks for what is below a coarse leaf that has no particles")
                };
                packet.add(leaf, |pruned| pruner.append(root, request.boxes(), pruned));
            }
            packet
        };
        requests.par_iter().zip(boxes).map(packet).collect()
    }
}

impl LocallyEssentialTree {
    /// Starts from the own tree.
    fn of(tree: Tree, walk_nodes: Vec<WalkNode>) -> Self {
        let (owned, own_nodes) = (tree.sources.len(), tree.nodes.len());
        LocallyEssentialTree { tree, walk_nodes, owned, own_nodes, received_nodes: 0, received_particles: 0 }
    }

    /// Recomputes the acceptance tests of the opened coarse leaves, and adds those of the received nodes.
    fn update_walk_nodes(&mut self, opening: &Opening, opened: impl Iterator<Item = usize>) {
        let Tree { nodes, moments, .. } = &self.tree;
        for node in opened {
            self.walk_nodes[node] = opening.walk_node(&nodes[node], &moments[node]);
        }
        let received = self.walk_nodes.len()..;
        self.walk_nodes.extend(opening.walk_nodes_of(&nodes[received.clone()], &moments[received]));
    }

    /// Appends the subtrees that another rank sent below its coarse leaves.
    fn graft(
        &mut self,
        node_of: &[Option<usize>],
        leaves: &[[u64; 3]],
        nodes: &[SentNode],
        sources: &[[f64; 4]],
    ) {
        self.received_nodes += nodes.len() - leaves.len(); // the top already has the coarse leaves
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

/// Builds the subtrees of the own coarse leaves, without sources. Also returns the first row of each leaf,
/// and the end.
fn subtrees(input: &TreeInput) -> (Vec<usize>, Vec<Tree>) {
    let row_of = |leaf: usize| {
        if leaf == input.own.end {
            return input.keys.len(); // includes keys at the very end of the curve
        }
        input.keys.partition_point(|&key| key < input.leaves.keys()[leaf])
    };
    let first_rows: Vec<usize> = (input.own.start..=input.own.end).map(row_of).collect();
    assert!(first_rows[0] == 0, "a rank owns particles below its first coarse leaf");
    let subtrees = input
        .own
        .clone()
        .into_par_iter()
        .map(|leaf| {
            let own = leaf - input.own.start;
            let rows = first_rows[own]..first_rows[own + 1];
            let (start, level) = (input.leaves.keys()[leaf], input.leaves.level(leaf));
            let particles = &input.particles[rows.clone()];
            Tree::nodes_of_cell(&input.keys[rows], particles, start, level, input.bucket)
        })
        .collect();
    (first_rows, subtrees)
}

/// Returns the moments of the root.
fn root_moments(tree: &Tree) -> Moments {
    tree.moments.first().copied().unwrap_or_default()
}

/// Message to one rank.
#[derive(Default)]
struct Packet {
    /// Per subtree: coarse leaf, number of nodes, number of particles.
    leaves: Vec<[u64; 3]>,
    pruned: Pruned,
}

impl Packet {
    /// Adds the subtree of a coarse leaf; `append` writes its nodes and sources.
    fn add(&mut self, leaf: usize, append: impl FnOnce(&mut Pruned)) {
        let before = [self.pruned.nodes.len(), self.pruned.sources.len()];
        append(&mut self.pruned);
        let [nodes, sources] = [self.pruned.nodes.len() - before[0], self.pruned.sources.len() - before[1]];
        self.leaves.push([leaf as u64, nodes as u64, sources as u64]);
    }
}
