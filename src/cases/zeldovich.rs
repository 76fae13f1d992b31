//! Planar collapse of cold, collisionless particles in a periodic bar of length 1 without expansion
//! (Zeldovich 1970): exact until the first caustic.
//!
//! The plane of particles that starts at q is at x = q + psi(q, t). No plane passes another one before the
//! caustic, so that the mass on either side is conserved, and with the mean density rho = 1 removed psi'' =
//! 4 pi G rho psi. From rest, psi = A / k sin(k q) cosh(omega t), with k = 2 pi and omega^2 = 4 pi G rho.
//! The caustic is at A cosh(omega t) = 1, where the density is infinite at q = 1/2.

use std::f64::consts::PI;
use std::ops::Range;

use super::case::{Case, CaseReader, POINTS, Surroundings, Template};
use super::tools::keys::{depth, side};
use super::tools::pictures::{Panel, draw};
use super::tools::plane_wave::WAVE;
use super::tools::subject::title;
use super::{Check, Findings, Subject};
use crate::layout::cuboid::{Cuboid, Edge, filled};
use crate::layout::{Arrangement, Layout};
use crate::particles::{Field, Particles};
use crate::sections::{self, Kind, Section, between, key, number, section};
use crate::space::{Boundary, Vec3d};
use serde::{Deserialize, Serialize};

/// Latest time over that of the caustic at which states are compared.
const LATEST: f64 = 0.95;
/// Particles a wavelength for which the gates hold.
const SIDE_OF_GATES: f64 = 32.0;
/// Gates of the rms deviation of positions and velocities over the amplitudes of displacement and velocity,
/// and of the time of the caustic; they shrink with the square of the distance of the particles. 1.25 times
/// the largest figures of 16, 24, 32 and 64 particles a wavelength.
const POSITION: f64 = 0.0030;
const VELOCITY: f64 = 0.0045;
const CAUSTIC: f64 = 0.0020;
/// Gates of the rms transverse velocity over the amplitude of the velocity, first order in the distance
/// (1.7 times the figures: noise of the tree), and of the change of the energy over the wave's; both for
/// [`AMPLITUDE`].
const ACROSS: f64 = 1e-4;
const ENERGY: f64 = 1.6e-4;
const AMPLITUDE: &str = "0.1";

/// `[start.zeldovich]`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Zeldovich {
    /// Particles a wavelength.
    pub side: u64,
    /// Thickness of the bar in distances of the particles.
    pub depth: u64,
    /// Amplitude A: the largest |d psi / d q| at the start.
    pub amplitude: f64,
    /// The lattice.
    pub arrangement: Arrangement,
}

impl Zeldovich {
    fn bar(&self) -> Cuboid {
        let across = Edge::Distances(self.depth as f64);
        let edges = [Edge::Fixed(1.0), across, across];
        Cuboid::fitted([0.0; 3], edges, 1.0 / self.side as f64, self.arrangement, 0)
    }

    /// The rate omega, for the density 1.
    fn rate(constant: f64) -> f64 {
        (4.0 * PI * constant).sqrt()
    }

    /// Time of the caustic.
    fn caustic(&self, constant: f64) -> f64 {
        (1.0 / self.amplitude).acosh() / Self::rate(constant)
    }

    /// Amplitude of the displacement at the start.
    fn displacement(&self) -> f64 {
        self.amplitude / WAVE
    }

    /// Place before the displacement, displacement and velocity of every particle.
    fn rows(&self, particles: &Particles) -> Vec<Row> {
        let filling = self.bar().filling();
        let lengths = Vec3d::from(self.bar().lengths);
        let row = |row: usize| {
            let start = filling.position(particles.id[row]);
            let moved = particles.vector_at(Field::Position, row) - start;
            let images = moved.component_div(&lengths).map(f64::round);
            Row {
                start: start.x,
                moved: moved - images.component_mul(&lengths),
                velocity: particles.vector_at(Field::Velocity, row),
            }
        };
        particles.owned().map(row).collect()
    }
}

