//! A uniform sphere of point masses at rest, which collapses under its own gravity. Before particles meet, a
//! shell that starts at r0 falls as the whole sphere does, r = r0 cos^2(beta) with beta + sin(2 beta) / 2 =
//! (pi / 2) t / t_ff and t_ff = (pi / 2) sqrt(R^3 / (2 G M)). The bounce after it is the hardest test of a
//! time step without gas.

use std::f64::consts::PI;
use std::ops::Range;

use super::case::{ARRANGEMENT, Case, CaseReader, PARTICLES, POINTS, SEED, Surroundings, Template};
use super::tools::keys::{MASS, RADIUS};
use super::tools::pictures::{Panel, draw};
use super::tools::subject::title;
use super::{Check, Findings, Subject};
use crate::layout::ball::{Ball, RadialProfile};
use crate::layout::{Arrangement, Layout, Values};
use crate::particles::{Field, Particles};
use crate::sections::{Section, section};
use crate::space::Vec3d;
use serde::{Deserialize, Serialize};

/// Gate of the mean deviation of the Lagrangian radii over the radius (GANDALF, test_freefall.py: 9e-3), and
/// of the energy drift.
const RADII: f64 = 9e-3;
const ENERGY: f64 = 5e-3;
/// Latest time over the free-fall time at which the sphere is compared: later, noise has grown to clumps.
const LATEST: f64 = 0.9;
/// Fractions of the mass whose radii are compared.
const FRACTIONS: [f64; 9] = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9];

/// `[start.cold-collapse]`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ColdCollapse {
    /// Number of particles, >= 1.
    pub particles: u64,
    /// Arrangement of the particles.
    pub arrangement: Arrangement,
    /// Seed of the random numbers.
    pub seed: u64,
    /// Radius R, > 0.
    pub radius: f64,
    /// Total mass M, > 0.
    pub mass: f64,
}

impl Case for ColdCollapse {
    const SECTION: Section = section(
        "start.cold-collapse",
        "A uniform sphere of point masses at rest.",
        &[PARTICLES, ARRANGEMENT, SEED, RADIUS, MASS],
    );
    const TITLE: &'static str = "cold collapse";
    const TEMPLATE: Template = Template {
        title: "Cold collapse of point masses: fall and bounce",
        sections: &["gravity"],
        settings: &[
            ("run.end_time", "3.0"),
            ("start.cold-collapse.particles", "20_000"),
            ("gravity.softening", "0.1"),
            ("output.directory", "\"out/cold-collapse\""),
            ("output.snapshots.every_time", "0.25"),
        ],
        omitted: &[],
    };
    const NEEDS: &'static [Field] = POINTS;

    fn read(section: &mut dyn CaseReader) -> Self {
        Self {
            particles: section.integer("particles"),
            arrangement: section.arrangement(),
            seed: section.integer("seed"),
            radius: section.number("radius"),
            mass: section.number("mass"),
        }
    }

    fn check(&self, surroundings: &Surroundings, section: &mut dyn CaseReader) {
        section.require_gravity(surroundings);
        if surroundings.gas {
            section.report(&[], "the sphere is of point masses, not of gas".into(), "remove [sph]".into());
        }
    }

    fn count(&self) -> u64 {
        self.particles
    }

    fn seed(&self) -> u64 {
        self.seed
    }

    fn layout(&self, _: &Surroundings, share: Range<u64>) -> Layout {
        let ball = Ball::new(self.particles, self.arrangement, self.seed);
        let positions = ball.positions(&Uniform, share).into_iter().map(|x| x * self.radius).collect();
        let count = self.particles.max(1) as f64;
        let volume = 4.0 / 3.0 * PI * self.radius.powi(3) / count;
        Layout {
            positions,
            velocities: None,
            mass: Values::Uniform(self.mass / count),
            internal_energy: Values::Uniform(0.0),
            volume_of: Box::new(move |_, neighbors| neighbors * volume),
        }
    }

