//! The gravity tree: nodes with their moments, and the particles of the leaves as sources.
use crate::parallel::ScratchPool;
use crate::space::hilbert::LEVELS;
use crate::tree::leaves::{Leaves, span_of};
use crate::tree::moments::Moments;
use std::ops::Range;

/// A node: indices of its children or particles.
///
/// Children are consecutive. Empty octants and chains of single children are omitted. A node without children
/// is a leaf if it has rows, and *closed* if it has none: its subtree is on another rank, whose pruning
/// guarantees that this rank accepts the node.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
pub struct Node {
    /// First child in the tree's nodes.
    pub first_child: u32,
    /// Number of children; 0 for leaves and closed nodes.
    pub children: u32,
    /// First particle of a leaf in the tree's sources.
    pub first_row: u32,
    /// Number of particles of a leaf; 0 for other nodes.
    pub rows: u32,
}

impl Node {
    /// Indices of the children.
    pub fn child_range(&self) -> Range<usize> {
        self.first_child as usize..(self.first_child + self.children) as usize
    }

    /// Rows of the leaf's particles in the tree's sources.
    pub fn row_range(&self) -> Range<usize> {
        self.first_row as usize..(self.first_row + self.rows) as usize
    }
}

/// An octree, or the part of one that a rank needs. Node 0 is the root; parents precede children.
#[derive(Clone, Debug, Default)]
pub struct Tree {
    /// The nodes; empty if there are no particles.
    pub nodes: Vec<Node>,
    /// Moments of the nodes.
    pub moments: Vec<Moments>,
    /// Particles as `[x, y, z, mass]`; leaves refer to ranges of them.
    pub sources: Vec<[f64; 4]>,
}

/// Scratch trees for subtrees, whose number of nodes is not known in advance.
static SCRATCH_TREES: ScratchPool<Tree> = ScratchPool::new();

impl Tree {
    /// Builds the subtree of one cell. `keys` and `particles` (`[x, y, z, mass]`) are those of the cell,
    /// sorted by key. The cell starts at key `start` and has octree `level`. A node is a leaf if it holds at
    /// most `bucket` particles, as in a cornerstone tree, or is at the deepest level. Rows count from 0. The
    /// result has no sources; [`Self::graft`] attaches it where they are.
    pub(crate) fn nodes_of_cell(
        keys: &[u64],
        particles: &[[f64; 4]],
        start: u64,
        level: u32,
        bucket: usize,
    ) -> Self {
        if particles.is_empty() {
            return Tree::default();
        }
        let mut scratch = SCRATCH_TREES.take();
        scratch.nodes.clear();
        scratch.moments.clear();
        scratch.nodes.push(Node::default());
        scratch.moments.push(Moments::default());
        scratch.refine(0, &Cell { keys, particles, bucket }, start, level, 0..particles.len());
        scratch.clone()
    }

    fn refine(&mut self, node: usize, cell: &Cell, mut start: u64, mut level: u32, rows: Range<usize>) {
        let mut octants: Vec<(u64, Range<usize>)> = Vec::new();
        // Descend while all particles are in one octant: such nodes would differ only in size.
        while rows.len() > cell.bucket.max(1) && level < LEVELS {
            octants = cell.octants(start, level, &rows);
            level += 1;
            if octants.len() > 1 {
                break;
            }
            start = octants[0].0;
        }
        if octants.len() <= 1 {
            self.nodes[node] =
                Node { first_row: rows.start as u32, rows: rows.len() as u32, ..Node::default() };
            self.moments[node] = Moments::of_particles(&cell.particles[rows]);
            return;
        }
        let first = self.nodes.len();
        let children = first..first + octants.len();
        self.nodes.resize(children.end, Node::default());
        self.moments.resize(children.end, Moments::default());
        for (child, (start, rows)) in children.clone().zip(octants) {
            self.refine(child, cell, start, level, rows);
        }
        self.nodes[node] =
            Node { first_child: first as u32, children: children.len() as u32, ..Node::default() };
        self.moments[node] = Moments::merged(&self.moments[children]);
    }