/// A particle of the bar.
struct Row {
    /// x without displacement.
    start: f64,
    moved: Vec3d,
    velocity: Vec3d,
}

impl Case for Zeldovich {
    const SECTION: Section = section(
        "start.zeldovich",
        "Cold particles of mean density 1 in a bar of length 1, displaced by a plane wave of that length: \
         they collapse to a sheet.",
        &[
            side("32", "Particles a wavelength."),
            depth("8"),
            key(
                "amplitude",
                number(between(1e-3, 0.9)),
                sections::Default::Value(AMPLITUDE),
                "Relative compression at the start; the caustic is where it has grown to 1.",
            ),
            key(
                "arrangement",
                Kind::Choice(&["bcc", "fcc"]),
                sections::Default::Value("\"fcc\""),
                "Lattice of the particles without the wave.",
            ),
        ],
    );
    const TITLE: &'static str = "Zeldovich collapse";
    const TEMPLATE: Template = Template {
        title: "Planar collapse of cold particles to 0.9 of the time of the caustic",
        sections: &["gravity"],
        settings: &[
            ("run.end_time", "0.76"),
            ("start.zeldovich.side", "32"),
            ("space.boundary", "\"periodic\""),
            ("gravity.softening", "0.002"),
            ("output.directory", "\"out/zeldovich\""),
            ("output.snapshots.every_time", "0.19"),
        ],
        omitted: &[],
    };
    const NEEDS: &'static [Field] = POINTS;

    fn read(section: &mut dyn CaseReader) -> Self {
        Self {
            side: section.integer("side"),
            depth: section.integer("depth"),
            amplitude: section.number("amplitude"),
            arrangement: section.arrangement(),
        }
    }

    fn check(&self, surroundings: &Surroundings, section: &mut dyn CaseReader) {
        section.require_gravity(surroundings);
        section.require_point_masses(surroundings);
        section.require_boundary(surroundings, Boundary::Periodic);
    }

    fn corners(&self) -> Option<[[f64; 3]; 2]> {
        Some([[0.0; 3], self.bar().lengths])
    }

    fn count(&self) -> u64 {
        self.bar().count()
    }

    fn seed(&self) -> u64 {
        0
    }

    fn layout(&self, _: &Surroundings, share: Range<u64>) -> Layout {
        let bar = self.bar();
        let mut layout = filled(&bar, &bar.filling(), 1.0, 0.0, share);
        for position in &mut layout.positions {
            position.x += self.displacement() * (WAVE * position.x).sin();
        }
        layout
    }

