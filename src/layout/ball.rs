//! Balls with a radial profile: points of uniform density in a ball, stretched radially.
//!
//! The particle number is exact: the ball is cut at the radius that contains N points of the pattern, about a
//! center in general position. The stretch is scaled by the radius of the ball whose volume holds N points.
//! The density is therefore right everywhere, and the outermost particle lies at the edge up to the pattern's
//! fluctuation (3e-4 of the radius at 100,000). The center gets no special treatment. Finally, the center of
//! mass is moved to the origin.

use std::ops::Range;

use rand::RngExt;

use super::glass::Tile;
use super::pattern::Pattern;
use super::{Arrangement, particle_rng, random_direction};
use crate::faults::{Fault, planted};
use crate::space::Vec3d;

/// A point of no symmetry, so that no two lattice points are equally far from it, in units of the spacing.
const CENTER: [f64; 3] = [0.137, 0.3719, 0.2391];

/// A spherical mass distribution.
pub trait RadialProfile {
    /// Returns the radius that encloses a fraction of the mass, 0 to 1.
    fn radius(&self, mass_fraction: f64) -> f64;

    /// Returns the radius over `q`, for the shell at the radius `q` of the uniform unit ball. `q` may exceed
    /// 1 by the pattern's fluctuation.
    fn stretch(&self, q: f64) -> f64 {
        if q > 0.0 { self.radius((q * q * q).min(1.0)) * q.max(1.0) / q } else { 0.0 }
    }
}

/// The uniform ball of radius one, before it is stretched.
pub struct Ball {
    /// The pattern and its cut radius; `None` for independent positions.
    pattern: Option<(Pattern, f64)>,
    count: u64,
    seed: u64,
}

impl Ball {
    /// Cuts a ball of `count` points from an arrangement.
    pub fn new(count: u64, arrangement: Arrangement, seed: u64) -> Self {
        Self::quiet(count, arrangement, seed, None)
    }

    /// Cuts a ball of `count` points from an arrangement; a glass has at most `noise`
    /// ([`super::glass::Tile::noise`]).
    pub fn quiet(count: u64, arrangement: Arrangement, seed: u64, noise: Option<f64>) -> Self {
        let pattern = match arrangement {
            Arrangement::Random => None,
            Arrangement::Glass => Some(Pattern::glass(count, seed, noise)),
            lattice => Pattern::lattice_of(lattice),
        };
        let cut = |pattern: Pattern| {
            let pattern = pattern.normalized();
            let radius = pattern.radius_of(&CENTER.into(), count);
            (pattern, radius)
        };
        Self { pattern: pattern.map(cut), count, seed }
    }

    /// Returns the tile of glass that a ball is cut from, if it is one.
    pub fn tile(count: u64, arrangement: Arrangement, seed: u64) -> Option<Tile> {
        (arrangement == Arrangement::Glass).then(|| Pattern::glass_tile(count, seed))
    }

    /// Returns the positions of a range of ids, with the center of mass of all particles at the origin.
    pub fn positions(&self, profile: &impl RadialProfile, share: Range<u64>) -> Vec<Vec3d> {
        let mut mean = Vec3d::zeros();
        self.for_each(profile, 0..self.count, |position| mean += position);
        mean /= self.count.max(1) as f64;
        let mut positions = Vec::new();
        self.for_each(profile, share, |position| positions.push(position - mean));
        positions
    }

    /// Calls `visit` for the particles of a range of ids, in order.
    fn for_each(&self, profile: &impl RadialProfile, ids: Range<u64>, mut visit: impl FnMut(Vec3d)) {
        let Some((pattern, radius)) = &self.pattern else {
            for id in ids {
                let mut random = particle_rng(self.seed, id);
                visit(random_direction(&mut random) * profile.radius(random.random::<f64>()));
            }
            return;
        };
        let nominal_radius = (self.count as f64 * 3.0 / (4.0 * std::f64::consts::PI)).cbrt();
        let mut id = 0;
        pattern.for_each_in_ball(&CENTER.into(), *radius, |point| {
            if ids.contains(&id) {
                let uniform = point / nominal_radius;
                let unstretched = planted(Fault::BallUnstretched);
                let stretch = if unstretched { profile.radius(1.0) } else { profile.stretch(uniform.norm()) };
                visit(uniform * stretch);
            }
            id += 1;
        });
    }
}

/// A profile from a table of enclosed masses.
#[derive(Clone, Debug)]
pub struct MassTable {
    /// Cubes of the radii, ascending.
    cubes: Vec<f64>,
    /// Enclosed fractions of the mass, ascending from 0 to 1.
    fractions: Vec<f64>,
}

impl MassTable {
    /// Creates the profile of a table of radii and enclosed masses, both ascending from 0. Between two rows
    /// the density is uniform.
    pub fn new(radii: &[f64], masses: &[f64]) -> Self {
        let total = masses.last().copied().unwrap_or(1.0);
        Self {
            cubes: radii.iter().map(|radius| radius.powi(3)).collect(),
            fractions: masses.iter().map(|mass| mass / total).collect(),
        }
    }
}

impl RadialProfile for MassTable {
    fn radius(&self, mass_fraction: f64) -> f64 {
        let last = self.fractions.len() - 1;
        let above = self.fractions.partition_point(|&fraction| fraction < mass_fraction).clamp(1, last);
        let (low, high) = (self.fractions[above - 1], self.fractions[above]);
        let part = if high > low { (mass_fraction - low) / (high - low) } else { 0.0 };
        (self.cubes[above - 1] + part * (self.cubes[above] - self.cubes[above - 1])).max(0.0).cbrt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_gives_its_masses() {
        // density proportional to r: M(<r) = r^4, radius 2
        let radii: Vec<f64> = (0..=2000).map(|k| 2.0 * f64::from(k) / 2000.0).collect();
        let masses: Vec<f64> = radii.iter().map(|r| 7.0 * r.powi(4)).collect();
        let table = MassTable::new(&radii, &masses);
        for fraction in [0.0, 1e-3, 0.2, 0.7, 1.0] {
            let exact = 2.0 * f64::powf(fraction, 0.25);
            assert!((table.radius(fraction) - exact).abs() < 1e-4, "{fraction}");
        }
        for &arrangement in Arrangement::ALL {
            // relaxing a large glass takes long without optimization
            let count = if arrangement == Arrangement::Glass { 60 } else { 8000 };
            let ball = Ball::new(count, arrangement, 3);
            let positions = ball.positions(&table, 0..count);
            assert_eq!(positions.len() as u64, count);
            let tolerance = match arrangement {
                Arrangement::Glass => 0.05,
                Arrangement::Random => 0.02,
                _ => 0.004,
            };
            for radius in [0.8f64, 1.2, 1.6, 1.9] {
                let inside = positions.iter().filter(|p| p.norm() < radius).count() as f64 / count as f64;
                let exact = (radius / 2.0).powi(4);
                assert!((inside - exact).abs() < tolerance, "{arrangement:?}: M(<{radius}) = {inside}");
            }
            assert_eq!(ball.positions(&table, 30..50), positions[30..50]);
        }
    }
}
