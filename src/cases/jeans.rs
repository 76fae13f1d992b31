//! A plane standing wave in a self-gravitating gas in a periodic bar of length 1 (Jeans 1902): a long wave
//! grows, a short one oscillates.
//!
//! The gas is at rest at the start, with the density rho (1 + A sin(k x)), k = 2 pi. The linear solution is
//! density rho (1 + A C(t) sin(k x)) and velocity A C'(t) / k cos(k x), where C'' = (4 pi G rho - c^2 k^2)
//! C and C(0) = 1: C is a cosine for waves shorter than the Jeans length c sqrt(pi / (G rho)), a hyperbolic
//! cosine for longer ones. The error of the solution is of order A^2.

use std::f64::consts::PI;
use std::ops::Range;

use super::case::{Case, CaseReader, NOISE, SEED, Surroundings, Template};
use super::tools::keys::{depth, side};
use super::tools::pictures::{Panel, draw};
use super::tools::plane_wave::{StandingWave, WAVE, displaced, first_mode};
use super::tools::subject::title;
use super::{Check, Findings, Subject};
use crate::layout::cuboid::{Cuboid, Edge, filled};
use crate::layout::glass::Tile;
use crate::layout::{Arrangement, Layout, Values};
use crate::particles::{Field, Particles};
use crate::sections::{self, Kind, Section, between, key, number, section};
use crate::space::{Boundary, Vec3d};
use serde::{Deserialize, Serialize};

const GAMMA: f64 = 5.0 / 3.0;
/// Least |1 - ratio^2| for which frequency or growth rate are compared: nearer the Jeans length they vanish.
const LEAST_RATE: f64 = 0.05;

/// Particles a wavelength for which the first three gates hold; they shrink with the square of their
/// distance.
const SIDE_OF_GATES: f64 = 32.0;
/// |1 - ratio^2| down to which these gates hold: nearer the Jeans length pressure and gravity cancel more.
const CANCELLATION: f64 = 0.56;
/// Gates of density and velocity over the amplitude until t = 1, and of frequency or growth rate. 1.25
/// times the largest figures of 16, 32 and 64 particles a wavelength, with the ratios 0.6 and 1.25.
const DENSITY: f64 = 0.028;
const VELOCITY: f64 = 0.007;
const RATE: f64 = 0.0088;
/// What the density's gate adds for the error of the linear solution, over the amplitude: 1.25 times 0.5.
const NONLINEAR: f64 = 0.65;
/// Gate of the rms velocity across the wave over c and the amplitude, for [`AMPLITUDE`], and of the energy
/// drift. 1.25 times the largest figures of the lattices: the noise of the tree.
const ACROSS: f64 = 1.7e-3;
const ENERGY: f64 = 3.1e-7;
const AMPLITUDE: &str = "1e-3";

/// `[start.jeans]`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Jeans {
    /// Particles a wavelength.
    pub side: u64,
    /// Thickness of the bar in distances of the particles.
    pub depth: u64,
    /// Wavelength over the Jeans length, > 0.
    pub jeans_ratio: f64,
    /// Amplitude A of the density at the start.
    pub amplitude: f64,
    /// The layout.
    pub arrangement: Arrangement,
    /// Seed of the random numbers.
    pub seed: u64,
}

impl Jeans {
    fn bar(&self) -> Cuboid {
        let across = Edge::Distances(self.depth as f64);
        let edges = [Edge::Fixed(1.0), across, across];
        Cuboid::fitted([0.0; 3], edges, 1.0 / self.side as f64, self.arrangement, self.seed)
    }

    /// Speed of sound: 1 for an ideal gas.
    fn sound(surroundings: Option<&Surroundings>) -> f64 {
        surroundings.and_then(|surroundings| surroundings.sound_speed).unwrap_or(1.0)
    }

    /// The solution for a speed of sound and a gravitational constant. The density gives the Jeans length
    /// 1 / ratio.
    fn wave(&self, sound: f64, constant: f64) -> StandingWave {
        let ratio = self.jeans_ratio * self.jeans_ratio;
        StandingWave {
            density: PI * ratio * sound * sound / constant,
            amplitude: self.amplitude,
            square: (WAVE * sound).powi(2) * (ratio - 1.0),
        }
    }
}

