//! Measurements of molecules.

use serde::{Deserialize, Serialize};

/// `[measure]`
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MeasurePlan {
    /// The radial distribution function, if it is measured.
    pub radial_distribution: Option<RadialDistributionPlan>,
    /// The mean square displacement and the diffusion coefficient, if they are measured.
    pub mean_square_displacement: Option<MeanSquareDisplacementPlan>,
}

/// `[measure.radial-distribution]`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RadialDistributionPlan {
    /// Largest distance, > 0, at most half of each edge; `None`: twice the cutoff or half the shortest edge.
    pub distance: Option<f64>,
    /// Number of bins, >= 1.
    pub bins: usize,
    /// Steps from one measurement to the next, >= 1.
    pub every_steps: u64,
    /// Time of the first, >= 0.
    pub from_time: f64,
}

/// `[measure.mean-square-displacement]`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MeanSquareDisplacementPlan {
    /// Longest time over which displacements are followed, in intervals of the measurement, >= 1.
    pub lags: u64,
    /// Measurements from one time of reference to the next, >= 1.
    pub stride: u64,
    /// Steps from one measurement to the next, >= 1.
    pub every_steps: u64,
    /// Time of the first, >= 0.
    pub from_time: f64,
    /// Shortest time in the fit of the diffusion coefficient; at least two lags are not shorter.
    pub fit_from: f64,
    /// Shear viscosity, > 0, for the correction of the finite box, which is then a cube; `None`: no correction.
    pub viscosity: Option<f64>,
}
