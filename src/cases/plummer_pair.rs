//! Two Plummer spheres in a periodic box, one of them across its edges. The solution is the gravity of the
//! snapshot's own positions, with all images and without the mean density, by Ewald's sums: accelerations and
//! potentials of a sample of the particles are compared at any time.

use std::ops::Range;

use super::case::{Case, CaseReader, PARTICLES, SEED, Softening, Surroundings, Template};
use super::plummer::{Plummer, Velocities};
use super::tools::keys::{MASS, RADIUS};
use super::tools::pictures::{Panel, draw};
use super::tools::subject::title;
use super::{Check, Findings, Subject};
use crate::far::SofteningKernel;
use crate::far::ewald_reference::{ewald, soften};
use crate::layout::{Layout, Values};
use crate::particles::{Field, Particles};
use crate::sections::{Default, Section, between, key, number, section};
use crate::space::{Boundary, Vec3d};
use serde::{Deserialize, Serialize};

/// Gate of the rms error of the accelerations over their rms, of all and of those far from both centers:
/// that of the tree's promise for the default opening angle (`tests/physics/periodic_gravity.rs`).
const ACCELERATION: f64 = 5e-4;
/// Gate of the error of the sample's potential energy over that energy: 1.4 times the largest of 1,000 to
/// 80,000 particles.
const POTENTIAL: f64 = 2e-5;
/// Gate of the momentum over the total mass and the speed sqrt(G M / a): rounding.
const MOMENTUM: f64 = 1e-12;
/// Gate of the energy drift: 2.3 times the largest of 1,000 to 5,000 particles, whose encounters are random.
const ENERGY: f64 = 5e-5;
/// Number of particles that are compared.
const SAMPLE: usize = 400;
/// Distance from both centers in Plummer radii beyond which a particle is outside.
const OUTSIDE: f64 = 5.0;
/// Edges of the box and centers of the spheres over the length of the box's shorter edges.
const EDGES: [f64; 3] = [1.25, 1.0, 1.0];
const CENTERS: [[f64; 3]; 2] = [[0.0125, 0.99, 0.0], [0.5625, 0.5, 0.375]];

/// `[start.plummer-pair]`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlummerPair {
    /// Number of particles of both spheres, >= 2.
    pub particles: u64,
    /// Plummer radius of the spheres, > 0.
    pub radius: f64,
    /// Mass of both spheres, > 0.
    pub mass: f64,
    /// Shorter edges of the box over the Plummer radius; the edge along x is 1.25 times as long.
    pub edge: f64,
    /// Seed of the random numbers.
    pub seed: u64,
}

impl PlummerPair {
    /// Edges of the box.
    fn lengths(&self) -> Vec3d {
        Vec3d::from(EDGES) * (self.edge * self.radius)
    }

    /// Centers of the spheres at the start.
    fn centers(&self) -> [Vec3d; 2] {
        CENTERS.map(|center| Vec3d::from(center) * (self.edge * self.radius))
    }

    /// The first id of each sphere, and the spheres.
    fn spheres(&self) -> [(u64, Plummer); 2] {
        let first = self.particles.div_ceil(2);
        [(0, first), (first, self.particles - first)].map(|(begin, particles)| {
            let sphere = Plummer {
                particles,
                radius: self.radius,
                mass: self.mass * particles as f64 / self.particles.max(1) as f64,
                velocities: Velocities::Equilibrium,
                internal_energy: 0.0,
                seed: self.seed.wrapping_add(u64::from(begin > 0)),
            };
            (begin, sphere)
        })
    }
}

