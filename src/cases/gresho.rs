//! The vortex of Gresho & Chan (1990, Int. J. Numer. Methods Fluids 11, 621): pressure and rotation are in
//! balance, so the vortex stays. A slab in the periodic unit square, density 1.
//!
//! The pressure at the center sets the Mach number: 5 is the usual value, a larger one a slower vortex.

use std::ops::Range;

use super::case::{ARRANGEMENT, Case, CaseReader, NOISE, SEED, Surroundings, Template};
use super::tools::keys::{depth, side};
use super::tools::pictures::{Panel, draw};
use super::tools::subject::title;
use super::{Check, Findings, Subject};
use crate::layout::cuboid::{Cuboid, Edge, filled};
use crate::layout::glass::Tile;
use crate::layout::{Arrangement, Layout, Values};
use crate::particles::Field;
use crate::sections::{Default, POSITIVE, Section, key, number, section};
use crate::space::{Boundary, Vec3d};
use serde::{Deserialize, Serialize};

const GAMMA: f64 = 5.0 / 3.0;
/// Radius of the norms and number of rings in it.
const RADIUS: f64 = 0.5;
const RINGS: usize = 25;
/// Gates at 64 particles along the edge, t = 1: 1.2 times the norms with the default settings
/// (`docs/src/gas-settings.md` and its audit). Norms shrink with the distance of the particles to the power
/// 1, those of rings to 1.4.
const GATE: f64 = 0.036;
const GATE_OF_RINGS: f64 = 0.0085;
const SIDE_OF_GATES: f64 = 64.0;

/// `[start.gresho]`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Gresho {
    /// Particles along the edge of the square.
    pub side: u64,
    /// Thickness of the slab in distances of the particles.
    pub depth: u64,
    /// Pressure at the center, > 0.
    pub pressure: f64,
    /// The layout.
    pub arrangement: Arrangement,
    /// Seed of the random numbers.
    pub seed: u64,
}

/// Speed at a radius.
fn speed(radius: f64) -> f64 {
    match radius {
        r if r < 0.2 => 5.0 * r,
        r if r < 0.4 => 2.0 - 5.0 * r,
        _ => 0.0,
    }
}

/// Pressure at a radius, less that at the center.
fn excess(radius: f64) -> f64 {
    match radius {
        r if r < 0.2 => 12.5 * r * r,
        r if r < 0.4 => 4.0 + 12.5 * r * r - 20.0 * r + 4.0 * (r / 0.2).ln(),
        _ => 4.0 * 2f64.ln() - 2.0,
    }
}

/// Radius and unit vector of the rotation about the middle of the square.
fn polar(position: &Vec3d) -> (f64, Vec3d) {
    let (x, y) = (position.x - 0.5, position.y - 0.5);
    let radius = x.hypot(y);
    (radius, Vec3d::new(-y, x, 0.0) / radius.max(1e-300))
}

impl Gresho {
    fn slab(&self) -> Cuboid {
        let edges = [Edge::Fixed(1.0), Edge::Fixed(1.0), Edge::Distances(self.depth as f64)];
        Cuboid::fitted([0.0; 3], edges, 1.0 / self.side as f64, self.arrangement, self.seed)
    }
}

impl Case for Gresho {
    const SECTION: Section = section(
        "start.gresho",
        "Gresho-Chan vortex: a vortex in balance in a slab of the unit square, density 1.",
        &[
            side("64", "Particles along the edge of the square."),
            depth("16"),
            key(
                "pressure",
                number(POSITIVE),
                Default::Value("5.0"),
                "Pressure at the center; the largest Mach number is about sqrt(1 / (gamma pressure)).",
            ),
            ARRANGEMENT,
            NOISE,
            SEED,
        ],
    );
    const TITLE: &'static str = "Gresho-Chan vortex";
    const TEMPLATE: Template = Template {
        title: "Gresho-Chan vortex",
        sections: &["sph"],
        settings: &[
            ("run.end_time", "1.0"),
            ("start.gresho.side", "64"),
            ("space.boundary", "\"periodic\""),
            ("output.directory", "\"out/gresho\""),
            ("output.snapshots.every_time", "0.5"),
        ],
        omitted: &[],
    };

    fn read(section: &mut dyn CaseReader) -> Self {
        Self {
            side: section.integer("side"),
            depth: section.integer("depth"),
            pressure: section.number("pressure"),
            arrangement: section.arrangement(),
            seed: section.integer("seed"),
        }
    }

    fn check(&self, surroundings: &Surroundings, section: &mut dyn CaseReader) {
        section.require_ideal_gas(surroundings);
        section.require_boundary(surroundings, Boundary::Periodic);
    }

    fn corners(&self) -> Option<[[f64; 3]; 2]> {
        Some([[0.0; 3], self.slab().lengths])
    }

    fn count(&self) -> u64 {
        self.slab().count()
    }

    fn seed(&self) -> u64 {
        self.seed
    }

    fn tiles(&self) -> Vec<Tile> {
        self.slab().tile().into_iter().collect()
    }

    fn layout(&self, surroundings: &Surroundings, share: Range<u64>) -> Layout {
        let gamma = surroundings.gamma_or(GAMMA);
        let slab = self.slab();
        let mut layout = filled(&slab, &slab.quiet_filling(surroundings.noise), 1.0, 0.0, share);
        let energy = |position: &Vec3d| (self.pressure + excess(polar(position).0)) / (gamma - 1.0);
        let velocity = |position: &Vec3d| {
            let (radius, direction) = polar(position);
            direction * speed(radius)
        };
        layout.internal_energy = Values::PerParticle(layout.positions.iter().map(energy).collect());
        layout.velocities = Some(layout.positions.iter().map(velocity).collect());
        layout
    }

