//! The linked octree over a cornerstone array.

use super::leaves::{Leaves, level_of, span_of};
use crate::space::hilbert::LEVELS;
use rayon::prelude::*;
use std::ops::Range;

/// All nodes of an octree, inner nodes and leaves, in level order and in key order within a level. The eight
/// children of a node are consecutive, so a depth-first traversal visits particles in row order.
#[derive(Clone, Debug, Default)]
pub struct Octree {
    /// First key of the node.
    pub key: Vec<u64>,
    /// Level of the node: 0 for the root, 21 for a cell.
    pub level: Vec<u8>,
    /// First child; 0 for a leaf.
    pub first_child: Vec<u32>,
    /// Parent; the root's parent is itself.
    pub parent: Vec<u32>,
    /// First row of the node's particles.
    pub first_row: Vec<u32>,
    /// One past the last row of the node's particles.
    pub last_row: Vec<u32>,
    /// Nodes of level `k` are `level_begins[k]..level_begins[k + 1]`.
    pub level_begins: Vec<usize>,
    /// Node of each leaf of the array.
    pub leaf_node: Vec<u32>,
}

impl Octree {
    /// Builds the linked octree over `leaves`, for particles with these sorted keys.
    ///
    /// # Panics
    /// If there are 2^32 or more rows or nodes on one rank.
    pub fn new(leaves: &Leaves, sorted_keys: &[u64]) -> Self {
        assert!(sorted_keys.len() < u32::MAX as usize, "more than 2^32 rows on a rank");
        let mut tree = Self::link(leaves);
        let row = |&key: &u64| sorted_keys.partition_point(|&k| k < key) as u32;
        tree.first_row = tree.key.par_iter().with_min_len(256).map(row).collect();
        let end = |node: usize| row(&(tree.key[node] + span_of(tree.level[node] as u32)));
        let mut last_row: Vec<u32> = (0..tree.len()).into_par_iter().with_min_len(256).map(end).collect();
        // Padding may have key 2^64 - 1: exclude rows beyond the curve from the last nodes.
        let beyond = row(&crate::space::hilbert::END);
        last_row.iter_mut().for_each(|row| *row = (*row).min(beyond));
        tree.last_row = last_row;
        tree
    }

    /// Builds keys, levels and links. Ancestors that start with a leaf are created when that leaf is visited,
    /// so one pass over the array creates every node once.
    fn link(leaves: &Leaves) -> Self {
        let mut by_level: Vec<Vec<(u64, u32)>> = vec![Vec::new(); LEVELS as usize + 1];
        for (leaf, bounds) in leaves.keys().windows(2).enumerate() {
            let deepest = level_of(bounds[1] - bounds[0]);
            let highest = if bounds[0] == 0 { 0 } else { LEVELS - bounds[0].trailing_zeros() / 3 };
            for level in highest..deepest {
                by_level[level as usize].push((bounds[0], u32::MAX));
            }
            by_level[deepest as usize].push((bounds[0], leaf as u32));
        }
        let mut tree = Self { leaf_node: vec![0; leaves.len()], level_begins: vec![0], ..Self::default() };
        for (level, nodes) in by_level.iter().enumerate().take_while(|(_, nodes)| !nodes.is_empty()) {
            let begin = tree.key.len();
            let mut next_child = begin + nodes.len();
            for (k, &(key, leaf)) in nodes.iter().enumerate() {
                tree.key.push(key);
                tree.level.push(level as u8);
                if leaf == u32::MAX {
                    tree.first_child.push(next_child as u32);
                    next_child += 8;
                } else {
                    tree.first_child.push(0);
                    tree.leaf_node[leaf as usize] = (begin + k) as u32;
                }
            }
            tree.level_begins.push(tree.key.len());
        }
        assert!(tree.key.len() < u32::MAX as usize, "more than 2^32 nodes on a rank");
        tree.parent = vec![0; tree.len()];
        for node in 0..tree.len() {
            for child in tree.children(node) {
                tree.parent[child] = node as u32;
            }
        }
        tree
    }

    /// Number of nodes.
    pub fn len(&self) -> usize {
        self.key.len()
    }

    /// Whether there are no nodes: true only for the default value.
    pub fn is_empty(&self) -> bool {
        self.key.is_empty()
    }

    /// Whether a node has no children.
    #[inline(always)]
    pub fn is_leaf(&self, node: usize) -> bool {
        self.first_child[node] == 0
    }

    /// Children of a node, in key order: eight or none.
    #[inline(always)]
    pub fn children(&self, node: usize) -> Range<usize> {
        match self.first_child[node] as usize {
            0 => 0..0,
            first => first..first + 8,
        }
    }

    /// Rows of a node's particles.
    #[inline(always)]
    pub fn rows(&self, node: usize) -> Range<usize> {
        self.first_row[node] as usize..self.last_row[node] as usize
    }

    /// Key range of a node.
    pub fn keys(&self, node: usize) -> Range<u64> {
        self.key[node]..self.key[node] + span_of(self.level[node] as u32)
    }

    /// Iterates over the levels from the deepest to the root, as node ranges: children precede parents.
    pub fn upward(&self) -> impl Iterator<Item = Range<usize>> + '_ {
        self.level_begins.windows(2).rev().map(|level| level[0]..level[1])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::space::hilbert::END;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn links_ranges_and_leaves_agree(mut keys in prop::collection::vec(prop_oneof![0..END, 0..1000u64], 0..300), bucket in 1u64..20) {
            keys.sort();
            let mut leaves = Leaves::root();
            leaves.converge(&keys, bucket);
            let tree = Octree::new(&leaves, &keys);
            prop_assert_eq!(tree.len(), leaves.len() + (leaves.len() - 1) / 7);
            prop_assert_eq!(tree.rows(0), 0..keys.len());
            for node in 0..tree.len() {
                let mut expected = tree.key[node];
                let mut row = tree.first_row[node];
                for child in tree.children(node) {
                    prop_assert_eq!(tree.parent[child] as usize, node);
                    prop_assert_eq!(tree.level[child], tree.level[node] + 1);
                    prop_assert_eq!(tree.key[child], expected);
                    prop_assert_eq!(tree.first_row[child], row);
                    expected = tree.keys(child).end;
                    row = tree.last_row[child];
                }
                if !tree.is_leaf(node) {
                    prop_assert_eq!(expected, tree.keys(node).end);
                    prop_assert_eq!(row, tree.last_row[node]);
                }
                prop_assert!(keys[tree.rows(node)].iter().all(|key| tree.keys(node).contains(key)));
            }
            for (leaf, &node) in tree.leaf_node.iter().enumerate() {
                prop_assert!(tree.is_leaf(node as usize));
                prop_assert_eq!(tree.keys(node as usize), leaves.keys()[leaf]..leaves.keys()[leaf + 1]);
            }
        }
    }
}
