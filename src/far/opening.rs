//! Which nodes stand for their particles, and which are opened.
use super::tree::{Node, Tree};
use crate::tree::moments::Moments;
use rayon::prelude::*;

/// When a node is accepted for a group of targets in a tight box at distance d from the node's center of mass.
///
/// Whatever the criterion, a node that reaches into the box (d <= its radius), or whose particles may be within the
/// range of a softening that the expansion does not know, is opened.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Criterion {
    /// d > l / theta + s: l is the longest edge of the tight box of the node's particles, s the distance between its
    /// middle and the center of mass (Barnes 1994; as for groups in Bedorf, Gaburov & Portegies Zwart 2012).
    Geometric,
    /// The node's leading neglected term, m b^(p+1) / d^(p+3) with b the node's radius and p the order of the
    /// expansion, is below this fraction of the acceleration estimated for the group (as Springel 2005), and d > l.
    RelativeError(f64),
}

/// How nodes are opened.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Opening {
    pub criterion: Criterion,
    pub angle: f64,
    /// Distance below which the expansion does not hold because of softening.
    pub range: f64,
    /// Order of the expansion: 2 or 3.
    pub order: u32,
}

/// A group of targets: its tight box, and about what acceleration they feel (for the relative criterion).
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
pub struct TargetBox {
    /// Lower corner.
    pub lower: [f64; 3],
    /// Upper corner.
    pub upper: [f64; 3],
    /// The acceleration at the middle of the box, divided by G: an estimate from coarse monopoles, which may be above or
    /// below what a target feels. Of joined boxes it is the smallest. 0 when not known.
    pub acceleration: f64,
}

impl TargetBox {
    /// Around particles, with unknown acceleration. There must be one.
    pub fn around(particles: &[[f64; 4]]) -> Self {
        let mut bounds =
            TargetBox { lower: [f64::INFINITY; 3], upper: [f64::NEG_INFINITY; 3], acceleration: 0.0 };
        for particle in particles {
            for d in 0..3 {
                bounds.lower[d] = bounds.lower[d].min(particle[d]);
                bounds.upper[d] = bounds.upper[d].max(particle[d]);
            }
        }
        bounds
    }

    /// The smallest box that stands for both: whatever it accepts, both accept.
    pub fn joined(self, other: Self) -> Self {
        TargetBox {
            lower: [0, 1, 2].map(|d| self.lower[d].min(other.lower[d])),
            upper: [0, 1, 2].map(|d| self.upper[d].max(other.upper[d])),
            acceleration: self.acceleration.min(other.acceleration),
        }
    }

    /// The middle of the box.
    pub fn middle(&self) -> [f64; 3] {
        [0, 1, 2].map(|d| 0.5 * (self.lower[d] + self.upper[d]))
    }
}

/// So many groups are tested at once.
pub(crate) const LANES: usize = 8;

/// Groups of targets, a component after the other; where there are fewer than lanes, the others are points without meaning.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BoxLanes {
    lower: [[f64; LANES]; 3],
    upper: [[f64; LANES]; 3],
    acceleration: [f64; LANES],
}

impl BoxLanes {
    /// Of at most [`LANES`] groups.
    pub fn of(groups: &[TargetBox]) -> Self {
        let mut lanes =
            BoxLanes { lower: [[0.0; LANES]; 3], upper: [[0.0; LANES]; 3], acceleration: [0.0; LANES] };
        for (lane, group) in groups.iter().enumerate() {
            for d in 0..3 {
                lanes.lower[d][lane] = group.lower[d];
                lanes.upper[d][lane] = group.upper[d];
            }
            lanes.acceleration[lane] = group.acceleration;
        }
        lanes
    }
}

/// What the walk reads of a node, in one cache line.
#[repr(C, align(64))]
#[derive(Clone, Copy, Debug)]
pub(crate) struct WalkNode {
    /// Center of mass.
    pub center: [f64; 3],
    /// Accepted only beyond this distance, squared; infinite when always opened.
    reach: f64,
    /// Accepted only when d^(2 (p + 3) / 2) times the group's acceleration exceeds this.
    strength: f64,
    pub node: Node,
}

/// Leaves of so few particles are cheaper, and exact, as particles.
pub(crate) const FEW: u32 = 3;

