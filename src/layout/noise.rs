//! Noise of a start: the SPH density of its points relative to the continuum density. For tests only.

use rayon::prelude::*;

use super::cells::CellGrid;
use crate::space::Vec3d;

/// The kernel of the density sum.
#[derive(Clone, Copy, Debug)]
pub enum Kernel {
    /// sinc, exponent 6.
    Sinc6,
    /// Wendland C6.
    WendlandC6,
}
/// All kernels.
pub const KERNELS: [Kernel; 2] = [Kernel::Sinc6, Kernel::WendlandC6];

/// The kernel's shape for q = r / (2h) in [0, 1].
fn shape(kernel: Kernel, q: f64) -> f64 {
    let x = std::f64::consts::PI * q;
    match kernel {
        Kernel::Sinc6 if x < 1e-6 => 1.0,
        Kernel::Sinc6 => (x.sin() / x).powi(6),
        Kernel::WendlandC6 => (1.0 - q).powi(8) * (1.0 + q * (8.0 + q * (25.0 + q * 32.0))),
    }
}

/// Returns the ratio of the SPH number density to `expected` at each point, with h from (4 pi / 3) (2h)^3 n =
/// neighbors.
pub fn density_ratio(
    points: &[Vec3d],
    period: Option<Vec3d>,
    neighbors: f64,
    kernel: Kernel,
    expected: impl Fn(&Vec3d) -> f64 + Sync,
) -> Vec<f64> {
    let ball = 4.0 / 3.0 * std::f64::consts::PI;
    let steps = 4000;
    let volume: f64 = (0..steps)
        .map(|k| (k as f64 + 0.5) / steps as f64)
        .map(|q| 3.0 * ball * q * q * shape(kernel, q) / steps as f64)
        .sum();
    let support = |density: f64| (neighbors / (ball * density)).cbrt();
    let mut supports: Vec<f64> = points.iter().map(|p| support(expected(p))).collect();
    supports.sort_by(f64::total_cmp);
    let grid = CellGrid::new(points, supports[points.len() / 2] * 0.5, period);
    points
        .par_iter()
        .map(|point| {
            let mut density = expected(point);
            // Averaging old and new values is stable, because the sum grows more slowly than the cube of the
            // support.
            for _ in 0..20 {
                let reach = support(density);
                let mut sum = 0.0;
                grid.for_each(points, point, reach, |_, _, s| sum += shape(kernel, s.sqrt() / reach));
                density = 0.5 * (density + sum / (volume * reach.powi(3)));
            }
            density / expected(point)
        })
        .collect()
}

/// Mean and standard deviation.
pub fn mean_and_spread(values: &[f64]) -> (f64, f64) {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    (mean, (values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / values.len() as f64).sqrt())
}