impl Case for Jeans {
    const SECTION: Section = section(
        "start.jeans",
        "A plane standing wave of length 1 along x in a self-gravitating gas at rest: an ideal gas with the \
         speed of sound 1, or an isothermal one.",
        &[
            side("32", "Particles a wavelength."),
            depth("10"),
            key(
                "jeans_ratio",
                number(between(0.1, 4.0)),
                sections::Default::Value("0.6"),
                "Wavelength over the Jeans length, which chooses the density: the wave oscillates below 1, \
                 grows above 1.",
            )
            .also(&["ratio", "wavelength"]),
            key(
                "amplitude",
                number(between(1e-6, 0.1)),
                sections::Default::Value(AMPLITUDE),
                "Relative amplitude of the density at the start.",
            ),
            key(
                "arrangement",
                Kind::Choice(Arrangement::NAMES),
                sections::Default::Value("\"fcc\""),
                "Layout of the gas without the wave; the noise of a glass hides a small wave.",
            ),
            NOISE,
            SEED,
        ],
    );
    const TITLE: &'static str = "Jeans wave";
    const TEMPLATE: Template = Template {
        title: "Plane wave in a self-gravitating gas: shorter than the Jeans length, it oscillates",
        sections: &["sph", "gravity"],
        settings: &[
            ("run.end_time", "1.0"),
            ("start.jeans.side", "32"),
            ("space.boundary", "\"periodic\""),
            ("gravity.softening", "0.001"),
            ("output.directory", "\"out/jeans\""),
            ("output.snapshots.every_time", "0.25"),
        ],
        omitted: &[],
    };
    const NEEDS: &'static [Field] = &[Field::Position, Field::Velocity, Field::Mass, Field::Density];

    fn read(section: &mut dyn CaseReader) -> Self {
        Self {
            side: section.integer("side"),
            depth: section.integer("depth"),
            jeans_ratio: section.number("jeans_ratio"),
            amplitude: section.number("amplitude"),
            arrangement: section.arrangement(),
            seed: section.integer("seed"),
        }
    }

    fn check(&self, surroundings: &Surroundings, section: &mut dyn CaseReader) {
        section.require_gravity(surroundings);
        section.require_boundary(surroundings, Boundary::Periodic);
        if !surroundings.gas {
            section.report(&[], "this case needs a gas".into(), "add [sph]".into());
        }
    }

    fn corners(&self) -> Option<[[f64; 3]; 2]> {
        Some([[0.0; 3], self.bar().lengths])
    }

    fn count(&self) -> u64 {
        self.bar().count()
    }

    fn seed(&self) -> u64 {
        self.seed
    }

    fn tiles(&self) -> Vec<Tile> {
        self.bar().tile().into_iter().collect()
    }

    fn layout(&self, surroundings: &Surroundings, share: Range<u64>) -> Layout {
        let gamma = surroundings.gamma_or(GAMMA);
        let sound = Self::sound(Some(surroundings));
        let wave = self.wave(sound, surroundings.gravity.unwrap_or(1.0));
        let bar = self.bar();
        let mut layout = filled(&bar, &bar.quiet_filling(surroundings.noise), wave.density, 0.0, share);
        let base = sound * sound / (gamma * (gamma - 1.0));
        let mut energies = Vec::new();
        for position in &mut layout.positions {
            position.x = displaced(position.x, self.amplitude);
            // the adiabat
            energies.push(base * wave.at(position.x, 0.0)[0].powf(gamma - 1.0));
        }
        layout.internal_energy = Values::PerParticle(energies);
        layout
    }

