//! Relaxation of glass where blocks of different densities meet: their tiles end there without regard to each
//! other, with gaps and close pairs.
//!
//! Particles repel each other as in the glass, with a range by the mean of their sizes and an energy by its
//! cube. The pressure of the repulsion is then the same at any density, and the face stays where it is.

use rayon::prelude::*;

use super::cells::CellGrid;
use super::glass::{Descent, NEIGHBORS, STEPS};
use crate::space::Vec3d;

/// Relaxes the points of the periodic cuboid from zero to `period` that may move. `sizes` are the mean
/// distances of the particles at each point; the unit of length is the largest of them. Deterministic for
/// equal arguments.
pub fn relax(points: &mut [Vec3d], sizes: &[f64], movable: &[bool], period: Vec3d) {
    let range = (NEIGHBORS * 3.0 / (4.0 * std::f64::consts::PI)).cbrt().min(0.5 * period.min());
    let mut descent = Descent::new(points.len());
    for _ in 0..STEPS {
        let forces = repulsion(points, sizes, movable, range, period);
        descent.advance(points, &forces, period);
    }
}

/// Forces over the sizes, so that displacements scale with the sizes; zero on points that may not move.
fn repulsion(points: &[Vec3d], sizes: &[f64], movable: &[bool], range: f64, period: Vec3d) -> Vec<Vec3d> {
    let grid = CellGrid::new(points, 0.5 * range, Some(period));
    let on = |row: usize| {
        let mut sum = Vec3d::zeros();
        if !movable[row] {
            return sum;
        }
        let furthest = 0.5 * range * (sizes[row] + 1.0);
        grid.for_each(points, &points[row], furthest, |other, separation, squared| {
            let size = 0.5 * (sizes[row] + sizes[other]);
            let q = squared.sqrt() / (range * size);
            if q < 1.0 {
                sum += separation * (size * (1.0 - q).powi(3));
            }
        });
        sum / sizes[row]
    };
    (0..points.len()).into_par_iter().map(on).collect()
}