impl Case for PlummerPair {
    const SECTION: Section = section(
        "start.plummer-pair",
        "Two Plummer spheres in a periodic box.",
        &[
            PARTICLES,
            RADIUS,
            MASS,
            key(
                "edge",
                number(between(5.0, 1e4)),
                Default::Value("40.0"),
                "Shorter edges of the box over the Plummer radius; the edge along x is 1.25 times as long.",
            )
            .also(&["box", "length"]),
            SEED,
        ],
    );
    const TITLE: &'static str = "Plummer spheres in a periodic box";
    const TEMPLATE: Template = Template {
        title: "Two Plummer spheres in a periodic box",
        sections: &["gravity"],
        settings: &[
            ("run.end_time", "2.0"),
            ("start.plummer-pair.particles", "20_000"),
            ("space.boundary", "\"periodic\""),
            ("gravity.softening", "0.05"),
            ("output.directory", "\"out/plummer-pair\""),
            ("output.snapshots.every_time", "1.0"),
        ],
        omitted: &[],
    };
    const NEEDS: &'static [Field] =
        &[Field::Position, Field::Velocity, Field::Mass, Field::Acceleration, Field::Potential];

    fn read(section: &mut dyn CaseReader) -> Self {
        Self {
            particles: section.integer("particles"),
            radius: section.number("radius"),
            mass: section.number("mass"),
            edge: section.number("edge"),
            seed: section.integer("seed"),
        }
    }

    fn check(&self, surroundings: &Surroundings, section: &mut dyn CaseReader) {
        section.require_gravity(surroundings);
        section.require_point_masses(surroundings);
        section.require_boundary(surroundings, Boundary::Periodic);
        if self.particles < 2 {
            section.report(&["particles"], "two spheres need two particles".into(), "ask for more".into());
        }
    }

    fn corners(&self) -> Option<[[f64; 3]; 2]> {
        Some([[0.0; 3], self.lengths().into()])
    }

    fn count(&self) -> u64 {
        self.particles
    }

    fn seed(&self) -> u64 {
        self.seed
    }

    fn layout(&self, surroundings: &Surroundings, share: Range<u64>) -> Layout {
        let lengths = self.lengths();
        let (mut positions, mut velocities) = (Vec::new(), Vec::new());
        for ((begin, sphere), center) in self.spheres().into_iter().zip(self.centers()) {
            let inside = |id: u64| id.clamp(begin, begin + sphere.particles) - begin;
            let part = sphere.layout(surroundings, inside(share.start)..inside(share.end));
            let place = |position: Vec3d| {
                let position = position + center;
                Vec3d::from_fn(|d, _| {
                    let inside = position[d].rem_euclid(lengths[d]);
                    // after rounding
                    if inside < lengths[d] { inside } else { 0.0 }
                })
            };
            positions.extend(part.positions.into_iter().map(place));
            velocities.extend(part.velocities.unwrap_or_default());
        }
        let volume = lengths.product() / self.particles.max(1) as f64;
        Layout {
            positions,
            velocities: Some(velocities),
            mass: Values::Uniform(self.mass / self.particles.max(1) as f64),
            internal_energy: Values::Uniform(0.0),
            volume_of: Box::new(move |_, neighbors| neighbors * volume),
        }
    }

    fn judge(&self, subject: &Subject) -> Findings {
        let constant = subject.gravity();
        let speed = (constant * self.mass / self.radius).sqrt();
        let Some(softening) = subject.surroundings.and_then(|surroundings| surroundings.softening) else {
            let why = "the snapshot has no deck with [gravity], hence no softening length";
            let checks = NAMES.map(|name| Check::skipped(name, why)).to_vec();
            return Findings { checks, pictures: Vec::new() };
        };
        let compared = self.compare(subject.particles, constant, softening);
        let outside: Vec<&Compared> =
            compared.iter().filter(|compared| compared.distance > OUTSIDE * self.radius).collect();
        let inner = compared.len() - outside.len();
        let energy = |of: &dyn Fn(&Compared) -> f64| compared.iter().map(of).sum::<f64>();
        let exact_energy = energy(&|compared| compared.exact_potential);
        let error_of_energy = energy(&|compared| compared.potential) / exact_energy - 1.0;
        let momentum = momentum(subject.particles).norm() / (self.mass * speed);
        let checks = vec![
            Check::gated(NAMES[0], rms_error(&compared.iter().collect::<Vec<_>>()), ACCELERATION, None)
                .noting(format!("rms over rms, {} particles, Ewald sums", compared.len())),
            Check::gated(NAMES[1], rms_error(&outside), ACCELERATION, None).noting(format!(
                "{} of them farther than {OUTSIDE} radii from both centers of the start, {inner} nearer",
                outside.len()
            )),
            Check::gated(NAMES[2], Some(error_of_energy.abs()), POTENTIAL, None)
                .noting(format!("{error_of_energy:+.2e}, mean over the sample")),
            Check::gated(NAMES[3], Some(momentum), MOMENTUM, None),
            subject.drift_check(ENERGY),
        ];
        Findings { checks, pictures: vec![("accelerations", self.picture(subject, compared))] }
    }
}