    fn judge(&self, subject: &Subject) -> Findings {
        let sound = Self::sound(subject.surroundings.as_ref());
        let wave = self.wave(sound, subject.gravity());
        let time = subject.time;
        let rows = rows(subject.particles);
        let side = self.side as f64;
        let unit = self.amplitude * wave.grown(time);
        let mean = |of: &dyn Fn(&Row) -> f64| {
            let (sum, weight) = rows
                .iter()
                .fold((0.0, 0.0), |(sum, weight), row| (sum + row.mass * of(row), weight + row.mass));
            (weight > 0.0).then(|| sum / weight)
        };
        let density = mean(&|row| (row.density - wave.at(row.x, time)[0]).abs());
        let velocity = mean(&|row| (row.velocity.x - wave.at(row.x, time)[1]).abs());
        let across = mean(&|row| row.velocity.yz().norm_squared()).map(f64::sqrt);
        // the first modes of mass and momentum, without the kernel's smoothing
        let [of_density, _] = first_mode(rows.iter().map(|row| (row.x, 1.0, row.mass)));
        let [_, of_velocity] = first_mode(rows.iter().map(|row| (row.x, row.velocity.x, row.mass)));
        let growing = wave.square > 0.0;
        let name = if growing { "growth rate − 1" } else { "frequency − 1" };
        let coarseness = (SIDE_OF_GATES / side).powi(2);
        let difference = wave.square.abs() / (WAVE * sound).powi(2);
        let cancellation = (CANCELLATION / difference.max(LEAST_RATE)).max(1.0);
        let vanishing = difference < LEAST_RATE;
        let rate = match wave.rate_error(of_density, of_velocity, time) {
            _ if vanishing => Check::skipped(name, "the wavelength is nearly the Jeans length"),
            Some(error) => Check::gated(name, Some(error.abs()), RATE * coarseness * cancellation, None)
                .noting(format!("{error:+.2e}, exact {:.4}", wave.rate())),
            None => Check::skipped(name, "known after the start"),
        };
        let relative = |figure: Option<f64>, unit: f64| figure.map(|figure| figure / unit);
        let gate = coarseness * time.max(1.0) * cancellation.sqrt();
        let noise = (AMPLITUDE.parse().unwrap_or(0.0) / self.amplitude).max(1.0);
        let density_gate = DENSITY * gate + NONLINEAR * unit;
        let checks = vec![
            Check::gated("L1 density / amplitude", relative(density, unit), density_gate, None)
                .noting("mean of |deviation| from the mean density, over the largest exact amplitude so far"),
            Check::gated(
                "L1 velocity / c amplitude",
                relative(velocity, sound * unit),
                VELOCITY * gate,
                None,
            ),
            rate,
            Check::gated(
                "velocity across / c amplitude",
                relative(across, sound * unit),
                ACROSS * noise,
                None,
            )
            .noting("rms"),
            Check::reported(
                "density mode − 1",
                Some((of_density / unit - wave.factors(time)[0] / wave.grown(time)).abs()),
            )
            .noting("of the masses, over the amplitude"),
            match subject.surroundings.and_then(|surroundings| surroundings.sound_speed) {
                Some(_) => Check::skipped("energy drift", "an isothermal gas does not keep its energy"),
                None => subject.drift_check(ENERGY),
            },
        ];
        let curve = |k: usize| (0..=400).map(|n| f64::from(n) / 400.0).map(move |x| (x, k));
        let exact = |k: usize| curve(k).map(|(x, k)| (x, wave.at(x, time)[k])).collect();
        let found = |of: &dyn Fn(&Row) -> f64| rows.iter().map(|row| (row.x, of(row))).collect();
        let panels = vec![
            Panel { label: "density over mean", particles: found(&|row| row.density), exact: exact(0) },
            Panel { label: "velocity", particles: found(&|row| row.velocity.x), exact: exact(1) },
        ];
        let picture = draw(&title(Self::TITLE, subject), "x", (0.0, 1.0), panels);
        Findings { checks, pictures: vec![("profiles", picture)] }
    }
}

/// A particle of the wave.
struct Row {
    x: f64,
    velocity: Vec3d,
    mass: f64,
    /// Density over its mean: the error of the kernel in a uniform gas is no error of the wave.
    density: f64,
}

