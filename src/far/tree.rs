//! The tree that gravity walks: nodes with their moments, and the particles of the leaves as sources.
use crate::space::hilbert::LEVELS;
use crate::tree::leaves::{Leaves, span_of};
use crate::tree::moments::Moments;
use crate::unused::Unused;
use std::ops::Range;

/// A node of the tree: where its children and its particles are.
///
/// Children are consecutive; empty octants and chains of single children are left out. A node without children is a
/// leaf when it has rows, and *closed* when it has none: then what is below it lies on another rank, which promised
/// that this rank accepts it.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
pub struct Node {
    /// First child in the tree's nodes.
    pub first_child: u32,
    /// Number of children; 0 for leaves and closed nodes.
    pub children: u32,
    /// First particle in the tree's sources, of a leaf.
    pub first_row: u32,
    /// Number of particles of a leaf.
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

/// An octree, or the part of one that a rank needs. The root is node 0, parents stand before children.
#[derive(Clone, Debug, Default)]
pub struct Tree {
    /// The nodes; none when there is no particle.
    pub nodes: Vec<Node>,
    /// Their moments.
    pub moments: Vec<Moments>,
    /// Particles as `[x, y, z, mass]`; leaves name ranges of them.
    pub sources: Vec<[f64; 4]>,
}

/// Trees that subtrees are made in, before their number of nodes is known.
static SUBTREES: Unused<Tree> = Unused::new();

impl Tree {
    /// The subtree of one cell: `keys` and `particles` (`[x, y, z, mass]`) are those of the cell, sorted by key; the
    /// cell spans keys from `start` at octree `level`. A node is a leaf when it holds at most `bucket` particles, as
    /// in a cornerstone tree, or is at the deepest level. Rows count from 0. It comes without its sources, which stay where
    /// they are: the subtree is to be grafted where they lie.
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
        let mut made = SUBTREES.take();
        made.nodes.clear();
        made.moments.clear();
        made.nodes.push(Node::default());
        made.moments.push(Moments::default());
        made.refine(0, &Cell { keys, particles, bucket }, start, level, 0..particles.len());
        made.clone()
    }

    fn refine(&mut self, node: usize, cell: &Cell, mut start: u64, mut level: u32, rows: Range<usize>) {
        let mut octants: Vec<(u64, Range<usize>)> = Vec::new();
        // Descend while all particles are in one octant: such nodes would differ in nothing but their size.
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

    /// Put a subtree in the place of node `node`: its root becomes that node, the rest is appended. The subtree's row 0 is
    /// row `first_row` of this tree's sources.
    pub(crate) fn graft(
        &mut self,
        node: usize,
        subtree: impl IntoIterator<Item = (Node, Moments)>,
        first_row: usize,
    ) {
        // Node k of the subtree becomes node `shift + k`, but for the root. (The tree has a node: the one replaced.)
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

    /// The top of the tree: the cornerstone array with the moments of each leaf. Leaves become closed nodes; the
    /// second value says which leaf a node is (`usize::MAX`: none).
    pub fn top(leaves: &Leaves, moments: &[Moments]) -> (Self, Vec<usize>) {
        let present: Vec<usize> = (0..moments.len()).filter(|&leaf| moments[leaf].count > 0.0).collect();
        let mut top = Top {
            tree: Tree::default(),
            leaf_of: Vec::new(),
            leaves: leaves.keys(),
            moments,
            present: &present,
        };
        if !present.is_empty() {
            top.tree.nodes.push(Node::default());
            top.tree.moments.push(Moments::default());
            top.leaf_of.push(usize::MAX);
            top.refine(0, 0, 0, 0..present.len());
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
    /// The octants of the cell from `start` at `level` that hold any of `rows`.
    fn octants(&self, start: u64, level: u32, rows: &Range<usize>) -> Vec<(u64, Range<usize>)> {
        let size = span_of(level + 1);
        let mut octants = Vec::with_capacity(8);
        let mut first = rows.start;
        for octant in 0..8 {
            let end = if octant == 7 {
                rows.end // also keys that rounding put past the end
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

struct Top<'a> {
    tree: Tree,
    leaf_of: Vec<usize>,
    leaves: &'a [u64],
    moments: &'a [Moments],
    present: &'a [usize],
}

impl Top<'_> {
    fn refine(&mut self, node: usize, mut start: u64, mut level: u32, among: Range<usize>) {
        let mut octants: Vec<(u64, Range<usize>)> = Vec::new();
        while among.len() > 1 {
            octants.clear();
            let size = span_of(level + 1);
            let mut first = among.start;
            for octant in 0..8 {
                let limit = start + (octant + 1) * size;
                let end =
                    first + self.present[first..among.end].partition_point(|&leaf| self.leaves[leaf] < limit);
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
            let leaf = self.present[among.start];
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