    fn judge(&self, subject: &Subject) -> Findings {
        let free_fall = 0.5 * PI * (self.radius.powi(3) / (2.0 * subject.gravity() * self.mass)).sqrt();
        let (factor, fraction) = (fallen(subject.time / free_fall), subject.time / free_fall);
        let radii = radii(subject.particles);
        let name = "Lagrangian radii / R";
        let mut checks = vec![if fraction > LATEST {
            Check::skipped(name, format!("no solution after {LATEST} free-fall times"))
        } else {
            let deviation = FRACTIONS.map(|part| {
                let row = (part * radii.len() as f64) as usize;
                let found = radii.get(row).copied().unwrap_or(f64::NAN);
                (found / self.radius - factor * part.cbrt()).abs()
            });
            let mean = deviation.iter().sum::<f64>() / deviation.len() as f64;
            Check::gated(name, Some(mean), RADII, None)
                .noting(format!("mean over 10 to 90 % of the mass, {fraction:.2} free-fall times"))
        }];
        checks.push(subject.drift_check(ENERGY));
        if let Some([kinetic, _, potential]) = subject.energies() {
            checks.push(Check::reported("2 K / |W| − 1", Some((-2.0 * kinetic / potential - 1.0).abs())));
        }
        checks.push(Check::reported(
            "center of mass / R",
            Some(center(subject.particles).norm() / self.radius),
        ));
        let outer = 1.2 * self.radius * if fraction > LATEST { 1.0 } else { factor };
        let count = radii.len().max(1) as f64;
        let particles = radii.iter().enumerate().map(|(row, &r)| (r, (row as f64 + 0.5) / count));
        let exact = (0..=200).map(|k| outer * f64::from(k) / 200.0);
        let inside = |r: f64| (r / (factor * self.radius)).powi(3).min(1.0);
        let exact = if fraction > LATEST { Vec::new() } else { exact.map(|r| (r, inside(r))).collect() };
        let panel = Panel { label: "mass inside", particles: particles.collect(), exact };
        let picture = draw(&title(Self::TITLE, subject), "radius r", (0.0, outer), vec![panel]);
        Findings { checks, pictures: vec![("profiles", picture)] }
    }
}

/// The uniform ball of radius 1.
struct Uniform;

impl RadialProfile for Uniform {
    fn radius(&self, mass_fraction: f64) -> f64 {
        mass_fraction.cbrt()
    }

    fn stretch(&self, _: f64) -> f64 {
        1.0
    }
}

/// Radius over the first radius at a time over the free-fall time, by bisection; 0 after the collapse.
fn fallen(time: f64) -> f64 {
    let (mut low, mut high) = (0.0, 0.5 * PI);
    for _ in 0..60 {
        let beta = 0.5 * (low + high);
        if beta + 0.5 * (2.0 * beta).sin() < 0.5 * PI * time { low = beta } else { high = beta }
    }
    (0.5 * (low + high)).cos().powi(2)
}

/// Center of particles of equal masses.
fn center(particles: &Particles) -> Vec3d {
    let count = particles.owned().len().max(1) as f64;
    particles.owned().map(|row| particles.vector_at(Field::Position, row)).sum::<Vec3d>() / count
}

/// Distances from the center of mass, ascending.
fn radii(particles: &Particles) -> Vec<f64> {
    let center = center(particles);
    let distance = |row| (particles.vector_at(Field::Position, row) - center).norm();
    let mut radii: Vec<f64> = particles.owned().map(distance).collect();
    radii.sort_by(f64::total_cmp);
    radii
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases::History;
    use crate::cases::tools::testing::{NOWHERE, exact, failed, measured, subject};

    #[test]
    fn the_fall_obeys_newton() {
        assert!((fallen(0.0) - 1.0).abs() < 1e-12 && fallen(1.0) < 1e-9);
        // r'' = -G M / r^2 with G = M = 1: time in units of t_ff = pi / sqrt(8)
        let unit = PI / 8f64.sqrt();
        for time in [0.2, 0.5, 0.8] {
            let (step, middle) = (1e-3, fallen(time));
            let second = (fallen(time + step) - 2.0 * middle + fallen(time - step)) / (step * unit).powi(2);
            assert!((second * middle * middle + 1.0).abs() < 1e-3, "{time}: {second}");
        }
    }

    #[test]
    fn the_solution_passes_and_a_late_sphere_fails() {
        let case = ColdCollapse {
            particles: 4000,
            arrangement: Arrangement::BodyCentered,
            seed: 1,
            radius: 2.0,
            mass: 3.0,
        };
        let layout = case.layout(&NOWHERE, 0..4000);
        assert!((layout.mass.at(0) * 4000.0 - 3.0).abs() < 1e-12);
        let free_fall = 0.5 * PI * (8.0f64 / 6.0).sqrt();
        let judged = |factor: f64, energy: f64| {
            let mut particles = exact(&layout, 5.0 / 3.0, |_| (1.0, Vec3d::zeros(), 1.0));
            for (row, &position) in layout.positions.iter().enumerate() {
                particles.set_vector(Field::Position, row, factor * position);
            }
            let history = History {
                time: vec![0.0, 0.7],
                kinetic: vec![0.0, 1.0 + energy],
                thermal: vec![0.0; 2],
                potential: vec![-2.7, -3.7],
            };
            let time = 0.6 * free_fall;
            case.judge(&Subject { history: Some(&history), ..subject(&particles, time, 5.0 / 3.0) })
        };
        let good = judged(fallen(0.6), 0.001);
        assert!(
            failed(&good).is_empty() && measured(&good, "Lagrangian radii / R") < 2e-3,
            "{:?}",
            good.checks
        );
        assert_eq!(failed(&judged(fallen(0.57), 0.05)), ["Lagrangian radii / R", "energy drift"]);
    }
}
