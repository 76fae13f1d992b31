//! Arguments of kernels/far/external.cu.

use super::{Input, Output, Rows};
use crate::far::external::ExternalField;

kernel_arguments! {
    unit "far/external.cu";

    /// An external field.
    pub struct ExternalParameters {
        /// Uniform acceleration.
        pub uniform: [f64; 3],
        /// Position of the point mass.
        pub center: [f64; 3],
        /// Per dimension 1, or 0 where the distance from the point mass does not count.
        pub counted: [f64; 3],
        /// G M of the point mass; 0: there is none.
        pub strength: f64,
        /// Squared softening length of the point mass.
        pub squared_softening: f64,
    }

    /// Addition of the field to the accelerations.
    pub struct ExternalAccelerationArguments for external_acceleration {
        /// Positions.
        pub position: [Input<f64>; 3],
        /// Accelerations.
        pub acceleration: [Output<f64>; 3],
        /// The field.
        pub field: ExternalParameters,
        /// The owned rows.
        pub rows: Rows,
    }

    /// Energy of the particles in the field.
    pub struct ExternalEnergyArguments for external_energy {
        /// Positions.
        pub position: [Input<f64>; 3],
        /// Masses.
        pub mass: Input<f64>,
        /// The field.
        pub field: ExternalParameters,
        /// The owned rows.
        pub rows: Rows,
        /// One column with one value per block.
        pub partial: Output<f64>,
    }
}

impl From<&ExternalField> for ExternalParameters {
    fn from(field: &ExternalField) -> Self {
        let ExternalField { uniform, center, counted, strength, squared_softening } = *field;
        Self { uniform, center, counted, strength, squared_softening }
    }
}
