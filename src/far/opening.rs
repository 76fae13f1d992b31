//! Multipole acceptance criteria (MAC), and the tree walk that uses them.
use super::split::Split;
use super::tree::{Node, Tree};
use crate::tree::moments::Moments;
use rayon::prelude::*;

/// Acceptance criterion for a node and a group of targets. The group has a tight box; d is the distance from
/// the box to the node's center of mass.
///
/// A node is opened under either criterion if d <= its radius, or if the box may be within the softening
/// range of its particles, where the multipole expansion is invalid. In a periodic box, nodes whose particles
/// are all beyond the cut of the force split ([`Split`]) are skipped.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Criterion {
    /// d > l / theta + s. l is the longest edge of the tight box of the node's particles. s is the distance
    /// from the center of that box to the center of mass (Barnes 1994; for groups as in Bedorf, Gaburov &
    /// Portegies Zwart 2012).
    Geometric,
    /// The leading neglected term, m b^(p+1) / d^(p+3), is below this fraction of the group's estimated
    /// acceleration (as in Springel 2005), and d > l. b is the node's radius, p the order of the expansion.
    RelativeError(f64),
}

/// Parameters of the acceptance test.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Opening {
    pub criterion: Criterion,
    pub angle: f64,
    /// The expansion is invalid closer than this to a particle, because of softening.
    pub range: f64,
    /// Order of the expansion: 2 or 3.
    pub order: u32,
    /// The force split of a periodic box.
    pub split: Option<Split>,
}

/// A group of targets: its tight box and an estimate of its acceleration (for [`Criterion::RelativeError`]).
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
pub struct TargetBox {
    /// Lower corner.
    pub lower: [f64; 3],
    /// Upper corner.
    pub upper: [f64; 3],
    /// Estimated acceleration at the center of the box, divided by G; 0 if unknown. It comes from coarse
    /// monopoles, so it may exceed or underestimate the true value. Merged boxes keep the smallest.
    pub acceleration: f64,
}

impl TargetBox {
    /// Returns the tight box of `particles` (at least one), with unknown acceleration.
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

    /// Merges two boxes. A node that the merged box accepts is accepted by both.
    pub fn joined(self, other: Self) -> Self {
        TargetBox {
            lower: [0, 1, 2].map(|d| self.lower[d].min(other.lower[d])),
            upper: [0, 1, 2].map(|d| self.upper[d].max(other.upper[d])),
            acceleration: self.acceleration.min(other.acceleration),
        }
    }

    /// Returns the center of the box.
    pub fn middle(&self) -> [f64; 3] {
        [0, 1, 2].map(|d| 0.5 * (self.lower[d] + self.upper[d]))
    }

    /// Returns the box moved by minus `shift`.
    pub(crate) fn moved(&self, shift: [f64; 3]) -> Self {
        let moved = |corner: &[f64; 3]| [0, 1, 2].map(|d| corner[d] - shift[d]);
        TargetBox { lower: moved(&self.lower), upper: moved(&self.upper), acceleration: self.acceleration }
    }
}

/// Number of groups that one vector tests.
pub(crate) const LANES: usize = 8;

/// Groups of targets in structure-of-arrays layout. Unused lanes hold zeros; callers mask them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BoxLanes {
    lower: [[f64; LANES]; 3],
    upper: [[f64; LANES]; 3],
    acceleration: [f64; LANES],
}

impl BoxLanes {
    /// Packs at most [`LANES`] groups.
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

/// Node data of the walk, in one cache line.
#[repr(C, align(64))]
#[derive(Clone, Copy, Debug)]
pub(crate) struct WalkNode {
    /// Center of mass.
    pub center: [f64; 3],
    /// Squared opening distance: the node is opened at or below it. Infinite if it is always opened.
    opening_distance_squared: f64,
    /// The node is accepted only if d^(p + 3) times the group's acceleration exceeds this.
    error_threshold: f64,
    /// The node is skipped beyond this squared distance; infinite without a force split.
    skip_distance_squared: f64,
    pub node: Node,
}

/// Leaves with at most this many particles are always opened: direct summation is cheaper there, and exact.
pub(crate) const SMALL_LEAF: u32 = 3;

/// In a periodic box, nodes whose radius times the splitting parameter exceeds this times the opening angle are
/// always opened: the expansion of the short-range part converges by this product, not only by radius over
/// distance.
pub(crate) const RADIUS_BY_ANGLE: f64 = 0.8;

impl Opening {
    /// Precomputes the acceptance test of a node.
    pub fn walk_node(&self, node: &Node, moments: &Moments) -> WalkNode {
        let edge = [0, 1, 2].map(|d| moments.upper[d] - moments.lower[d]).into_iter().fold(0.0, f64::max);
        let mut offset = 0.0;
        for d in 0..3 {
            let middle = 0.5 * (moments.lower[d] + moments.upper[d]);
            offset += (moments.center[d] - middle) * (moments.center[d] - middle);
        }
        let (distance, error_threshold) = match self.criterion {
            Criterion::Geometric => (edge / self.angle + offset.sqrt(), 0.0),
            Criterion::RelativeError(_) if self.angle == 0.0 => (f64::INFINITY, 0.0),
            Criterion::RelativeError(tolerance) => {
                (edge, moments.mass * moments.radius.powi(self.order as i32 + 1) / tolerance)
            }
        };
        let small = node.rows > 0 && node.rows <= SMALL_LEAF;
        let uneven =
            self.split.is_some_and(|split| split.splitting * moments.radius > RADIUS_BY_ANGLE * self.angle);
        let opening_distance = if self.angle == 0.0 || small || uneven {
            f64::INFINITY
        } else {
            distance.max(moments.radius).max(moments.radius + self.range)
        };
        let skip_distance = self.cut() + moments.radius;
        WalkNode {
            center: moments.center,
            opening_distance_squared: opening_distance * opening_distance,
            error_threshold,
            skip_distance_squared: skip_distance * skip_distance,
            node: *node,
        }
    }

