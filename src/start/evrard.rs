//! The Evrard sphere (Evrard 1988, MNRAS 235, 911): cold gas at rest with density M / (2 pi R^2 r).
//!
//! Points of uniform density in the unit ball are stretched radially, r -> r^(3/2), so that M(<r) = M
//! (r/R)^2. The particle number is exact: the ball is cut at the radius that contains N points, about a
//! center in general position. The stretch is scaled by the radius of the ball whose volume holds N points.
//! The density is therefore right everywhere, and the outermost particle lies at R up to the pattern's
//! fluctuation (3e-4 R at 100,000). The center gets no special treatment. Finally, the center of mass is
//! moved to the origin.

use std::ops::Range;

use rand::RngExt;

use super::pattern::Pattern;
use super::{InternalEnergy, Layout, particle_rng, random_direction};
use crate::plan::{Arrangement, EvrardStart};
use crate::space::Vec3d;

/// A point of no symmetry, so that no two lattice points are equally far from it, in units of the spacing.
const CENTER: [f64; 3] = [0.137, 0.3719, 0.2391];

/// Lays out the particles of a range of ids.
pub fn layout(start: &EvrardStart, share: Range<u64>) -> Layout {
    let sphere = Sphere::new(start);
    let mut mean = Vec3d::zeros();
    sphere.for_each(0..start.particles, |position| mean += position);
    mean /= start.particles.max(1) as f64;
    let mut positions = Vec::new();
    sphere.for_each(share, |position| positions.push((position - mean) * start.radius));
    let (count, radius) = (start.particles as f64, start.radius);
    Layout {
        positions,
        velocities: None,
        mass: start.mass / count.max(1.0),
        internal_energy: InternalEnergy::Uniform(start.internal_energy),
        volume_of: Box::new(move |position, neighbors| {
            // At the center, N (r/R)^2 = neighbors gives the ball. The local density takes over where both
            // agree.
            let innermost = 2.0 / 3.0 * radius * (neighbors / count).sqrt();
            let density =
                count / (2.0 * std::f64::consts::PI * radius.powi(2) * position.norm().max(innermost));
            neighbors / density
        }),
    }
}

/// The sphere of radius one, before its center of mass is moved to the origin.
struct Sphere {
    /// The pattern and its cut radius; `None` for independent positions.
    pattern: Option<(Pattern, f64)>,
    count: u64,
    seed: u64,
}

impl Sphere {
    fn new(start: &EvrardStart) -> Self {
        let (count, seed) = (start.particles, start.seed);
        let pattern = match start.arrangement {
            Arrangement::Random => None,
            Arrangement::Glass => Some(Pattern::glass(count, seed)),
            lattice => Pattern::lattice_of(lattice),
        };
        let cut = |pattern: Pattern| {
            let pattern = pattern.normalized();
            let radius = pattern.radius_of(&CENTER.into(), count);
            (pattern, radius)
        };
        Self { pattern: pattern.map(cut), count, seed }
    }

    /// Calls `visit` for the particles of a range of ids, in order.
    fn for_each(&self, ids: Range<u64>, mut visit: impl FnMut(Vec3d)) {
        let Some((pattern, radius)) = &self.pattern else {
            for id in ids {
                let mut random = particle_rng(self.seed, id);
                visit(random_direction(&mut random) * random.random::<f64>().sqrt());
            }
            return;
        };
        let nominal_radius = (self.count as f64 * 3.0 / (4.0 * std::f64::consts::PI)).cbrt();
        let mut id = 0;
        pattern.for_each_in_ball(&CENTER.into(), *radius, |point| {
            if ids.contains(&id) {
                let uniform = point / nominal_radius;
                visit(uniform * uniform.norm().sqrt());
            }
            id += 1;
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::start::noise::{KERNELS, Kernel, density_ratio, mean_and_spread};

    fn start(particles: u64, arrangement: Arrangement) -> EvrardStart {
        EvrardStart { particles, arrangement, seed: 0, radius: 1.0, mass: 1.0, internal_energy: 0.05 }
    }

    fn noise(start: &EvrardStart, kernel: Kernel) -> (f64, f64) {
        let positions = layout(start, 0..start.particles).positions;
        let count = start.particles as f64;
        let density = |p: &Vec3d| count / (2.0 * std::f64::consts::PI * p.norm().max(1e-9));
        let ratio = density_ratio(&positions, None, 100.0, kernel, density);
        let inside = |p: &Vec3d| p.norm() > 0.1 && p.norm() < 0.8;
        let chosen: Vec<f64> =
            positions.iter().zip(&ratio).filter(|(p, _)| inside(p)).map(|(_, ratio)| *ratio).collect();
        mean_and_spread(&chosen)
    }

    #[test]
    fn density_noise_is_low() {
        for (arrangement, most) in [(Arrangement::Glass, 0.008), (Arrangement::BodyCentered, 0.003)] {
            let (mean, spread) = noise(&start(10_000, arrangement), Kernel::Sinc6);
            assert!((mean - 1.0).abs() < 0.01, "{arrangement:?}: mean {mean}");
            assert!(spread < most, "{arrangement:?}: spread {spread}");
        }
    }

    #[test]
    #[ignore = "prints the table of the docs"]
    fn noise_table() {
        for &arrangement in Arrangement::ALL {
            for kernel in KERNELS {
                let time = std::time::Instant::now();
                let (mean, spread) = noise(&start(100_000, arrangement), kernel);
                println!(
                    "| {} | {kernel:?} | {:+.3} % | {:.3} % | {:.1?}",
                    arrangement.name(),
                    100.0 * (mean - 1.0),
                    100.0 * spread,
                    time.elapsed()
                );
            }
        }
    }

    #[test]
    fn mass_within_a_radius_is_its_square() {
        for &arrangement in Arrangement::ALL {
            let count = 20_000;
            let positions = layout(&start(count, arrangement), 0..count).positions;
            assert_eq!(positions.len() as u64, count);
            let tolerance = if arrangement == Arrangement::Random { 0.015 } else { 0.0015 };
            for radius in [0.1f64, 0.2, 0.4, 0.6, 0.8, 0.95] {
                let inside = positions.iter().filter(|p| p.norm() < radius).count() as f64 / count as f64;
                assert!(
                    (inside - radius * radius).abs() < tolerance,
                    "{arrangement:?}: M(<{radius}) = {inside}"
                );
            }
            let center = positions.iter().sum::<Vec3d>() / count as f64;
            assert!(center.norm() < 1e-14, "{arrangement:?}: center of mass {center:?}");
            let furthest = positions.iter().map(Vec3d::norm).fold(0.0, f64::max);
            assert!((furthest - 1.0).abs() < 0.01, "{arrangement:?}: furthest {furthest}");
        }
    }
}
