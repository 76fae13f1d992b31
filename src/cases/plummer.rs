//! The Plummer sphere (Plummer 1911), sampled as in Aarseth, Henon & Wielen (1974, A&A 37, 183), with the
//! center of mass at rest at the origin.

use std::f64::consts::PI;
use std::ops::Range;

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use super::case::{Case, CaseReader, PARTICLES, POINTS, SEED, Surroundings, Template};
use super::tools::keys::{MASS, RADIUS};
use super::tools::pictures::{Panel, draw};
use super::tools::subject::title;
use super::{Check, Findings, Subject};
use crate::layout::{Layout, Values, particle_rng, random_direction};
use crate::particles::{Field, Particles};
use crate::sections::{Default, Kind, NOT_NEGATIVE, Section, key, number, section};
use crate::space::Vec3d;
use serde::{Deserialize, Serialize};

/// Mass fraction that is sampled. The sphere is infinite; the outermost thousandth of its mass, beyond 38.7
/// Plummer radii, is cut off. The particles carry the total mass.
const MASS_FRACTION: f64 = 0.999;

choice! {
    /// The velocities of a Plummer sphere.
    Velocities {
        /// Drawn from the isotropic equilibrium distribution (Aarseth, Henon & Wielen 1974).
        Equilibrium = "equilibrium",
        /// All zero.
        Rest = "rest",
    }
}

/// `[start.plummer]`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plummer {
    /// Number of particles, >= 1.
    pub particles: u64,
    /// Plummer radius, > 0.
    pub radius: f64,
    /// Total mass, > 0.
    pub mass: f64,
    /// The velocities.
    pub velocities: Velocities,
    /// Specific internal energy, >= 0 (only used with `[sph]`).
    pub internal_energy: f64,
    /// Seed of the random numbers.
    pub seed: u64,
}

impl Case for Plummer {
    const SECTION: Section = section(
        "start.plummer",
        "A Plummer sphere.",
        &[
            PARTICLES,
            RADIUS,
            MASS,
            key(
                "velocities",
                Kind::Choice(Velocities::NAMES),
                Default::Value("\"equilibrium\""),
                "Initial velocities: drawn from the isotropic equilibrium distribution, or zero.",
            ),
            key(
                "internal_energy",
                number(NOT_NEGATIVE),
                Default::Value("0.05"),
                "Specific internal energy (only used with [sph]).",
            )
            .also(&["u"]),
            SEED,
        ],
    );
    const TITLE: &'static str = "Plummer sphere";
    const TEMPLATE: Template = Template {
        title: "Plummer sphere in equilibrium",
        sections: &["gravity"],
        settings: &[
            ("run.end_time", "1.0"),
            ("start.plummer.particles", "50_000"),
            ("gravity.softening", "0.01"),
            ("output.directory", "\"out/plummer\""),
            ("output.snapshots.every_time", "0.25"),
        ],
        omitted: &[],
    };
    const NEEDS: &'static [Field] = POINTS;

    fn read(section: &mut dyn CaseReader) -> Self {
        Self {
            particles: section.integer("particles"),
            radius: section.number("radius"),
            mass: section.number("mass"),
            velocities: Velocities::named(section.choice("velocities")).unwrap_or(Velocities::Rest),
            internal_energy: section.number("internal_energy"),
            seed: section.integer("seed"),
        }
    }

    fn check(&self, surroundings: &Surroundings, section: &mut dyn CaseReader) {
        if self.velocities == Velocities::Equilibrium && surroundings.gravity.is_none() {
            section.report(
                &["velocities"],
                "a Plummer sphere in equilibrium needs gravity".into(),
                "add [gravity], or write velocities = \"rest\"".into(),
            );
        }
    }

    fn count(&self) -> u64 {
        self.particles
    }

    fn seed(&self) -> u64 {
        self.seed
    }

