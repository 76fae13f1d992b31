//! Arguments of kernels/far/groups.cu.

use super::Input;
use super::gravity::{GroupFields, OpeningParameters};
use super::twin::{Multipole, Node};

kernel_arguments! {
    unit "far/groups.cu";

    /// Far fields and candidates of groups of super-clusters.
    pub struct GroupsArguments for gravity_groups {
        /// Number of rows of this rank.
        pub rows: u32,
        /// Number of received elements.
        pub received: u32,
        /// Nodes of this rank, then those over the received elements.
        pub nodes: Input<Node>,
        /// Multipoles of nodes.
        pub multipoles: Input<Multipole>,
        /// The acceptance criterion of super-clusters.
        pub opening: OpeningParameters,
        /// Accepted error of a group's expansion over that of a super-cluster.
        pub share: f32,
        /// Square of the softening length or of the spline's support.
        pub squared_softening: f64,
        /// The first group.
        pub first: u32,
        /// The groups.
        pub groups: GroupFields,
    }
}
