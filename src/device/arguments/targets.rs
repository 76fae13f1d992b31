//! Arguments of kernels/far/targets.cu.

use super::gravity::{GravitySources, TargetBox};
use super::twin::Node;
use super::{Input, Output};

kernel_arguments! {
    unit "far/targets.cu";

    /// Boxes of targets with an estimate of their acceleration.
    pub struct TargetsArguments for gravity_targets {
        /// The particles.
        pub sources: GravitySources,
        /// Nodes of this rank.
        pub nodes: Input<Node>,
        /// Coarse nodes of other ranks.
        pub others: Input<Node>,
        /// Number of coarse nodes.
        pub other_count: u32,
        /// Squared softening length.
        pub squared_softening: f32,
        /// The boxes.
        pub boxes: Output<TargetBox>,
        /// Super-clusters of a batch of walks.
        pub batch: u32,
        /// Super-clusters in the order of their walks.
        pub order: Output<u32>,
        /// Numbers of long and of other walks put into the order of each batch.
        pub placed: Output<u32>,
    }

    /// Boxes of the nodes of a level.
    pub struct JoinBoxesArguments for gravity_join_boxes {
        /// Number of rows.
        pub rows: u32,
        /// The level, at least 1.
        pub level: u32,
        /// Boxes of super-clusters.
        pub boxes: Input<TargetBox>,
        /// Boxes of the level's nodes.
        pub joined: Output<TargetBox>,
    }
}