    /// Replaces node `node` by a subtree: the subtree's root becomes that node, its other nodes are appended.
    /// Row 0 of the subtree becomes row `first_row` of this tree's sources.
    pub(crate) fn graft(
        &mut self,
        node: usize,
        subtree: impl IntoIterator<Item = (Node, Moments)>,
        first_row: usize,
    ) {
        // Node k > 0 of the subtree becomes node `shift + k`. (The tree is not empty: it has the replaced
        // node.)
        let shift = self.nodes.len() as u32 - 1;
        let rows = first_row as u32;
        let mut nodes = subtree.into_iter().map(|(node, moments)| {
            let moved = Node {
                first_child: if node.children > 0 { node.first_child + shift } else { 0 },
                first_row: if node.rows > 0 { node.first_row + rows } else { 0 },
                ..node
            };
            (moved, moments)
        });
        if let Some(root) = nodes.next() {
            (self.nodes[node], self.moments[node]) = root;
        }
        for (node, moments) in nodes {
            self.nodes.push(node);
            self.moments.push(moments);
        }
    }

    /// Builds the top of the tree from the cornerstone array and the moments of each leaf. Leaves become
    /// closed nodes. Also returns the leaf of each node (`usize::MAX`: none).
    pub fn top(leaves: &Leaves, moments: &[Moments]) -> (Self, Vec<usize>) {
        let occupied: Vec<usize> = (0..moments.len()).filter(|&leaf| moments[leaf].count > 0.0).collect();
        let mut top = TopBuilder {
            tree: Tree::default(),
            leaf_of: Vec::new(),
            leaves: leaves.keys(),
            moments,
            occupied: &occupied,
        };
        if !occupied.is_empty() {
            top.tree.nodes.push(Node::default());
            top.tree.moments.push(Moments::default());
            top.leaf_of.push(usize::MAX);
            top.refine(0, 0, 0, 0..occupied.len());
        }
        (top.tree, top.leaf_of)
    }
}

struct Cell<'a> {
    keys: &'a [u64],
    particles: &'a [[f64; 4]],
    bucket: usize,
}

impl Cell<'_> {
    /// Returns the nonempty octants of the cell that starts at `start` and has `level`, each with its rows.
    fn octants(&self, start: u64, level: u32, rows: &Range<usize>) -> Vec<(u64, Range<usize>)> {
        let size = span_of(level + 1);
        let mut octants = Vec::with_capacity(8);
        let mut first = rows.start;
        for octant in 0..8 {
            let end = if octant == 7 {
                rows.end // includes keys that rounding put past the end
            } else {
                first + self.keys[first..rows.end].partition_point(|&key| key < start + (octant + 1) * size)
            };
            if end > first {
                octants.push((start + octant * size, first..end));
            }
            first = end;
        }
        octants
    }
}

struct TopBuilder<'a> {
    tree: Tree,
    leaf_of: Vec<usize>,
    leaves: &'a [u64],
    moments: &'a [Moments],
    occupied: &'a [usize],
}

impl TopBuilder<'_> {
    fn refine(&mut self, node: usize, mut start: u64, mut level: u32, among: Range<usize>) {
        let mut octants: Vec<(u64, Range<usize>)> = Vec::new();
        while among.len() > 1 {
            octants.clear();
            let size = span_of(level + 1);
            let mut first = among.start;
            for octant in 0..8 {
                let limit = start + (octant + 1) * size;
                let end = first
                    + self.occupied[first..among.end].partition_point(|&leaf| self.leaves[leaf] < limit);
                if end > first {
                    octants.push((start + octant * size, first..end));
                }
                first = end;
            }
            level += 1;
            if octants.len() > 1 {
                break;
            }
            start = octants[0].0;
        }
        if octants.is_empty() {
            let leaf = self.occupied[among.start];
            self.leaf_of[node] = leaf;
            self.tree.moments[node] = self.moments[leaf];
            return;
        }
        let first = self.tree.nodes.len();
        let children = first..first + octants.len();
        self.tree.nodes.resize(children.end, Node::default());
        self.tree.moments.resize(children.end, Moments::default());
        self.leaf_of.resize(children.end, usize::MAX);
        for (child, (start, among)) in children.clone().zip(octants) {
            self.refine(child, start, level, among);
        }
        self.tree.nodes[node] =
            Node { first_child: first as u32, children: children.len() as u32, ..Node::default() };
        self.tree.moments[node] = Moments::merged(&self.tree.moments[children]);
    }
}