    fn layout(&self, surroundings: &Surroundings, share: Range<u64>) -> Layout {
        let constant = surroundings.gravity.unwrap_or(1.0);
        let count = self.particles.max(1) as f64;
        let moving = self.velocities == Velocities::Equilibrium;
        let sample = |id| {
            let mut random = particle_rng(self.seed, id);
            let position = position(&mut random);
            let velocity = if moving { velocity(&mut random, &position) } else { Vec3d::zeros() };
            (position, velocity)
        };
        let (mut center, mut drift) = (Vec3d::zeros(), Vec3d::zeros());
        for (position, velocity) in (0..self.particles).map(sample) {
            center += position;
            drift += velocity;
        }
        let speed = (constant * self.mass / self.radius).sqrt();
        let (positions, velocities) = share
            .map(sample)
            .map(|(x, v)| ((x - center / count) * self.radius, (v - drift / count) * speed))
            .unzip();
        let radius = self.radius;
        Layout {
            positions,
            velocities: moving.then_some(velocities),
            mass: Values::Uniform(self.mass / count),
            internal_energy: Values::Uniform(self.internal_energy),
            volume_of: Box::new(move |position, neighbors| {
                let ball = ball_radius(MASS_FRACTION * neighbors / count, position.norm() / radius);
                4.0 / 3.0 * PI * (ball * radius).powi(3)
            }),
        }
    }

    fn judge(&self, subject: &Subject) -> Findings {
        let radii = radii(subject.particles);
        let name = "largest deviation of a radius";
        let mut checks = Vec::new();
        if self.velocities == Velocities::Rest && subject.time > 0.0 {
            checks.push(Check::skipped(name, "a sphere at rest collapses"));
        } else {
            let gate = NOISE / (radii.len().max(1) as f64).sqrt();
            let deviation = |&fraction: &f64| {
                let row = (fraction / MASS_FRACTION * radii.len() as f64) as usize;
                radii.get(row).map(|radius| (radius / (self.radius * radius_of(fraction)) - 1.0).abs())
            };
            let most = FRACTIONS.iter().filter_map(deviation).reduce(f64::max);
            checks.push(Check::gated(name, most, gate, None).noting("of 10, 25, 50, 75 % of the mass"));
        }
        let virial = "2 K / |W| − 1";
        checks.push(match subject.energies() {
            Some([kinetic, _, potential]) if self.velocities == Velocities::Equilibrium => {
                let ratio = -2.0 * kinetic / potential;
                Check::gated(virial, Some((ratio - 1.0).abs()), 0.05, None).noting(format!("{ratio:.4}"))
            }
            Some(_) => Check::skipped(virial, "a sphere at rest collapses"),
            None => Check::skipped(virial, "no observables.csv beside the snapshot"),
        });
        // the collapse from rest is the hardest case of the time step
        checks.push(subject.drift_check(if self.velocities == Velocities::Rest { 5e-3 } else { 1e-3 }));
        let outer = 5.0 * self.radius;
        let count = radii.len().max(1) as f64;
        let particles =
            radii.iter().enumerate().map(|(row, &r)| (r, (row as f64 + 0.5) / count * MASS_FRACTION));
        let exact = (0..=200).map(|k| outer * f64::from(k) / 200.0).map(|r| (r, mass_of(r / self.radius)));
        let panel = Panel { label: "mass inside", particles: particles.collect(), exact: exact.collect() };
        let picture = draw(&title(Self::TITLE, subject), "radius r", (0.0, outer), vec![panel]);
        Findings { checks, pictures: vec![("profiles", picture)] }
    }
}

/// Fractions of the mass whose radii are compared.
const FRACTIONS: [f64; 4] = [0.1, 0.25, 0.5, 0.75];
/// Gate of the radii times the square root of the number of particles: five standard deviations of a sample
/// (1.3 for 10 % of the mass, 1.1 for 75 %).
const NOISE: f64 = 6.5;

/// Radius that holds a fraction of the mass, in Plummer radii.
fn radius_of(fraction: f64) -> f64 {
    1.0 / (fraction.powf(-2.0 / 3.0) - 1.0).sqrt()
}

/// Fraction of the mass inside a radius in Plummer radii.
fn mass_of(radius: f64) -> f64 {
    (radius / (radius * radius + 1.0).sqrt()).powi(3)
}

/// Distances from the center of mass, ascending.
fn radii(particles: &Particles) -> Vec<f64> {
    let count = particles.owned().len().max(1) as f64;
    let position = |row| particles.vector_at(Field::Position, row);
    let center = particles.owned().map(position).sum::<Vec3d>() / count;
    let mut radii: Vec<f64> = particles.owned().map(|row| (position(row) - center).norm()).collect();
    radii.sort_by(f64::total_cmp);
    radii
}

