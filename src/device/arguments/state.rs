//! Arguments of kernels/sph/state.cu.

use super::{Input, Output, Rows};

kernel_arguments! {
    unit "sph/state.cu";

    /// Pressure and speed of sound of an ideal gas.
    pub struct IdealGasArguments for ideal_gas {
        /// Densities.
        pub density: Input<f64>,
        /// Internal energies.
        pub energy: Input<f64>,
        /// Ratio of specific heats.
        pub gamma: f64,
        /// Pressures.
        pub pressure: Output<f64>,
        /// Speeds of sound.
        pub sound_speed: Output<f64>,
        /// Rows.
        pub rows: Rows,
    }

    /// Pressure and speed of sound of an isothermal gas.
    pub struct IsothermalGasArguments for isothermal_gas {
        /// Densities.
        pub density: Input<f64>,
        /// The speed of sound of all particles.
        pub speed: f64,
        /// Pressures.
        pub pressure: Output<f64>,
        /// Speeds of sound.
        pub sound_speed: Output<f64>,
        /// Rows.
        pub rows: Rows,
    }

    /// Volume elements estimated from mass and density.
    pub struct EstimateVolumesArguments for estimate_volumes {
        /// Masses.
        pub mass: Input<f64>,
        /// Densities.
        pub density: Input<f64>,
        /// Volume elements.
        pub element: Output<f64>,
        /// Rows.
        pub rows: Rows,
    }

    /// Gradient matrices of the plain kernel gradient.
    pub struct IsotropicMatricesArguments for isotropic_matrices {
        /// Smoothing lengths.
        pub length: Input<f64>,
        /// Components xx, xy, xz, yy, yz, zz.
        pub matrix: [Output<f64>; 6],
        /// Rows.
        pub rows: Rows,
    }

    /// A column times a factor.
    pub struct ScaledColumnArguments for scaled_column {
        /// The column.
        pub column: Input<f64>,
        /// The factor.
        pub factor: f64,
        /// The product.
        pub scaled: Output<f64>,
        /// Rows.
        pub rows: Rows,
    }

    /// A column filled with one value.
    pub struct FillColumnArguments for fill_column {
        /// The column.
        pub column: Output<f64>,
        /// The value.
        pub value: f64,
        /// Rows.
        pub rows: Rows,
    }

    /// The smallest and the largest value of a column.
    pub struct ColumnExtremesArguments for column_extremes {
        /// The column.
        pub column: Input<f64>,
        /// Rows.
        pub rows: Rows,
        /// The smallest and the largest value.
        pub extremes: Output<u64>,
    }
}
