//! Arguments of kernels/far/walk.cu.

use super::gravity::{GravitySources, GroupFields, OpeningParameters, SplitArguments, TargetBox};
use super::twin::{Multipole, Node};
use super::{Input, Output};

kernel_arguments! {
    unit "far/walk.cu";

    /// The tree walk.
    pub struct WalkArguments for gravity_walk {
        /// The particles.
        pub sources: GravitySources,
        /// Boxes of targets.
        pub boxes: Input<TargetBox>,
        /// Super-clusters in the order of their walks.
        pub order: Input<u32>,
        /// The first super-cluster of this batch, a multiple of 8.
        pub first: u32,
        /// Groups from that of the first super-cluster on.
        pub groups: GroupFields,
        /// Nodes of this rank, then those over the received elements.
        pub nodes: Input<Node>,
        /// Multipoles of nodes.
        pub multipoles: Input<Multipole>,
        /// Number of received elements.
        pub received: u32,
        /// Cluster of each received element, or NO_PARTICLES.
        pub places: Input<u32>,
        /// Coordinates and masses of received clusters.
        pub particles: Input<f64>,
        /// The acceptance criterion.
        pub opening: OpeningParameters,
        /// The force split of a periodic box.
        pub split: SplitArguments,
        /// Square of the softening length or of the spline's support.
        pub squared_softening: f64,
        /// One over the spline's support.
        pub inverse_support: f64,
        /// The gravitational constant.
        pub constant: f64,
        /// Minus the self-potential of a unit mass for G = 1.
        pub own: f64,
        /// Added to each potential: that of the neutralizing background of a periodic box.
        pub background: f64,
        /// Accelerations, incremented.
        pub acceleration: [Output<f64>; 3],
        /// Potentials.
        pub potential: Output<f64>,
        /// Particles, near and far nodes of each super-cluster, or null.
        pub interactions: Output<u32>,
    }
}