/// Samples a position in the sphere of Plummer radius one.
fn position(random: &mut ChaCha8Rng) -> Vec3d {
    let mass = (1.0 - random.random::<f64>()) * MASS_FRACTION;
    random_direction(random) / (mass.powf(-2.0 / 3.0) - 1.0).sqrt()
}

/// Samples a velocity at a position, for G = M = 1: the escape speed sqrt(2) (1 + r^2)^(-1/4) times q, with
/// density proportional to q^2 (1 - q^2)^(7/2).
fn velocity(random: &mut ChaCha8Rng, position: &Vec3d) -> Vec3d {
    let escape = 2f64.sqrt() * (1.0 + position.norm_squared()).powf(-0.25);
    loop {
        let q: f64 = random.random();
        // Rejection sampling; the maximum of the density is 0.092.
        if 0.1 * random.random::<f64>() < q * q * (1.0 - q * q).powf(3.5) {
            return random_direction(random) * (q * escape);
        }
    }
}

/// Radius of the ball at `distance` from the center that holds the mass fraction `mass`, at most the ball
/// that reaches two Plummer radii beyond the center. Lengths in Plummer radii.
fn ball_radius(mass: f64, distance: f64) -> f64 {
    /// Bisections: accurate to a millionth of the largest radius.
    const HALVINGS: usize = 20;
    let (mut least, mut most) = (0.0, distance + 2.0);
    if mass_in_ball(distance, most) <= mass {
        return most;
    }
    for _ in 0..HALVINGS {
        let middle = 0.5 * (least + most);
        if mass_in_ball(distance, middle) < mass { least = middle } else { most = middle }
    }
    0.5 * (least + most)
}

