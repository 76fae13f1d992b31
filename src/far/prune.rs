//! What a rank needs of the trees of others: the coarse leaves that it opens, and what of each its boxes open.
use super::lanes::with_lanes;
use super::opening::{BoxLanes, LANES, Opening, TargetBox, WalkNode};
use super::tree::{Node, Tree};
use crate::tree::Moments;

/// At most so many boxes stand for a rank's super-clusters towards other ranks: a bit each in [`Wish::boxes`].
const BOXES: usize = 128;

/// A rank will open what is below a coarse leaf of another rank.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
pub(super) struct Wish {
    /// The coarse leaf.
    pub leaf: u64,
    /// The boxes that open it, a bit each: the low and the high half.
    boxes: [u64; 2],
}

impl Wish {
    fn new(leaf: usize, boxes: u128) -> Self {
        Self { leaf: leaf as u64, boxes: [boxes as u64, (boxes >> 64) as u64] }
    }

    /// The boxes that open it, a bit each.
    pub fn boxes(&self) -> u128 {
        u128::from(self.boxes[0]) | u128::from(self.boxes[1]) << 64
    }
}

/// The places of the bits that are set.
fn places(mut bits: u128) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let place = (bits != 0).then(|| bits.trailing_zeros() as usize)?;
        bits &= bits - 1;
        Some(place)
    })
}

/// The boxes that stand for a rank's groups: consecutive ones joined, so that there are few.
pub(super) fn representatives(groups: &[TargetBox]) -> Vec<TargetBox> {
    let together = groups.len().div_ceil(BOXES).max(1);
    groups
        .chunks(together)
        .map(|group| group.iter().skip(1).fold(group[0], |all, one| all.joined(*one)))
        .collect()
}

/// The coarse leaves that some of the boxes open, in order, coming down from the root of the top of the tree; `leaf_of`
/// says which leaf a node of the top is (`usize::MAX`: none).
pub(super) fn wishes(
    opening: &Opening,
    top: &[WalkNode],
    leaf_of: &[usize],
    boxes: &[TargetBox],
) -> Vec<Wish> {
    let mut wishes = Vec::new();
    if top.is_empty() || boxes.is_empty() {
        return wishes;
    }
    let mut stack = vec![(0, u128::MAX >> (BOXES - boxes.len()))];
    let boxes = lanes_of(boxes);
    while let Some((index, among)) = stack.pop() {
        let refusing = refusing(opening, &top[index], &boxes, among);
        if refusing == 0 {
            continue;
        }
        match leaf_of[index] {
            usize::MAX => stack.extend(top[index].node.child_range().map(|child| (child, refusing))),
            leaf => wishes.push(Wish::new(leaf, refusing)),
        }
    }
    wishes.sort_unstable_by_key(|wish| wish.leaf);
    wishes
}

/// The same wishes with only those boxes that one of them names.
pub(super) fn addressed(wishes: &[Wish], boxes: &[TargetBox]) -> (Vec<Wish>, Vec<TargetBox>) {
    let named = all_named(wishes);
    let chosen: Vec<usize> = places(named).collect();
    let compact = |wish: &Wish| {
        let bits = chosen.iter().enumerate().map(|(to, &from)| (wish.boxes() >> from & 1) << to);
        Wish::new(wish.leaf as usize, bits.fold(0, |all, bit| all | bit))
    };
    (wishes.iter().map(compact).collect(), chosen.iter().map(|&place| boxes[place]).collect())
}

/// The boxes that any of the wishes names.
pub(super) fn all_named(wishes: &[Wish]) -> u128 {
    wishes.iter().fold(0, |all, wish| all | wish.boxes())
}

/// Boxes as [`refusing`] reads them.
pub(super) fn lanes_of(boxes: &[TargetBox]) -> Vec<BoxLanes> {
    boxes.chunks(LANES).map(BoxLanes::of).collect()
}

/// Those among the boxes that do not accept a node.
fn refusing(opening: &Opening, node: &WalkNode, boxes: &[BoxLanes], among: u128) -> u128 {
    with_lanes!(_simd => refusing_in_lanes(opening, node, boxes, among))
}

#[inline(always)]
fn refusing_in_lanes(opening: &Opening, node: &WalkNode, boxes: &[BoxLanes], among: u128) -> u128 {
    let mut all = 0;
    for (k, boxes) in boxes.iter().enumerate() {
        let asked = (among >> (k * LANES)) as u8;
        if asked != 0 {
            all |= u128::from(opening.refusing(node, boxes) & asked) << (k * LANES);
        }
    }
    all
}

