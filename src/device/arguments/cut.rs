//! Arguments of kernels/far/cut.cu.

use super::gravity::{GravitySources, OpeningParameters, TargetBox};
use super::twin::{Multipole, Node};
use super::{Input, Output};

kernel_arguments! {
    unit "far/cut.cu";

    /// One level of the cuts for other ranks.
    pub struct CutArguments for gravity_cut {
        /// Number of rows.
        pub rows: u32,
        /// The level.
        pub level: u32,
        /// Nodes.
        pub nodes: Input<Node>,
        /// Boxes of other ranks.
        pub boxes: Input<TargetBox>,
        /// The first box of each section, then the number of boxes.
        pub first_box: Input<u32>,
        /// Number of sections: ranks with boxes.
        pub sections: u32,
        /// The acceptance criterion.
        pub opening: OpeningParameters,
        /// Marks.
        pub marks: Output<u8>,
    }

    /// Counts of the cuts' elements.
    pub struct CountCutArguments for gravity_count_cut {
        /// Number of rows.
        pub rows: u32,
        /// Number of sections.
        pub sections: u32,
        /// Marks.
        pub marks: Input<u8>,
        /// Elements of each warp.
        pub elements: Output<u32>,
        /// Clusters with particles of each warp.
        pub clusters: Output<u32>,
        /// Totals of elements and clusters of each section, initially 0.
        pub totals: Output<u32>,
    }

    /// Packing of the cuts' elements.
    pub struct PackCutArguments for gravity_pack_cut {
        /// The particles.
        pub sources: GravitySources,
        /// Number of sections.
        pub sections: u32,
        /// Marks.
        pub marks: Input<u8>,
        /// Number of elements before each warp.
        pub elements_before: Input<u64>,
        /// Number of clusters with particles before each warp.
        pub clusters_before: Input<u64>,
        /// Offset added to the cluster numbers of each section.
        pub shift: Input<u32>,
        /// Nodes.
        pub nodes: Input<Node>,
        /// Multipoles of nodes.
        pub multipoles: Input<Multipole>,
        /// Nodes of the elements.
        pub packed_nodes: Output<Node>,
        /// Multipoles of the elements.
        pub packed_multipoles: Output<Multipole>,
        /// Cluster of each element, or NO_PARTICLES.
        pub places: Output<u32>,
        /// Coordinates and masses of clusters.
        pub particles: Output<f64>,
    }
}
