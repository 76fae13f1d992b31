//! Plan of the measurements of molecules.

use serde::{Deserialize, Serialize};

/// `[measure]`
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MeasurePlan {
    /// Radial distribution function, if measured.
    pub radial_distribution: Option<RadialDistributionPlan>,
    /// Mean square displacement and diffusion coefficient, if measured.
    pub mean_square_displacement: Option<MeanSquareDisplacementPlan>,
}

/// `[measure.radial-distribution]`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RadialDistributionPlan {
    /// Largest distance, > 0, at most half of each edge; `None`: the smaller of twice the cutoff and half the
    /// shortest edge.
    pub distance: Option<f64>,
    /// Number of bins, >= 1.
    pub bins: usize,
    /// Interval in steps, >= 1.
    pub every_steps: u64,
    /// Time of the first measurement, >= 0.
    pub from_time: f64,
}

/// `[measure.mean-square-displacement]`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MeanSquareDisplacementPlan {
    /// Longest time lag (the window), in measurement intervals, >= 2.
    pub lags: u64,
    /// Measurements between successive time origins, >= 1.
    pub stride: u64,
    /// Interval in steps, >= 1.
    pub every_steps: u64,
    /// Time of the first measurement, >= 0.
    pub from_time: f64,
    /// Shortest time lag in the fit of the diffusion coefficient; at least two lags are in the fit.
    pub fit_from: f64,
    /// Shear viscosity, > 0, for the finite-size correction of the diffusion coefficient in a cube; `None`:
    /// no correction.
    pub viscosity: Option<f64>,
}