    fn judge(&self, subject: &Subject) -> Findings {
        let particles = subject.particles;
        let points: Vec<(f64, f64)> = particles
            .owned()
            .map(|row| {
                let (radius, direction) = polar(&particles.vector_at(Field::Position, row));
                (radius, particles.vector_at(Field::Velocity, row).dot(&direction))
            })
            .collect();
        let [each, rings] = norms(&points);
        // the density is 1
        let mass: f64 = particles.owned().map(|row| particles.scalar(Field::Mass)[row]).sum();
        let scale = SIDE_OF_GATES / (points.len() as f64 / mass).cbrt();
        let mut checks = vec![
            Check::gated("L1 velocity", each, GATE * scale, None)
                .noting(format!("mean of |v - exact|, r < {RADIUS}")),
            Check::gated("L1 velocity of rings", rings, GATE_OF_RINGS * scale.powf(1.4), None)
                .noting(format!("mean of |mean v - exact|, {RINGS} rings")),
        ];
        checks.push(match subject.energy_ratios() {
            Some([kinetic, _]) => {
                Check::gated("kinetic energy / initial − 1", Some((kinetic - 1.0).abs()), 0.02, None)
                    .noting(format!("{:+.2} %", 100.0 * (kinetic - 1.0)))
            }
            None => Check::skipped("kinetic energy / initial − 1", "no observables.csv beside the snapshot"),
        });
        checks.push(subject.drift_check(1e-3));
        let exact = (0..=500).map(|k| f64::from(k) / 1000.0).map(|radius| (radius, speed(radius))).collect();
        let panel = Panel { label: "velocity of rotation", particles: points, exact };
        let picture = draw(&title(Self::TITLE, subject), "radius r", (0.0, RADIUS), vec![panel]);
        Findings { checks, pictures: vec![("profiles", picture)] }
    }
}

/// Means of the absolute deviation of the particles, and of the means of rings of equal width.
fn norms(points: &[(f64, f64)]) -> [Option<f64>; 2] {
    let (mut sum, mut count) = (0.0, 0u32);
    let mut rings = [[0.0; 3]; RINGS];
    for &(radius, velocity) in points.iter().filter(|point| point.0 < RADIUS) {
        sum += (velocity - speed(radius)).abs();
        count += 1;
        let ring = &mut rings[((radius / RADIUS * RINGS as f64) as usize).min(RINGS - 1)];
        ring[0] += velocity;
        ring[1] += speed(radius);
        ring[2] += 1.0;
    }
    let filled: Vec<f64> = rings
        .iter()
        .filter(|ring| ring[2] > 0.0)
        .map(|[found, exact, count]| (found - exact).abs() / count)
        .collect();
    let mean = |sum: f64, count: f64| (count > 0.0).then_some(sum / count);
    [mean(sum, f64::from(count)), mean(filled.iter().sum(), filled.len() as f64)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases::tools::testing::{NOWHERE, exact, failed, measured, subject};

    #[test]
    fn rotation_and_pressure_are_in_balance() {
        // dP/dr = rho v^2 / r
        for radius in [0.05, 0.15, 0.25, 0.35, 0.45] {
            let slope = (excess(radius + 1e-5) - excess(radius - 1e-5)) / 2e-5;
            assert!((slope - speed(radius).powi(2) / radius).abs() < 1e-8, "{radius}");
        }
        for radius in [0.2, 0.4] {
            assert!((excess(radius + 1e-12) - excess(radius - 1e-12)).abs() < 1e-9);
            assert!((speed(radius + 1e-12) - speed(radius - 1e-12)).abs() < 1e-9);
        }
        assert!((5.0 + excess(0.5) - (3.0 + 4.0 * 2f64.ln())).abs() < 1e-12);
    }

    #[test]
    fn the_solution_passes_and_errors_are_found() {
        let case =
            Gresho { side: 32, depth: 8, pressure: 5.0, arrangement: Arrangement::SimpleCubic, seed: 1 };
        let layout = case.layout(&NOWHERE, 0..case.count());
        assert_eq!(layout.positions.len(), 32 * 32 * 8);
        let at = |factor: f64| {
            exact(&layout, GAMMA, |position| {
                let (radius, direction) = polar(position);
                (1.0, direction * (factor * speed(radius)), 5.0 + excess(radius))
            })
        };
        let particles = at(1.0);
        for (row, velocity) in layout.velocities.as_ref().unwrap().iter().enumerate() {
            assert!((particles.vector_at(Field::Velocity, row) - velocity).norm() < 1e-14);
            let energy = particles.scalar(Field::InternalEnergy)[row];
            assert!((layout.internal_energy.at(row) / energy - 1.0).abs() < 1e-12);
        }
        let findings = case.judge(&subject(&particles, 1.0, GAMMA));
        assert!(failed(&findings).is_empty());
        assert!(measured(&findings, "L1 velocity") < 1e-12);
        let findings = case.judge(&subject(&at(0.7), 1.0, GAMMA));
        assert_eq!(failed(&findings), ["L1 velocity", "L1 velocity of rings"], "{:?}", findings.checks);
    }
}