fn rows(particles: &Particles) -> Vec<Row> {
    let (masses, densities) = (particles.scalar(Field::Mass), particles.scalar(Field::Density));
    let count = particles.owned().len().max(1) as f64;
    let mean = particles.owned().map(|row| densities[row]).sum::<f64>() / count;
    let row = |row: usize| Row {
        x: particles.vector_at(Field::Position, row).x,
        velocity: particles.vector_at(Field::Velocity, row),
        mass: masses[row],
        density: densities[row] / mean,
    };
    particles.owned().map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases::tools::testing::{NOWHERE, exact, failed, measured, subject};

    fn case(jeans_ratio: f64) -> Jeans {
        Jeans {
            side: 16,
            depth: 8,
            jeans_ratio,
            amplitude: 1e-3,
            arrangement: Arrangement::FaceCentered,
            seed: 1,
        }
    }

    /// Particles of the solution at a time, with velocities multiplied by a factor.
    fn solution(case: &Jeans, time: f64, factor: f64) -> Particles {
        let mut layout = case.layout(&NOWHERE, 0..case.count());
        let wave = case.wave(1.0, 1.0);
        let now = wave.factors(time)[0] * case.amplitude;
        let filling = case.bar().quiet_filling(None);
        for (id, position) in layout.positions.iter_mut().enumerate() {
            position.x = displaced(filling.position(id as u64).x, now);
        }
        exact(&layout, GAMMA, |position| {
            let [density, velocity] = wave.at(position.x, time);
            (wave.density * density, Vec3d::new(factor * velocity, 0.0, 0.0), 1.0)
        })
    }

    #[test]
    fn the_solution_obeys_its_equation_and_the_jeans_length_divides_it() {
        for (ratio, sign) in [(0.6, -1.0), (0.99, -1.0), (1.01, 1.0), (2.0, 1.0)] {
            let wave = case(ratio).wave(3.0, 0.5);
            // the Jeans length is c sqrt(pi / (G rho)), the square 4 pi G rho - c^2 k^2
            assert!((3.0 * (PI / (0.5 * wave.density)).sqrt() * ratio - 1.0).abs() < 1e-12);
            let square = 4.0 * PI * 0.5 * wave.density - (3.0 * WAVE).powi(2);
            assert!((wave.square - square).abs() < 1e-9 * square.abs() && square * sign > 0.0);
            let (time, step) = (0.3, 1e-5);
            let [factor, slope] = wave.factors(time);
            let [before, after] = [time - step, time + step].map(|time| wave.factors(time));
            assert!(((after[0] - before[0]) / (2.0 * step) - slope).abs() < 1e-5 * (1.0 + slope.abs()));
            assert!(((after[1] - before[1]) / (2.0 * step) / (square * factor) - 1.0).abs() < 1e-5);
        }
    }

    #[test]
    fn the_start_has_the_speed_of_sound_and_is_at_rest() {
        let layout = case(0.6).layout(&NOWHERE, 0..case(0.6).count());
        let sound = (GAMMA * (GAMMA - 1.0) * layout.internal_energy.at(0)).sqrt();
        assert!((sound - 1.0).abs() < 1e-3 && layout.velocities.is_none());
        let volume: f64 = case(0.6).bar().lengths.iter().product();
        let mass = layout.mass.at(0) * case(0.6).count() as f64;
        assert!((mass / volume / (PI * 0.36) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn the_solutions_pass_and_errors_are_found() {
        for (ratio, name) in [(0.6, "frequency − 1"), (1.25, "growth rate − 1")] {
            let case = case(ratio);
            let judged = |particles: &Particles, time: f64| case.judge(&subject(particles, time, GAMMA));
            let findings = judged(&solution(&case, 0.9, 1.0), 0.9);
            assert!(failed(&findings).is_empty(), "{:?}", findings.checks);
            assert!(measured(&findings, "L1 velocity / c amplitude") < 1e-10);
            // the mean over particles is 1 + amplitude^2 / 2
            assert!(measured(&findings, "L1 density / amplitude") < 0.03);
            assert!(measured(&findings, name) < 1e-3, "{:?}", findings.checks);
            assert!(measured(&findings, "density mode − 1") < 0.01);
            // late by 30 %
            let findings = judged(&solution(&case, 0.7, 1.0), 1.0);
            assert!((measured(&findings, name) - 0.3).abs() < 2e-3, "{:?}", findings.checks);
            let expected = ["L1 density / amplitude", "L1 velocity / c amplitude", name];
            assert_eq!(failed(&findings), expected);
            // a tenth of the amplitude across the wave
            let mut moving = solution(&case, 0.9, 1.0);
            for row in 0..moving.len() {
                let velocity = moving.vector_at(Field::Velocity, row);
                let across = Vec3d::new(0.0, 0.1 * case.amplitude * case.wave(1.0, 1.0).grown(0.9), 0.0);
                moving.set_vector(Field::Velocity, row, velocity + across);
            }
            assert_eq!(failed(&judged(&moving, 0.9)), ["velocity across / c amplitude"]);
        }
    }

    #[test]
    fn near_the_jeans_length_there_is_no_rate() {
        let case = case(1.0);
        let findings = case.judge(&subject(&solution(&case, 0.5, 1.0), 0.5, GAMMA));
        assert!(failed(&findings).is_empty(), "{:?}", findings.checks);
        assert_eq!(findings.checks[2].outcome, crate::cases::Outcome::Skipped);
    }
}