/// Mass fraction of a Plummer sphere in a ball at `distance` from its center; lengths in Plummer radii.
///
/// A ball of radius R at distance d contains the fraction `(R^2 - (d - r)^2) / (4 d r)` of a shell of radius
/// r that it cuts. With the density `3 / (4 pi) (1 + r^2)^(-5/2)`, the mass from cut shells is `3 / (4 d)`
/// times the integral of `r (R^2 - (d - r)^2) (1 + r^2)^(-5/2)` over r from |d - R| to d + R.
fn mass_in_ball(distance: f64, radius: f64) -> f64 {
    // The differences cancel near the center.
    let d = distance.max(1e-4);
    let integral = |r: f64| {
        let root = (1.0 + r * r).sqrt();
        let cube = root.powi(3);
        let [first, second] = [-1.0 / (3.0 * cube), r.powi(3) / (3.0 * cube)];
        let third = 1.0 / (3.0 * cube) - 1.0 / root;
        (radius * radius - d * d) * first + 2.0 * d * second - third
    };
    let inside = (radius - d).max(0.0);
    let whole = (inside / (1.0 + inside * inside).sqrt()).powi(3);
    whole + 0.75 / d * (integral(d + radius) - integral((d - radius).abs()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases::History;
    use crate::cases::tools::testing::{NOWHERE, exact, failed, measured, subject};

    #[test]
    fn balls_hold_what_they_should() {
        // A ball about the center, and small balls elsewhere.
        for radius in [0.01f64, 0.7, 3.0, 30.0] {
            let exact = (radius / (1.0 + radius * radius).sqrt()).powi(3);
            assert!((mass_in_ball(0.0, radius) - exact).abs() < 1e-6, "{radius}");
        }
        for distance in [0.3f64, 1.0, 5.0] {
            let exact = 1e-6 * (1.0 + distance * distance).powf(-2.5);
            assert!((mass_in_ball(distance, 0.01) / exact - 1.0).abs() < 1e-3, "{distance}");
        }
        let start = Plummer {
            particles: 20_000,
            radius: 2.0,
            mass: 3.0,
            velocities: Velocities::Rest,
            internal_energy: 0.0,
            seed: 1,
        };
        let layout = start.layout(&NOWHERE, 0..start.particles);
        // Far outside, the nearest neighbors lie inwards, around the center.
        for (least, most) in [(0.0, 1.0), (1.0, 5.0), (5.0, 15.0), (15.0, 80.0)] {
            let within = |position: &&Vec3d| (least..most).contains(&position.norm());
            let (mut found, mut count) = (0, 0);
            for position in layout.positions.iter().filter(within).step_by(20).take(100) {
                let radius = (0.75 / PI * (layout.volume_of)(position, 100.0)).cbrt();
                found += layout.positions.iter().filter(|other| (*other - position).norm() < radius).count();
                count += 1;
            }
            // The count includes the particle itself, and has noise.
            let mean = f64::from(found as u32) / f64::from(count);
            assert!(count > 5 && (mean - 101.0).abs() < 12.0, "{least} to {most}: {mean} of {count}");
        }
        let beyond = (layout.volume_of)(&Vec3d::new(6.0, 0.0, 0.0), 1e9);
        assert!((beyond - 4.0 / 3.0 * PI * 10f64.powi(3)).abs() < 1e-9);
    }

    #[test]
    fn has_the_profile_and_is_in_equilibrium() {
        let count = 40_000;
        let start = Plummer {
            particles: count,
            radius: 2.0,
            mass: 3.0,
            velocities: Velocities::Equilibrium,
            internal_energy: 0.0,
            seed: 5,
        };
        let constant = 1.7;
        let layout = start.layout(&Surroundings { gravity: Some(constant), ..NOWHERE }, 0..count);
        for radius in [0.5f64, 1.0, 2.0, 4.0, 8.0] {
            let inside = layout.positions.iter().filter(|p| p.norm() < radius).count() as f64 / count as f64;
            let exact = (radius / (radius * radius + 4.0).sqrt()).powi(3) / MASS_FRACTION;
            assert!((inside - exact).abs() < 0.01, "M(<{radius}) = {inside}, exact {exact}");
        }
        let velocities = layout.velocities.unwrap();
        // Virial theorem: 2 T = -W = 3 pi G M^2 / (32 a).
        let kinetic: f64 = velocities.iter().map(|v| 0.5 * layout.mass.at(0) * v.norm_squared()).sum();
        let exact = 3.0 * PI * constant * 9.0 / (64.0 * 2.0);
        assert!((kinetic / exact - 1.0).abs() < 0.02, "kinetic energy {kinetic}, exact {exact}");
        assert!(velocities.iter().sum::<Vec3d>().norm() < 1e-9);
        assert!(layout.positions.iter().sum::<Vec3d>().norm() < 1e-8);
    }

    #[test]
    fn the_start_passes_and_errors_are_found() {
        let case = Plummer {
            particles: 4000,
            radius: 2.0,
            mass: 3.0,
            velocities: Velocities::Equilibrium,
            internal_energy: 0.0,
            seed: 5,
        };
        let layout = case.layout(&NOWHERE, 0..case.particles);
        let mut particles = exact(&layout, 5.0 / 3.0, |_| (1.0, Vec3d::zeros(), 1.0));
        // W = -3 pi G M^2 / (32 a), 2 K = -W
        let potential = -3.0 * PI * 9.0 / 64.0;
        let history = |kinetic: f64| History {
            time: vec![0.0, 1.0],
            kinetic: vec![-0.5 * potential, kinetic],
            thermal: vec![0.0; 2],
            potential: vec![potential; 2],
        };
        let still = history(-0.5 * potential);
        let judged = |particles: &Particles, history: &History| {
            case.judge(&Subject { history: Some(history), ..subject(particles, 1.0, 5.0 / 3.0) })
        };
        let findings = judged(&particles, &still);
        assert!(failed(&findings).is_empty(), "{:?}", findings.checks);
        assert!(measured(&findings, "2 K / |W| − 1") < 1e-12);
        let hot = history(-0.55 * potential);
        assert_eq!(failed(&judged(&particles, &hot)), ["2 K / |W| − 1", "energy drift"]);
        for row in 0..particles.len() {
            let position = particles.vector_at(Field::Position, row);
            particles.set_vector(Field::Position, row, position * 1.2);
        }
        assert_eq!(failed(&judged(&particles, &still)), ["largest deviation of a radius"]);
    }
}
