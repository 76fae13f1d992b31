//! The glass: points relaxed to uniform density without a preferred direction.
//!
//! Points repel each other with the Wendland C2 kernel as pair potential. The energy is then the sum of their
//! SPH densities, which at fixed volume is minimal for uniform density. The minimizer is FIRE, damped motion
//! that stops when it would go uphill (Bitzek et al. 2006, PRL 97, 170201).

use rand::{RngExt, SeedableRng};
use rayon::prelude::*;

use super::cells::CellGrid;
use super::quiet;
use crate::space::Vec3d;

/// Points within the potential's cutoff. Among 24 to 100, this value leaves the least density noise (see
/// `docs/src/evrard.md`).
pub(super) const NEIGHBORS: f64 = 32.0;
/// Minimization steps; three times as many reduce the noise by only 5 %.
pub(super) const STEPS: usize = 150;
/// Maximum move per step, in units of the mean distance; without it, the first steps scatter the points.
const MAX_MOVE: f64 = 0.2;

/// A periodic cuboid of glass.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tile {
    /// Number of points.
    pub count: usize,
    /// Edges, > 0.
    pub lengths: Vec3d,
    /// Seed of the points before the relaxation.
    pub seed: u64,
}

impl Tile {
    /// Returns the points, from zero to `lengths`. With `allowed`, they are relaxed until [`Self::noise`] is
    /// that low, or cannot be lowered further.
    pub fn points(&self, allowed: Option<f64>) -> Vec<Vec3d> {
        match allowed {
            Some(allowed) => quiet::relaxed(self, allowed).points.clone(),
            None => relaxed(self.count, self.lengths, self.seed),
        }
    }

    /// Returns the noise of the points for `allowed`: the root-mean-square deviation of the SPH density from
    /// its mean, relative, with the default kernel and number of neighbors of `[sph]`.
    pub fn noise(&self, allowed: f64) -> f64 {
        quiet::relaxed(self, allowed).noise
    }
}

/// Relaxes `count` random points in the periodic cuboid from zero to `lengths`. Deterministic for equal
/// arguments.
pub fn relaxed(count: usize, lengths: Vec3d, seed: u64) -> Vec<Vec3d> {
    let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(seed);
    let spacing = (lengths.product() / count.max(1) as f64).cbrt();
    // In units of the spacing, the parameters of the minimizer fit every cuboid.
    let period = lengths / spacing;
    let mut points: Vec<Vec3d> =
        (0..count).map(|_| period.map(|edge| random.random::<f64>() * edge)).collect();
    let cutoff = (NEIGHBORS * 3.0 / (4.0 * std::f64::consts::PI)).cbrt().min(0.5 * period.min());
    let mut descent = Descent::new(count);
    for _ in 0..STEPS {
        let force = repulsion(&points, cutoff, period);
        descent.advance(&mut points, &force, period);
    }
    points.iter().map(|point| point * spacing).collect()
}

/// The gradient of the Wendland C2 kernel, without its constant factor, summed over the points within
/// `cutoff` of each point.
fn repulsion(points: &[Vec3d], cutoff: f64, period: Vec3d) -> Vec<Vec3d> {
    let grid = CellGrid::new(points, 0.5 * cutoff, Some(period));
    let on = |point: &Vec3d| {
        let mut sum = Vec3d::zeros();
        grid.for_each(points, point, cutoff, |_, separation, squared| {
            sum += separation * (1.0 - squared.sqrt() / cutoff).powi(3);
        });
        sum
    };
    points.par_iter().map(on).collect()
}

/// State of the FIRE minimizer.
pub(super) struct Descent {
    velocity: Vec<Vec3d>,
    step: f64,
    mixing: f64,
    downhill: u32,
}

impl Descent {
    pub(super) fn new(count: usize) -> Self {
        Self { velocity: vec![Vec3d::zeros(); count], step: 0.1, mixing: 0.1, downhill: 0 }
    }

    /// Moves the points by a step, and wraps them into the cuboid from zero to `period`. Lengths are in units
    /// of the mean distance.
    pub(super) fn advance(&mut self, points: &mut [Vec3d], force: &[Vec3d], period: Vec3d) {
        let power: f64 = force.iter().zip(&self.velocity).map(|(f, v)| f.dot(v)).sum();
        let strength = force.iter().map(Vec3d::norm_squared).sum::<f64>().sqrt();
        if power > 0.0 {
            let speed = self.velocity.iter().map(Vec3d::norm_squared).sum::<f64>().sqrt();
            for (v, f) in self.velocity.iter_mut().zip(force) {
                *v = *v * (1.0 - self.mixing) + f * (self.mixing * speed / strength);
            }
            self.downhill += 1;
            if self.downhill > 5 {
                self.step = (self.step * 1.1).min(0.5);
                self.mixing *= 0.99;
            }
        } else {
            self.velocity.fill(Vec3d::zeros());
            self.step *= 0.5;
            self.mixing = 0.1;
            self.downhill = 0;
        }
        for ((point, v), f) in points.iter_mut().zip(&mut self.velocity).zip(force) {
            *v += f * self.step;
            let moved = *v * self.step;
            let length = moved.norm();
            *point += if length > MAX_MOVE { moved * (MAX_MOVE / length) } else { moved };
            *point = point.zip_map(&period, |x, edge| {
                let inside = x.rem_euclid(edge);
                if inside < edge { inside } else { 0.0 }
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::noise::{Kernel, density_ratio, mean_and_spread};

    #[test]
    fn is_even_and_repeats() {
        let lengths = Vec3d::new(1.0, 2.0, 1.5);
        let points = relaxed(1500, lengths, 1);
        assert_eq!(points, relaxed(1500, lengths, 1), "the same points every time");
        let expected = 1500.0 / lengths.product();
        let (mean, spread) =
            mean_and_spread(&density_ratio(&points, Some(lengths), 100.0, Kernel::Sinc6, |_| expected));
        assert!((mean - 1.0).abs() < 0.01, "mean {mean}");
        assert!(spread < 0.006, "spread {spread}");
        assert!(points.iter().all(|point| (0..3).all(|d| point[d] >= 0.0 && point[d] < lengths[d])));
    }

    #[test]
    fn takes_any_small_count() {
        for count in 0..5 {
            let points = relaxed(count, Vec3d::repeat(3.0), 7);
            assert_eq!(points.len(), count);
            assert!(points.iter().all(|point| point.iter().all(|x| x.is_finite())));
        }
    }
}
