//! The Evrard collapse (Evrard 1988, MNRAS 235, 911): a cold gas sphere at rest with density
//! M / (2 pi R^2 r) collapses under its self-gravity.
//!
//! The start stretches a ball of uniform density radially, r -> r^(3/2), so that M(<r) = M (r/R)^2.

mod judge;
mod pictures;
pub mod reference;

use std::ops::Range;

use super::case::{ARRANGEMENT, Case, CaseReader, NOISE, PARTICLES, SEED, Surroundings, Template};
use super::tools::keys::{MASS, RADIUS};
use super::{Findings, Subject};
use crate::layout::ball::{Ball, RadialProfile};
use crate::layout::glass::Tile;
use crate::layout::{Arrangement, Layout, Values};
use crate::sections::{Default, POSITIVE, Section, key, number, section};
use crate::units::Dimension;
use serde::{Deserialize, Serialize};

/// `[start.evrard]`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Evrard {
    /// Number of particles, >= 1; the layout may round it.
    pub particles: u64,
    /// Layout before it is mapped to the density profile.
    pub arrangement: Arrangement,
    /// Seed of the random numbers.
    pub seed: u64,
    /// Radius R, > 0.
    pub radius: f64,
    /// Total mass M, > 0.
    pub mass: f64,
    /// Specific internal energy u, > 0.
    pub internal_energy: f64,
}

impl Case for Evrard {
    const SECTION: Section = section(
        "start.evrard",
        "Evrard collapse: a cold gas sphere with density M / (2 pi R^2 r), at rest.",
        &[
            PARTICLES,
            ARRANGEMENT,
            NOISE,
            SEED,
            RADIUS,
            MASS,
            key("internal_energy", number(POSITIVE), Default::Value("0.05"), "Specific internal energy.")
                .also(&["u"]),
        ],
    );
    const TITLE: &'static str = "Evrard collapse";
    const TEMPLATE: Template = Template {
        title: "Evrard collapse",
        sections: &["sph", "gravity"],
        settings: &[
            ("run.end_time", "0.8"),
            ("start.evrard.particles", "100_000"),
            ("output.directory", "\"out/evrard\""),
            ("output.snapshots.every_time", "0.1"),
            ("output.checkpoint.every_wall", "\"15min\""),
        ],
        omitted: &[],
    };

    fn read(section: &mut dyn CaseReader) -> Self {
        Self {
            particles: section.integer("particles"),
            arrangement: section.arrangement(),
            seed: section.integer("seed"),
            radius: section.number("radius"),
            mass: section.number("mass"),
            internal_energy: section.number("internal_energy"),
        }
    }

    fn check(&self, surroundings: &Surroundings, section: &mut dyn CaseReader) {
        let Some([lower, upper]) = surroundings.corners else { return };
        if (0..3).any(|d| -self.radius < lower[d] || self.radius > upper[d]) {
            let radius = section.format_quantity(self.radius, Dimension::Length);
            section.report(
                &["space.lower", "space.upper"],
                format!("the sphere of radius {radius} about 0 does not fit into the box"),
                "make the box larger, or leave it out where the boundary is open".into(),
            );
        }
    }

    fn count(&self) -> u64 {
        self.particles
    }

    fn seed(&self) -> u64 {
        self.seed
    }

    fn tiles(&self) -> Vec<Tile> {
        Ball::tile(self.particles, self.arrangement, self.seed).into_iter().collect()
    }

    fn layout(&self, surroundings: &Surroundings, share: Range<u64>) -> Layout {
        let ball = Ball::quiet(self.particles, self.arrangement, self.seed, surroundings.noise);
        let (count, radius) = (self.particles as f64, self.radius);
        let positions = ball.positions(&InverseRadius, share).into_iter().map(|x| x * radius).collect();
        Layout {
            positions,
            velocities: None,
            mass: Values::Uniform(self.mass / count.max(1.0)),
            internal_energy: Values::Uniform(self.internal_energy),
            volume_of: Box::new(move |position, neighbors| {
                // At the center, N (r/R)^2 = neighbors gives the ball. The local density takes over where
                // both agree.
                let innermost = 2.0 / 3.0 * radius * (neighbors / count).sqrt();
                let density =
                    count / (2.0 * std::f64::consts::PI * radius.powi(2) * position.norm().max(innermost));
                neighbors / density
            }),
        }
    }

    fn judge(&self, subject: &Subject) -> Findings {
        judge::judge(subject)
    }
}

/// Density proportional to 1/r in the unit ball: M(<r) = r^2.
struct InverseRadius;

impl RadialProfile for InverseRadius {
    fn radius(&self, mass_fraction: f64) -> f64 {
        mass_fraction.sqrt()
    }

    fn stretch(&self, q: f64) -> f64 {
        q.sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases::tools::testing::NOWHERE;
    use crate::layout::noise::{KERNELS, Kernel, density_ratio, mean_and_spread};
    use crate::space::Vec3d;

    fn start(particles: u64, arrangement: Arrangement) -> Evrard {
        Evrard { particles, arrangement, seed: 0, radius: 1.0, mass: 1.0, internal_energy: 0.05 }
    }

    fn noise(start: &Evrard, kernel: Kernel) -> (f64, f64) {
        let positions = start.layout(&NOWHERE, 0..start.particles).positions;
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
            let positions = start(count, arrangement).layout(&NOWHERE, 0..count).positions;
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
