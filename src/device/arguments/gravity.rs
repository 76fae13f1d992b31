//! The arguments that the kernels of gravity share.

use super::twin::{Element, Real};
use super::{Input, Output};
use bytemuck::{Pod, Zeroable};

kernel_arguments! {
    unit "far/gravity";

    /// The particles of a rank.
    pub struct GravitySources {
        /// Positions.
        pub position: [Input<f64>; 3],
        /// Masses.
        pub mass: Input<f64>,
        /// Identities.
        pub id: Input<u64>,
        /// Number of rows.
        pub rows: u32,
        /// Factor that brings lengths to order one.
        pub length_unit: f64,
        /// Factor that brings masses to order one.
        pub mass_unit: f64,
    }

    /// The multipole acceptance criterion (kernels/far/opening.cuh).
    pub struct OpeningParameters {
        /// A cluster, and a larger node, is accepted beyond this times its radius.
        pub size_by_angle: [f32; 2],
        /// A node is accepted beyond its radius plus this, the range of softening.
        pub range: f32,
        /// Accepted error over the acceleration: of a cluster, and of a larger node (relative criterion).
        pub relative: [f32; 2],
        /// Accepted error of the local expansion over the acceleration.
        pub far: f32,
        /// Periodic box: cut of the short-range part.
        pub cut: f32,
        /// Periodic box: radius above which a node is opened.
        pub widest: f32,
    }

    /// Fields and candidates of groups of eight super-clusters (kernels/far/groups.cu).
    pub struct GroupFields {
        /// Boxes of all groups.
        pub boxes: Input<TargetBox>,
        /// Terms of the expansions of some groups.
        pub terms: Output<Real>,
        /// Candidates of these groups.
        pub candidates: Output<u32>,
        /// Three counts of each of these groups, or null.
        pub counts: Output<u32>,
        /// Most candidates of a group.
        pub capacity: u32,
    }

    /// The force split of a periodic box (kernels/far/split.cuh), in the walk's unit of length. All zero in an
    /// open box.
    pub struct SplitArguments {
        /// Edges of the box.
        pub period: [f64; 3],
        /// Lower corner of all particles, or below.
        pub lower: [f64; 3],
        /// Upper corner of all particles, or above.
        pub upper: [f64; 3],
        /// Cut of the short-range part.
        pub cut: f64,
        /// Factor of the squared distance in the variable of the polynomials.
        pub scale: f64,
        /// Coefficients of five polynomials in double precision, 18 each.
        pub in_double: [f64; 90],
        /// The same in single precision, 9 each, and one unused.
        pub in_single: [f32; 46],
    }
}

/// The box of the targets of a super-cluster (TargetBox of kernels/far/opening.cuh).
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
pub struct TargetBox {
    /// Center.
    pub middle: [f64; 3],
    /// Half widths, rounded up.
    pub half_edges: [f32; 3],
    /// Squared radius of the sphere around the center that contains all targets; negative without targets.
    pub squared_radius: f32,
    /// Estimated acceleration for G = 1.
    pub acceleration: f32,
    /// Padding.
    pub unused: u32,
}

impl Element for TargetBox {
    fn name() -> String {
        "TargetBox".into()
    }

    fn declaration() -> Option<&'static str> {
        Some("struct TargetBox;")
    }
}