    fn judge(&self, subject: &Subject) -> Findings {
        let constant = subject.gravity();
        let (rate, caustic) = (Self::rate(constant), self.caustic(constant));
        let fraction = subject.time / caustic;
        let names = [
            "rms position / amplitude",
            "rms velocity / amplitude",
            "rms transverse velocity / amplitude",
            "time of the caustic − 1",
            "change of energy / the wave's",
        ];
        if fraction > LATEST {
            let why = format!("no solution after {LATEST} of the time of the caustic, {caustic:.4}");
            let checks = names.map(|name| Check::skipped(name, why.clone())).to_vec();
            return Findings { checks, pictures: Vec::new() };
        }
        let rows = self.rows(subject.particles);
        let phase = rate * subject.time;
        let moved = self.displacement() * phase.cosh();
        let speed = rate * self.displacement() * phase.sinh();
        // that of the start is 0
        let unit = rate * moved;
        let rms = |of: &dyn Fn(&Row) -> f64| {
            let sum: f64 = rows.iter().map(|row| of(row).powi(2)).sum();
            (!rows.is_empty()).then(|| (sum / rows.len() as f64).sqrt())
        };
        let sine = |row: &Row| (WAVE * row.start).sin();
        let position = rms(&|row| row.moved.x - moved * sine(row));
        let velocity = rms(&|row| row.velocity.x - speed * sine(row));
        let across = rms(&|row| row.velocity.yz().norm());
        let over = |figure: Option<f64>, unit: f64| figure.map(|figure| figure / unit);
        let note = format!("{fraction:.3} of the time of the caustic");
        let coarseness = SIDE_OF_GATES / self.side as f64;
        let noise = (AMPLITUDE.parse().unwrap_or(0.0) / self.amplitude).max(1.0);
        let mass: f64 = self.bar().lengths.iter().product();
        let checks = vec![
            Check::gated(names[0], over(position, moved), POSITION * coarseness.powi(2), None).noting(note),
            Check::gated(names[1], over(velocity, unit), VELOCITY * coarseness.powi(2), None)
                .noting("the amplitude is omega times that of the displacement"),
            Check::gated(names[2], over(across, unit), ACROSS * noise * coarseness, None),
            self.caustic_check(names[3], &rows, subject.time, constant),
            energy_check(names[4], subject, 0.25 * mass * unit * unit, ENERGY * noise),
        ];
        let curve = |scale: f64| {
            let point = move |k: u32| {
                let start = f64::from(k) / 400.0;
                let wave = (WAVE * start).sin();
                (start + moved * wave, scale * wave)
            };
            (0..=400).map(point).collect::<Vec<_>>()
        };
        let found =
            |of: &dyn Fn(&Row) -> f64| rows.iter().map(|row| (row.start + row.moved.x, of(row))).collect();
        let panels = vec![
            Panel { label: "velocity", particles: found(&|row| row.velocity.x), exact: curve(speed) },
            Panel { label: "displacement", particles: found(&|row| row.moved.x), exact: curve(moved) },
        ];
        let picture = draw(&title(Self::TITLE, subject), "x", (0.0, 1.0), panels);
        Findings { checks, pictures: vec![("profiles", picture)] }
    }
}

impl Zeldovich {
    /// Compares the time of the caustic with that which the amplitude of displacement and velocity, fitted
    /// to all particles, leads to: the growing mode psi + psi' / omega is A / k exp(omega t).
    fn caustic_check(&self, name: &'static str, rows: &[Row], time: f64, constant: f64) -> Check {
        let rate = Self::rate(constant);
        let (mut sum, mut squares) = (0.0, 0.0);
        for row in rows {
            let sine = (WAVE * row.start).sin();
            sum += sine * (row.moved.x + row.velocity.x / rate);
            squares += sine * sine;
        }
        if time <= 0.0 {
            return Check::skipped(name, "known after the start");
        }
        let coarseness = (SIDE_OF_GATES / self.side as f64).powi(2);
        let fitted = (sum / squares / self.displacement()).ln() / time;
        let error = rate / fitted - 1.0;
        Check::gated(name, Some(error.abs()), CAUSTIC * coarseness, None).noting(format!(
            "{error:+.2e}, exact {:.4}; by the growth of the fitted amplitude",
            self.caustic(constant)
        ))
    }
}

