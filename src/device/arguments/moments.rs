//! Arguments of kernels/far/moments.cu.

use super::Output;
use super::gravity::GravitySources;
use super::twin::{Multipole, Node};

kernel_arguments! {
    unit "far/moments.cu";

    /// Multipoles of levels 0 to 2.
    pub struct MomentsOfRowsArguments for gravity_moments_of_rows {
        /// The particles.
        pub sources: GravitySources,
        /// Nodes.
        pub nodes: Output<Node>,
        /// Multipoles of nodes.
        pub multipoles: Output<Multipole>,
    }

    /// Multipoles of a level from the one below.
    pub struct MomentsOfLevelArguments for gravity_moments_of_level {
        /// Number of rows.
        pub rows: u32,
        /// The level.
        pub level: u32,
        /// Nodes.
        pub nodes: Output<Node>,
        /// Multipoles of nodes.
        pub multipoles: Output<Multipole>,
    }

    /// Radii of nodes.
    pub struct NodeRadiiArguments for gravity_radii {
        /// Number of rows.
        pub rows: u32,
        /// The level whose spheres are enclosed.
        pub from: u32,
        /// Nodes.
        pub nodes: Output<Node>,
    }
}