/// A node on its way to another rank.
#[repr(C)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
pub(super) struct SentNode {
    pub moments: Moments,
    pub node: Node,
}

/// Parts of a tree, one after the other: nodes and rows of each count from its own first ones.
#[derive(Default)]
pub(super) struct Pruned {
    pub nodes: Vec<SentNode>,
    pub sources: Vec<[f64; 4]>,
}

/// What some boxes need of a tree.
pub(super) struct Pruning<'a> {
    pub opening: &'a Opening,
    /// The tree's nodes as the walk reads them.
    pub walk_nodes: &'a [WalkNode],
    pub tree: &'a Tree,
    /// Who asks: [`lanes_of`] the boxes.
    pub boxes: &'a [BoxLanes],
}

impl Pruning<'_> {
    /// Append the part below a node that these of the boxes open, as they open the node itself; with what they accept as
    /// closed nodes.
    pub fn append(&self, root: usize, among: u128, pruned: &mut Pruned) {
        let begin = [pruned.nodes.len(), pruned.sources.len()];
        pruned.nodes.push(SentNode { moments: self.tree.moments[root], node: Node::default() });
        self.open(root, begin[0], among, begin, pruned);
    }

    /// Copy what is directly below node `from` to below node `to` of the part that begins there, and open what must be.
    fn open(&self, from: usize, to: usize, among: u128, begin: [usize; 2], pruned: &mut Pruned) {
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
            let refusing = refusing(self.opening, &self.walk_nodes[child], self.boxes, among);
            if refusing != 0 {
                self.open(child, to, refusing, begin, pruned);
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

    /// The tree over all particles.
    fn whole(keys: &[u64], particles: &[[f64; 4]]) -> Tree {
        Tree { sources: particles.to_vec(), ..Tree::nodes_of_cell(keys, particles, 0, 0, 16) }
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

    /// The part below the root that these boxes open, as a tree, when so many like it were pruned before.
    fn pruned(pruning: &Pruning, among: u128, before: usize) -> Tree {
        let mut all = Pruned::default();
        (0..before).for_each(|_| pruning.append(0, among, &mut all));
        let [nodes, sources] = [all.nodes.len(), all.sources.len()];
        pruning.append(0, among, &mut all);
        Tree {
            nodes: all.nodes[nodes..].iter().map(|sent| sent.node).collect(),
            moments: all.nodes[nodes..].iter().map(|sent| sent.moments).collect(),
            sources: all.sources[sources..].to_vec(),
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        /// Whatever lies inside a box for which a tree was pruned finds in the pruned tree all that it finds in the
        /// whole one.
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
            let (lanes, all) = (lanes_of(&boxes), (1 << boxes.len()) - 1);
            for node in &walk_nodes {
                let each = boxes.iter().map(|group| u128::from(!opening.accepts(node, group)));
                let expected = each.enumerate().fold(0, |bits, (place, refuses)| bits | refuses << place);
                for among in [all, all & u128::from(drawn)] {
                    prop_assert_eq!(refusing(&opening, node, &lanes, among), expected & among);
                }
            }
            let wanting = refusing(&opening, &walk_nodes[0], &lanes, all);
            prop_assume!(wanting != 0);
            let pruning = Pruning { opening: &opening, walk_nodes: &walk_nodes, tree: &whole, boxes: &lanes };
            // behind another part, which must not matter
            let [pruned, behind] = [0, 1].map(|before| pruned(&pruning, wanting, before));
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
        let far = lanes_of(&[far]);
        let pruning = Pruning { opening: &opening, walk_nodes: &walk_nodes, tree: &whole, boxes: &far };
        met(&opening, &pruned(&pruning, 1, 0), &near);
    }

    #[test]
    fn addressed_wishes_name_the_same_boxes() {
        let all: Vec<TargetBox> =
            (0..BOXES).map(|k| TargetBox::around(&[[k as f64, 0.0, 0.0, 1.0]])).collect();
        let wishes = [Wish::new(3, 1 << 127 | 1 << 64 | 1), Wish::new(9, 1 << 64 | 1 << 5)];
        let (sent, boxes) = addressed(&wishes, &all);
        assert_eq!(boxes, [0, 5, 64, 127].map(|k| all[k]));
        assert_eq!(sent.iter().map(|wish| (wish.leaf, wish.boxes())).collect::<Vec<_>>(), [(3, 13), (9, 6)]);
        assert_eq!(all_named(&sent).count_ones(), 4);
    }
}