    /// The cut of the force split; infinite without one.
    fn cut(&self) -> f64 {
        self.split.map_or(f64::INFINITY, |split| split.cut)
    }

    /// Precomputes the acceptance tests of all nodes.
    pub fn walk_nodes(&self, tree: &Tree) -> Vec<WalkNode> {
        self.walk_nodes_of(&tree.nodes, &tree.moments)
    }

    /// Precomputes the acceptance tests of some nodes of a tree.
    pub fn walk_nodes_of(&self, nodes: &[Node], moments: &[Moments]) -> Vec<WalkNode> {
        nodes
            .par_iter()
            .zip(moments)
            .with_min_len(1024)
            .map(|(node, moments)| self.walk_node(node, moments))
            .collect()
    }

    /// Whether a node need not be opened for a group: it is accepted, or skipped. The test is monotone, also in
    /// floating point: if a box accepts a node, then so does every box inside it whose acceleration is at
    /// least as large.
    #[cfg(test)]
    pub fn accepts(&self, node: &WalkNode, group: &TargetBox) -> bool {
        self.accepts_at(node, squared_distance(node, group), group.acceleration)
    }

    /// [`Self::accepts`] for a group at a squared distance.
    #[inline(always)]
    fn accepts_at(&self, node: &WalkNode, squared: f64, acceleration: f64) -> bool {
        if squared <= node.opening_distance_squared {
            return squared > node.skip_distance_squared;
        }
        match self.criterion {
            Criterion::Geometric => true,
            Criterion::RelativeError(_) => {
                self.power(squared) * acceleration > node.error_threshold
                    || squared > node.skip_distance_squared
            }
        }
    }

    /// Returns a bit mask of the groups that do not accept a node. Agrees with [`Self::accepts`] for each
    /// lane.
    #[inline(always)]
    pub fn rejecting(&self, node: &WalkNode, groups: &BoxLanes) -> u8 {
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
            *accepts = *squared > node.opening_distance_squared;
        }
        if let Criterion::RelativeError(_) = self.criterion {
            for (accepts, (squared, acceleration)) in
                accepting.iter_mut().zip(squared.iter().zip(&groups.acceleration))
            {
                *accepts &= self.power(*squared) * acceleration > node.error_threshold;
            }
        }
        if self.split.is_some() {
            for (accepts, squared) in accepting.iter_mut().zip(&squared) {
                *accepts |= *squared > node.skip_distance_squared;
            }
        }
        let mut bits = 0;
        for (lane, accepts) in accepting.iter().enumerate() {
            bits |= u8::from(!accepts) << lane;
        }
        bits
    }

    /// Computes d^(p + 3) from d^2.
    #[inline(always)]
    fn power(&self, squared: f64) -> f64 {
        if self.order == 2 { squared * squared * squared.sqrt() } else { squared * squared * squared }
    }

    /// Finds the accepted nodes within the cut and the rows of the opened leaves (adjacent ranges merged) of a
    /// group, in key order. `stack` is scratch.
    ///
    /// # Panics
    /// If a closed node is not accepted: its owner pruned too much, which is an internal error.
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
        let squared_cut = self.cut() * self.cut();
        while let Some(index) = stack.pop() {
            let node = &nodes[index as usize];
            let squared = squared_distance(node, group);
            if self.accepts_at(node, squared, group.acceleration) {
                if squared <= squared_cut {
                    found.nodes.push(index);
                }
            } else if node.node.rows > 0 {
                let (first, end) = (node.node.first_row, node.node.first_row + node.node.rows);
                match found.rows.last_mut() {
                    Some(last) if last.1 == first => last.1 = end,
                    _ => found.rows.push((first, end)),
                }
            } else {
                assert!(
                    node.node.children > 0,
                    "gravity must open a node at {:?} whose children its owner did not send",
                    node.center
                );
                let first = node.node.first_child;
                stack.extend((first..first + node.node.children).rev());
            }
        }
    }
}

/// Squared distance of a node's center of mass from a box.
#[inline(always)]
fn squared_distance(node: &WalkNode, group: &TargetBox) -> f64 {
    let mut squared = 0.0;
    for d in 0..3 {
        let outside = (group.lower[d] - node.center[d]).max(node.center[d] - group.upper[d]).max(0.0);
        squared += outside * outside;
    }
    squared
}

/// Interaction lists of a group.
#[derive(Clone, Debug, Default)]
pub(crate) struct Interactions {
    /// Accepted nodes.
    pub nodes: Vec<u32>,
    /// Ranges of source rows: first and end.
    pub rows: Vec<(u32, u32)>,
}