/// Names of the checks without the energy's.
const NAMES: [&str; 4] =
    ["acceleration", "acceleration outside", "potential energy − 1", "momentum / (M sqrt(G M / a))"];

/// A particle of the sample with its Ewald sums.
struct Compared {
    /// Distance from the nearer center of the start.
    distance: f64,
    acceleration: Vec3d,
    potential: f64,
    exact: Vec3d,
    exact_potential: f64,
}

impl PlummerPair {
    /// Computes the Ewald sums of about [`SAMPLE`] particles, evenly spaced in the order of their ids.
    /// Masses are softened within half of the shortest edge; what softening changes beyond is below (eps /
    /// edge)^2.
    fn compare(&self, particles: &Particles, constant: f64, softening: Softening) -> Vec<Compared> {
        let mut rows: Vec<usize> = particles.owned().collect();
        rows.sort_by_key(|&row| particles.id[row]);
        let masses = particles.scalar(Field::Mass);
        let place = |row: usize| particles.vector_at(Field::Position, row);
        let all: Vec<[f64; 4]> = rows
            .iter()
            .map(|&row| (place(row), masses[row]))
            .map(|(position, mass)| [position.x, position.y, position.z, mass])
            .collect();
        let stride = all.len().div_ceil(SAMPLE).max(1);
        let targets: Vec<usize> = (0..all.len()).step_by(stride).collect();
        let lengths: [f64; 3] = self.lengths().into();
        let mut fields = ewald(&all, &targets, lengths);
        if softening.length > 0.0 {
            let kernel = if softening.spline { SofteningKernel::Spline } else { SofteningKernel::Plummer };
            let range = 0.5 * self.lengths().min();
            soften(&mut fields, &all, &targets, lengths, (kernel, softening.length, range));
        }
        let compared = |(&target, field): (&usize, &[f64; 4])| {
            let row = rows[target];
            Compared {
                distance: self.distance(place(row)),
                acceleration: particles.vector_at(Field::Acceleration, row),
                potential: particles.scalar(Field::Potential)[row],
                exact: constant * Vec3d::new(field[0], field[1], field[2]),
                exact_potential: constant * field[3],
            }
        };
        targets.iter().zip(&fields).map(compared).collect()
    }

    /// Distance of a place from the nearer center of the start, over the nearest images.
    fn distance(&self, place: Vec3d) -> f64 {
        let lengths = self.lengths();
        let from = |center: Vec3d| {
            let apart = place - center;
            (apart - apart.component_div(&lengths).map(f64::round).component_mul(&lengths)).norm()
        };
        self.centers().map(from).into_iter().fold(f64::INFINITY, f64::min)
    }

