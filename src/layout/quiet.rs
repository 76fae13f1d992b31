//! Glass as quiet as asked. After the usual relaxation, the points repel each other with the kernel of the
//! noise itself, Wendland C6 over the support of [`NEIGHBORS`]: the energy is the sum of the SPH densities,
//! and its gradient the force of a uniform pressure. A tile of 4096 points starts with a noise of 0.0018.
//!
//! Quiet tiles are kept for the process, because the start first asks for their noise, then for their points.

use rayon::prelude::*;
use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use super::cells::CellGrid;
use super::glass::{self, Descent, Tile};
use crate::space::Vec3d;

/// Points in the support of the kernel; fewer in a tile with an edge below two supports. These are the
/// defaults of `[sph]`.
const NEIGHBORS: f64 = 190.0;
/// Largest number of minimization steps.
const STEPS: usize = 400;

/// A quiet tile.
pub struct Quiet {
    /// The points.
    pub points: Vec<Vec3d>,
    /// Their noise; above the allowed if it could not be met.
    pub noise: f64,
}

/// Count, edges, seed and allowed noise as bits.
type Key = (usize, [u64; 3], u64, u64);

static KNOWN: LazyLock<Mutex<HashMap<Key, Arc<Quiet>>>> = LazyLock::new(Mutex::default);

/// Relaxes a tile until its noise is at most `allowed`, or [`STEPS`] steps are done. Deterministic for equal
/// arguments.
pub fn relaxed(tile: &Tile, allowed: f64) -> Arc<Quiet> {
    let key = (tile.count, tile.lengths.map(f64::to_bits).into(), tile.seed, allowed.to_bits());
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    known.entry(key).or_insert_with(|| Arc::new(relax(tile, allowed, STEPS))).clone()
}

fn relax(tile: &Tile, allowed: f64, steps: usize) -> Quiet {
    let spacing = (tile.lengths.product() / tile.count.max(1) as f64).cbrt();
    let period = tile.lengths / spacing;
    let mut points: Vec<Vec3d> =
        glass::relaxed(tile.count, tile.lengths, tile.seed).iter().map(|point| point / spacing).collect();
    let support = (NEIGHBORS * 3.0 / (4.0 * std::f64::consts::PI)).cbrt().min(0.5 * period.min());
    let mut descent = Descent::new(tile.count);
    let mut noise = f64::INFINITY;
    for step in 0..=steps {
        let (densities, forces) = sums(&points, support, period);
        noise = deviation(&densities);
        if noise <= allowed || step == steps {
            break;
        }
        descent.advance(&mut points, &forces, period);
    }
    Quiet { points: points.iter().map(|point| point * spacing).collect(), noise }
}

/// SPH densities and their gradients, without constant factors, of the kernel Wendland C6.
fn sums(points: &[Vec3d], support: f64, period: Vec3d) -> (Vec<f64>, Vec<Vec3d>) {
    let grid = CellGrid::new(points, 0.5 * support, Some(period));
    let of = |point: &Vec3d| {
        let (mut density, mut force) = (0.0, Vec3d::zeros());
        grid.for_each(points, point, support, |_, separation, squared| {
            let q = squared.sqrt() / support;
            let seventh = (1.0 - q).powi(7);
            density += seventh * (1.0 - q) * (1.0 + q * (8.0 + q * (25.0 + q * 32.0)));
            force += separation * (seventh * (1.0 + q * (7.0 + q * 16.0)));
        });
        (density, force)
    };
    points.par_iter().map(of).unzip()
}

/// Standard deviation over the mean; 0 without values.
fn deviation(values: &[f64]) -> f64 {
    let count = values.len().max(1) as f64;
    let mean = values.iter().sum::<f64>() / count;
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / count;
    if mean > 0.0 { variance.sqrt() / mean } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::noise::{Kernel, density_ratio, mean_and_spread};

    #[test]
    fn the_noise_is_that_of_the_sph_density() {
        let tile = Tile { count: 500, lengths: Vec3d::new(2.0, 2.2, 1.9), seed: 3 };
        let expected = 500.0 / tile.lengths.product();
        let measured = |points: &[Vec3d]| {
            let ratios =
                density_ratio(points, Some(tile.lengths), NEIGHBORS, Kernel::WendlandC6, |_| expected);
            mean_and_spread(&ratios).1
        };
        let usual = measured(&tile.points(None));
        let quiet = tile.points(Some(8e-4));
        assert!(usual > 1e-3, "{usual}");
        assert!(measured(&quiet) < 8.2e-4, "{} after {usual}", measured(&quiet));
        assert!((measured(&quiet) / tile.noise(8e-4) - 1.0).abs() < 0.03);
        assert!(quiet.iter().all(|point| (0..3).all(|d| point[d] >= 0.0 && point[d] < tile.lengths[d])));
        // a limit that the usual relaxation meets changes nothing but the rounding of the units
        let loose = tile.points(Some(0.5));
        assert!(loose.iter().zip(tile.points(None)).all(|(a, b)| (a - b).norm() < 1e-12));
    }

    #[test]
    fn a_noise_that_cannot_be_reached_is_reported() {
        let tile = Tile { count: 60, lengths: Vec3d::repeat(1.0), seed: 1 };
        let reached = relax(&tile, 1e-6, 20).noise;
        assert!(reached > 1e-6 && reached < 0.05, "{reached}");
        assert!(relax(&Tile { count: 0, ..tile }, 1e-3, 20).points.is_empty());
    }
}