impl Opening {
    /// What the walk reads of a node.
    pub fn walk_node(&self, node: &Node, moments: &Moments) -> WalkNode {
        let edge = [0, 1, 2].map(|d| moments.upper[d] - moments.lower[d]).into_iter().fold(0.0, f64::max);
        let mut offset = 0.0;
        for d in 0..3 {
            let middle = 0.5 * (moments.lower[d] + moments.upper[d]);
            offset += (moments.center[d] - middle) * (moments.center[d] - middle);
        }
        let (distance, strength) = match self.criterion {
            Criterion::Geometric => (edge / self.angle + offset.sqrt(), 0.0),
            Criterion::RelativeError(_) if self.angle == 0.0 => (f64::INFINITY, 0.0),
            Criterion::RelativeError(tolerance) => {
                (edge, moments.mass * moments.radius.powi(self.order as i32 + 1) / tolerance)
            }
        };
        let few = node.rows > 0 && node.rows <= FEW;
        let reach = if self.angle == 0.0 || few {
            f64::INFINITY
        } else {
            distance.max(moments.radius).max(moments.radius + self.range)
        };
        WalkNode { center: moments.center, reach: reach * reach, strength, node: *node }
    }

    /// What the walk reads of every node.
    pub fn walk_nodes(&self, tree: &Tree) -> Vec<WalkNode> {
        self.walk_nodes_of(&tree.nodes, &tree.moments)
    }

    /// What the walk reads of some nodes of a tree.
    pub fn walk_nodes_of(&self, nodes: &[Node], moments: &[Moments]) -> Vec<WalkNode> {
        nodes
            .par_iter()
            .zip(moments)
            .with_min_len(1024)
            .map(|(node, moments)| self.walk_node(node, moments))
            .collect()
    }

    /// Whether a node stands for its particles towards a group. Monotone: what a box accepts, every box inside it with
    /// an acceleration at least as large accepts, also in floating point.
    #[inline(always)]
    pub fn accepts(&self, node: &WalkNode, group: &TargetBox) -> bool {
        let mut squared = 0.0;
        for d in 0..3 {
            let outside = (group.lower[d] - node.center[d]).max(node.center[d] - group.upper[d]).max(0.0);
            squared += outside * outside;
        }
        if squared <= node.reach {
            return false;
        }
        match self.criterion {
            Criterion::Geometric => true,
            Criterion::RelativeError(_) => self.power(squared) * group.acceleration > node.strength,
        }
    }

    /// Which of the groups do not accept a node, a bit each: as [`Self::accepts`] says of each of them, in loops over lanes.
    #[inline(always)]
    pub fn refusing(&self, node: &WalkNode, groups: &BoxLanes) -> u8 {
        let mut squared = [0.0; LANES];
        for d in 0..3 {
            for (squared, (lower, upper)) in
                squared.iter_mut().zip(groups.lower[d].iter().zip(&groups.upper[d]))
            {
                let outside = (lower - node.center[d]).max(node.center[d] - upper).max(0.0);
                *squared += outside * outside;
            }
        }
        let mut accepting = [false; LANES];
        for (accepts, squared) in accepting.iter_mut().zip(&squared) {
            *accepts = *squared > node.reach;
        }
        if let Criterion::RelativeError(_) = self.criterion {
            for (accepts, (squared, acceleration)) in
                accepting.iter_mut().zip(squared.iter().zip(&groups.acceleration))
            {
                *accepts &= self.power(*squared) * acceleration > node.strength;
            }
        }
        let mut bits = 0;
        for (lane, accepts) in accepting.iter().enumerate() {
            bits |= u8::from(!accepts) << lane;
        }
        bits
    }

    /// d^(p + 3) of d^2.
    #[inline(always)]
    fn power(&self, squared: f64) -> f64 {
        if self.order == 2 { squared * squared * squared.sqrt() } else { squared * squared * squared }
    }

    /// The accepted nodes and the opened leaves' rows (consecutive ones joined) for a group, in key order. `stack` is
    /// scratch.
    ///
    /// A closed node that is not accepted breaks the promise of the rank that closed it: an internal error.
    pub fn walk(
        &self,
        nodes: &[WalkNode],
        group: &TargetBox,
        stack: &mut Vec<u32>,
        found: &mut Interactions,
    ) {
        found.nodes.clear();
        found.rows.clear();
        stack.clear();
        if !nodes.is_empty() {
            stack.push(0);
        }
        while let Some(index) = stack.pop() {
            let node = &nodes[index as usize];
            if self.accepts(node, group) {
                found.nodes.push(index);
            } else if node.node.rows > 0 {
                let (first, end) = (node.node.first_row, node.node.first_row + node.node.rows);
                match found.rows.last_mut() {
                    Some(last) if last.1 == first => last.1 = end,
                    _ => found.rows.push((first, end)),
                }
            } else {
                assert!(
                    node.node.children > 0,
                    "gravity needs what is below a node about {:?} that its owner did not send",
                    node.center
                );
                let first = node.node.first_child;
                stack.extend((first..first + node.node.children).rev());
            }
        }
    }
}

/// What a group interacts with.
#[derive(Clone, Debug, Default)]
pub(crate) struct Interactions {
    /// Accepted nodes.
    pub nodes: Vec<u32>,
    /// Rows of sources, from and to.
    pub rows: Vec<(u32, u32)>,
}