    /// Accelerations over the distance from the nearer center, the Ewald sums as the line; and their errors.
    fn picture(&self, subject: &Subject, mut compared: Vec<Compared>) -> super::tools::pictures::Picture {
        compared.sort_by(|a, b| a.distance.total_cmp(&b.distance));
        let distance = |compared: &Compared| (compared.distance / self.radius).log10();
        let points = |of: &dyn Fn(&Compared) -> f64| {
            compared.iter().map(|compared| (distance(compared), of(compared))).collect::<Vec<_>>()
        };
        let error = |compared: &Compared| {
            let error = (compared.acceleration - compared.exact).norm() / compared.exact.norm();
            error.max(1e-9).log10()
        };
        let panels = vec![
            Panel {
                label: "log10 acceleration",
                particles: points(&|compared| compared.acceleration.norm().log10()),
                exact: points(&|compared| compared.exact.norm().log10()),
            },
            Panel { label: "log10 relative error", particles: points(&error), exact: Vec::new() },
        ];
        draw(&title(Self::TITLE, subject), "log10 distance / radius", (-1.5, self.edge.log10()), panels)
    }
}

/// Root mean square of the errors of accelerations over that of the exact ones; `None` without particles.
fn rms_error(compared: &[&Compared]) -> Option<f64> {
    let squares = |of: &dyn Fn(&Compared) -> Vec3d| -> f64 {
        compared.iter().map(|compared| of(compared).norm_squared()).sum()
    };
    let exact = squares(&|compared| compared.exact);
    (exact > 0.0).then(|| (squares(&|compared| compared.acceleration - compared.exact) / exact).sqrt())
}

