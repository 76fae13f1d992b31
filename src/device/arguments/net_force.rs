//! Arguments of kernels/far/net_force.cu.

use super::{Input, Output, Rows};

kernel_arguments! {
    unit "far/net_force.cu";

    /// Mass, moments, net force and torque.
    pub struct NetForceArguments for net_force {
        /// Positions.
        pub position: [Input<f64>; 3],
        /// Accelerations.
        pub acceleration: [Input<f64>; 3],
        /// Masses.
        pub mass: Input<f64>,
        /// Origin of the moments and torques.
        pub origin: [f64; 3],
        /// The owned rows.
        pub rows: Rows,
        /// Sixteen columns with one value per block.
        pub partial: Output<f64>,
    }

    /// Subtraction of the field of a rigid motion.
    pub struct SubtractRigidFieldArguments for subtract_rigid_field {
        /// Positions.
        pub position: [Input<f64>; 3],
        /// Accelerations.
        pub acceleration: [Output<f64>; 3],
        /// Center of mass.
        pub center: [f64; 3],
        /// Acceleration of the center of mass.
        pub linear: [f64; 3],
        /// Angular acceleration.
        pub angular: [f64; 3],
        /// The owned rows.
        pub rows: Rows,
    }
}
