//! A first guess at the acceleration of each super-cluster, for the criterion that limits the relative force error.
//!
//! It is made from the tree at hand and nothing else: no state of earlier steps, so that a restart gives the same bits.
use super::opening::TargetBox;
use super::tree::Tree;
use rayon::prelude::*;

/// Set the acceleration (for G = 1) of each box: at its middle, from monopoles of nodes not larger than their
/// distance, softened by `softening` and by the nodes' own radius. What lies behind closed nodes is not needed.
pub(crate) fn estimate_accelerations(tree: &Tree, softening: f64, boxes: &mut [TargetBox]) {
    boxes.par_iter_mut().for_each_init(Vec::new, |stack, group| {
        group.acceleration = at(tree, softening, group.middle(), stack);
    });
}

fn at(tree: &Tree, softening: f64, point: [f64; 3], stack: &mut Vec<usize>) -> f64 {
    let mut sum = [0.0; 3];
    stack.clear();
    if !tree.nodes.is_empty() {
        stack.push(0);
    }
    while let Some(index) = stack.pop() {
        let (node, moments) = (&tree.nodes[index], &tree.moments[index]);
        let to = [0, 1, 2].map(|d| moments.center[d] - point[d]);
        let squared = to[0] * to[0] + to[1] * to[1] + to[2] * to[2];
        let radius = moments.radius * moments.radius;
        if squared > radius || node.children == 0 {
            // A node that is near is spread out: that its own particles pull at its middle is not what they feel.
            let distance =
                (squared + if squared > radius { 0.0 } else { radius } + softening * softening).sqrt();
            if distance > 0.0 {
                let pull = moments.mass / (distance * distance * distance);
                for d in 0..3 {
                    sum[d] += pull * to[d];
                }
            }
        } else {
            stack.extend(node.child_range());
        }
    }
    (sum[0] * sum[0] + sum[1] * sum[1] + sum[2] * sum[2]).sqrt()
}