/// The change of the total energy over that of a wave, `unit`. The total energy itself is mainly the
/// lattice's.
fn energy_check(name: &'static str, subject: &Subject, unit: f64, gate: f64) -> Check {
    let (Some([kinetic, _, potential]), Some(history)) = (subject.energies(), subject.history) else {
        return Check::skipped(name, "no observables.csv beside the snapshot");
    };
    let change = (kinetic + potential - history.total()[0]) / unit;
    Check::gated(name, Some(change.abs()), gate, None).noting(format!("{change:+.2e}, M (omega psi)^2 / 4"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases::History;
    use crate::cases::tools::testing::{NOWHERE, exact, failed, measured, subject};

    fn case() -> Zeldovich {
        Zeldovich { side: 16, depth: 6, amplitude: 0.2, arrangement: Arrangement::BodyCentered }
    }

    const CONSTANT: f64 = 0.5;

    /// Particles of the solution at a time, with factors of displacements and velocities.
    fn solution(time: f64, factors: [f64; 2]) -> Particles {
        let case = case();
        let layout = case.layout(&NOWHERE, 0..case.count());
        let phase = Zeldovich::rate(CONSTANT) * time;
        let mut particles = exact(&layout, 5.0 / 3.0, |_| (1.0, Vec3d::zeros(), 1.0));
        let (filling, lengths) = (case.bar().filling(), case.bar().lengths);
        for row in 0..particles.len() {
            let mut position = filling.position(row as u64);
            let wave = case.displacement() * (WAVE * position.x).sin();
            position.x += factors[0] * wave * phase.cosh();
            let wrapped = Vec3d::from_fn(|d, _| position[d].rem_euclid(lengths[d]));
            particles.set_vector(Field::Position, row, wrapped);
            let speed = factors[1] * Zeldovich::rate(CONSTANT) * wave * phase.sinh();
            particles.set_vector(Field::Velocity, row, Vec3d::new(speed, 0.0, 0.0));
        }
        particles
    }

    fn judged(particles: &Particles, time: f64, change: f64) -> Findings {
        let history = History {
            time: vec![0.0, time],
            kinetic: vec![0.0, 0.1],
            thermal: vec![0.0; 2],
            potential: vec![-5.0, -5.1 + 0.1 * change],
        };
        let surroundings = Surroundings { gravity: Some(CONSTANT), ..NOWHERE };
        case().judge(&Subject {
            history: Some(&history),
            surroundings: Some(surroundings),
            ..subject(particles, time, 5.0 / 3.0)
        })
    }

    #[test]
    fn the_start_has_its_mass_and_the_caustic_its_time() {
        let case = case();
        let layout = case.layout(&NOWHERE, 0..case.count());
        let volume: f64 = case.bar().lengths.iter().product();
        assert!((layout.mass.at(0) * case.count() as f64 / volume - 1.0).abs() < 1e-12);
        assert!(layout.velocities.is_none());
        // at the caustic two planes meet at the middle
        let grown = case.displacement() * (Zeldovich::rate(CONSTANT) * case.caustic(CONSTANT)).cosh();
        let place = |start: f64| start + grown * (WAVE * start).sin();
        assert!((place(0.5 + 1e-4) - place(0.5 - 1e-4)).abs() < 1e-9);
        assert!(place(0.51) > place(0.5));
        // psi'' = 4 pi G rho psi
        let caustic = 5f64.acosh() / (2.0 * PI).sqrt();
        assert!((case.caustic(CONSTANT) / caustic - 1.0).abs() < 1e-12);
    }

    #[test]
    fn the_solution_passes_and_errors_are_found() {
        let time = 0.9 * case().caustic(CONSTANT);
        let findings = judged(&solution(time, [1.0; 2]), time, 0.0);
        assert!(failed(&findings).is_empty(), "{:?}", findings.checks);
        for check in &findings.checks {
            assert!(check.measured.unwrap() < 1e-10, "{check:?}");
        }
        // 5 % less of both, as of weaker gravity
        let findings = judged(&solution(time, [0.95; 2]), time, 0.0);
        assert!((measured(&findings, "rms position / amplitude") - 0.05 * 0.5f64.sqrt()).abs() < 1e-10);
        assert_eq!(
            failed(&findings),
            ["rms position / amplitude", "rms velocity / amplitude", "time of the caustic − 1"]
        );
        assert_eq!(
            failed(&judged(&solution(time, [1.0, 0.9]), time, 0.0)).first(),
            Some(&"rms velocity / amplitude")
        );
        let mut moving = solution(time, [1.0; 2]);
        for row in 0..moving.len() {
            let velocity = moving.vector_at(Field::Velocity, row);
            moving.set_vector(Field::Velocity, row, velocity + Vec3d::new(0.0, 0.0, 0.05));
        }
        assert_eq!(
            failed(&judged(&moving, time, 0.5)),
            ["rms transverse velocity / amplitude", "change of energy / the wave's"]
        );
    }

    #[test]
    fn there_is_no_solution_after_the_caustic() {
        let time = case().caustic(CONSTANT);
        let findings = judged(&solution(time, [1.0; 2]), time, 0.0);
        assert!(findings.checks.iter().all(|check| check.outcome == crate::cases::Outcome::Skipped));
    }
}
