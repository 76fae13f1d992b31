//! Estimates the acceleration of each super-cluster, for the relative-error acceptance criterion.
//!
//! The estimate depends on the present tree only, not on earlier steps. Restarts are therefore bitwise
//! reproducible.
use super::opening::TargetBox;
use super::split::Split;
use super::tree::Tree;
use rayon::prelude::*;

/// Sets the acceleration (for G = 1) of each box, at its center. It sums monopoles of nodes whose radius is
/// smaller than their distance, softened by `softening`. A leaf or closed node that is closer is also
/// softened by its radius. Closed nodes are never opened. In a periodic box, the sum is over the short-range
/// parts within the cut; `long_range` returns the mean long-range acceleration of a box.
pub(crate) fn estimate_accelerations(
    tree: &Tree,
    softening: f64,
    split: Option<&Split>,
    long_range: impl Fn(usize) -> [f64; 3] + Sync,
    boxes: &mut [TargetBox],
) {
    boxes.par_iter_mut().enumerate().for_each_init(Vec::new, |stack, (number, group)| {
        let mut sum = long_range(number);
        let mut add = |point| {
            let of_tree = acceleration_at(tree, softening, split, point, stack);
            (0..3).for_each(|d| sum[d] += of_tree[d]);
        };
        match (split, tree.moments.first()) {
            (Some(split), Some(root)) => split.for_each_image(group, (root.lower, root.upper), |shift| {
                add(group.moved(shift).middle());
            }),
            _ => add(group.middle()),
        }
        group.acceleration = (sum[0] * sum[0] + sum[1] * sum[1] + sum[2] * sum[2]).sqrt();
    });
}

fn acceleration_at(
    tree: &Tree,
    softening: f64,
    split: Option<&Split>,
    point: [f64; 3],
    stack: &mut Vec<usize>,
) -> [f64; 3] {
    let mut sum = [0.0; 3];
    let cut = split.map_or(f64::INFINITY, |split| split.cut);
    stack.clear();
    if !tree.nodes.is_empty() {
        stack.push(0);
    }
    while let Some(index) = stack.pop() {
        let (node, moments) = (&tree.nodes[index], &tree.moments[index]);
        let to = [0, 1, 2].map(|d| moments.center[d] - point[d]);
        let squared = to[0] * to[0] + to[1] * to[1] + to[2] * to[2];
        let radius = moments.radius * moments.radius;
        if squared > (cut + moments.radius) * (cut + moments.radius) {
            continue;
        }
        if squared > radius || node.children == 0 {
            // The point may be inside the node: soften by the node's radius, because its mass is spread out.
            let distance =
                (squared + if squared > radius { 0.0 } else { radius } + softening * softening).sqrt();
            if distance > 0.0 {
                let short = split.map_or(1.0, |split| split.short_range_fraction(distance));
                let pull = short * moments.mass / (distance * distance * distance);
                for d in 0..3 {
                    sum[d] += pull * to[d];
                }
            }
        } else {
            stack.extend(node.child_range());
        }
    }
    sum
}