/// The total momentum.
fn momentum(particles: &Particles) -> Vec3d {
    let masses = particles.scalar(Field::Mass);
    particles.owned().map(|row| masses[row] * particles.vector_at(Field::Velocity, row)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases::History;
    use crate::cases::tools::testing::{NOWHERE, failed, measured, subject};
    use std::f64::consts::PI;

    fn case() -> PlummerPair {
        PlummerPair { particles: 301, radius: 0.1, mass: 3.0, edge: 40.0, seed: 5 }
    }

    fn surroundings(spline: bool) -> Surroundings {
        let softening = Some(Softening { length: 0.002, spline });
        Surroundings { gravity: Some(0.7), softening, ..NOWHERE }
    }

    /// The start with accelerations and potentials, which `wrong` may change, by Ewald sums of another
    /// splitting: the box twice along z.
    fn start(spline: bool, wrong: impl Fn(usize, &mut [f64; 4])) -> Particles {
        let case = case();
        let layout = case.layout(&surroundings(spline), 0..case.particles);
        let lengths = case.lengths();
        let count = layout.positions.len();
        let mut all: Vec<[f64; 4]> =
            layout.positions.iter().map(|x| [x.x, x.y, x.z, layout.mass.at(0)]).collect();
        all.extend(all.clone().into_iter().map(|[x, y, z, mass]| [x, y, z + lengths.z, mass]));
        let targets: Vec<usize> = (0..count).collect();
        let doubled = [lengths.x, lengths.y, 2.0 * lengths.z];
        let mut fields = ewald(&all, &targets, doubled);
        let kernel = if spline { SofteningKernel::Spline } else { SofteningKernel::Plummer };
        soften(&mut fields, &all, &targets, doubled, (kernel, 0.002, 1.0));
        let mut particles = Particles::new(PlummerPair::NEEDS, count);
        for (row, mut field) in fields.into_iter().enumerate() {
            wrong(row, &mut field);
            let acceleration = 0.7 * Vec3d::new(field[0], field[1], field[2]);
            particles.set_vector(Field::Position, row, layout.positions[row]);
            particles.set_vector(Field::Velocity, row, layout.velocities.as_ref().unwrap()[row]);
            particles.set_vector(Field::Acceleration, row, acceleration);
            particles.scalar_mut(Field::Mass)[row] = layout.mass.at(row);
            particles.scalar_mut(Field::Potential)[row] = 0.7 * field[3];
        }
        particles
    }

    fn judged(particles: &Particles, surroundings: Surroundings, energy: f64) -> Findings {
        let history = History {
            time: vec![0.0, 1.0],
            kinetic: vec![1.0, energy],
            thermal: vec![0.0; 2],
            potential: vec![-2.0; 2],
        };
        case().judge(&Subject {
            history: Some(&history),
            surroundings: Some(surroundings),
            ..subject(particles, 1.0, 5.0 / 3.0)
        })
    }

    #[test]
    fn the_spheres_have_their_places_and_equilibrium() {
        let case = PlummerPair { particles: 20_000, ..case() };
        let layout = case.layout(&surroundings(false), 0..case.particles);
        assert_eq!(layout.positions.len(), 20_000);
        let lengths = case.lengths();
        for position in &layout.positions {
            assert!((0..3).all(|d| (0.0..lengths[d]).contains(&position[d])), "{position}");
        }
        // half of the mass is within 1.30 radii of a center
        for half in [0..10_000, 10_000..20_000] {
            let near =
                layout.positions[half].iter().filter(|&&x| case.distance(x) < 1.3048 * case.radius).count();
            assert!((near as f64 / 10_000.0 - 0.5).abs() < 0.02, "{near}");
        }
        let velocities = layout.velocities.unwrap();
        let kinetic: f64 = velocities.iter().map(|v| 0.5 * layout.mass.at(0) * v.norm_squared()).sum();
        // each has half of the mass: K = 3 pi G M^2 / (64 a)
        let exact = 2.0 * 3.0 * PI * 0.7 * 1.5f64.powi(2) / (64.0 * 0.1);
        assert!((kinetic / exact - 1.0).abs() < 0.03, "{kinetic} {exact}");
        // a share is a part of the whole
        let share = case.layout(&surroundings(false), 9_990..10_020);
        assert_eq!(share.positions, layout.positions[9_990..10_020]);
    }

    #[test]
    fn exact_gravity_passes_and_errors_are_found() {
        for spline in [false, true] {
            let findings = judged(&start(spline, |_, _| ()), surroundings(spline), 1.0);
            assert!(failed(&findings).is_empty(), "{:?}", findings.checks);
            assert!(measured(&findings, "acceleration") < 1e-8, "{:?}", findings.checks);
            assert!(measured(&findings, "acceleration outside") < 1e-6, "{:?}", findings.checks);
            assert!(measured(&findings, "potential energy − 1") < 1e-5, "{:?}", findings.checks);
        }
        // an error of 0.1 % in random directions, and 1 % of the potential
        let noisy = start(false, |row, field| {
            field[row % 3] += 1e-3 * (field[0].powi(2) + field[1].powi(2) + field[2].powi(2)).sqrt();
            field[3] *= 1.01;
        });
        let findings = judged(&noisy, surroundings(false), 1.01);
        let expected = ["acceleration", "acceleration outside", "potential energy − 1", "energy drift"];
        assert_eq!(failed(&findings), expected, "{:?}", findings.checks);
        assert!((measured(&findings, "acceleration") - 1e-3).abs() < 1e-5);
        // the softening of another deck
        let softer = Some(Softening { length: 0.02, spline: false });
        let other = Surroundings { softening: softer, ..surroundings(false) };
        assert!(failed(&judged(&start(false, |_, _| ()), other, 1.0)).contains(&"acceleration"));
    }

    #[test]
    fn a_pull_of_all_and_momentum_are_found() {
        // a tidal error far outside: 1 % of M / (20 a)^2
        let mut particles = start(false, |_, field| field[1] += 0.03 * 3.0 / 4.0);
        assert!(failed(&judged(&particles, surroundings(false), 1.0)).contains(&"acceleration outside"));
        particles = start(false, |_, _| ());
        for row in 0..particles.len() {
            let velocity = particles.vector_at(Field::Velocity, row);
            particles.set_vector(Field::Velocity, row, velocity + Vec3d::new(0.0, 1e-5, 0.0));
        }
        assert_eq!(failed(&judged(&particles, surroundings(false), 1.0)), [NAMES[3]]);
    }

    #[test]
    fn without_a_deck_there_is_no_softening() {
        let particles = start(false, |_, _| ());
        let findings = case().judge(&subject(&particles, 0.0, 5.0 / 3.0));
        assert!(findings.checks.iter().all(|check| check.outcome == crate::cases::Outcome::Skipped));
    }
}
