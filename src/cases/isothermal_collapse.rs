//! The self-similar collapse of an isothermal gas sphere (Larson 1969; Penston 1969): density and velocity at
//! any time before the center becomes singular.
//!
//! The start is the solution at the time `time` before that, cut at a radius. What the cut does travels
//! inward with the speed of sound relative to the gas; the comparison ends before it.

use std::ops::Range;

use super::case::{ARRANGEMENT, Case, CaseReader, PARTICLES, SEED, Surroundings, Template};
use super::tools::larson_penston::LarsonPenston;
use super::tools::profile::{Profile, Row, State};
use super::tools::subject::title;
use super::{Check, Findings, Subject};
use crate::layout::radial_table::RadialTable;
use crate::layout::{Arrangement, Layout};
use crate::particles::{Field, Particles};
use crate::sections::{Default, POSITIVE, Section, between, key, number, quantity, section};
use crate::units::Dimension;
use serde::{Deserialize, Serialize};

/// Gates of the mean relative deviation of the density, and of that of the velocity over the speed of sound,
/// at 16,000 particles; both shrink with the square of the distance of the particles. 1.25 times the figures
/// of the deck.
const GATES: [f64; 2] = [0.0066, 0.0214];
/// Least time left over the first for which the gates hold: later, the center is not resolved.
const LEAST_LEFT: f64 = 0.299;
const PARTICLES_OF_GATES: f64 = 16_000.0;
/// Neighbors for the smoothing length at the cut, whose support the cut's wave starts from.
const NEIGHBORS: f64 = 190.0;

/// `[start.isothermal-collapse]`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct IsothermalCollapse {
    /// Number of particles, >= 1.
    pub particles: u64,
    /// Layout before it is mapped to the density profile.
    pub arrangement: Arrangement,
    /// Seed of the random numbers.
    pub seed: u64,
    /// Time from the start to the singularity, > 0.
    pub time: f64,
    /// Radius of the cut over the speed of sound times `time`, 3 to 100.
    pub extent: f64,
}

impl Case for IsothermalCollapse {
    const SECTION: Section = section(
        "start.isothermal-collapse",
        "The self-similar collapse of an isothermal gas sphere (Larson 1969, Penston 1969).",
        &[
            PARTICLES,
            ARRANGEMENT,
            SEED,
            key(
                "time",
                quantity(POSITIVE, Dimension::Time),
                Default::Value("1.0"),
                "Time from the start until the center becomes singular.",
            )
            .also(&["collapse_time", "t"]),
            key(
                "extent",
                number(between(3.0, 100.0)),
                Default::Value("6.0"),
                "Radius of the sphere over the speed of sound times `time`.",
            )
            .also(&["radius", "r"]),
        ],
    );
    const TITLE: &'static str = "isothermal collapse";
    const TEMPLATE: Template = Template {
        title: "Self-similar isothermal collapse: the density rises by a factor of 11",
        sections: &["sph", "gravity"],
        settings: &[
            ("run.end_time", "0.7"),
            ("start.isothermal-collapse.particles", "16_000"),
            ("sph.equation_of_state", "\"isothermal\""),
            ("sph.sound_speed", "1.0"),
            ("gravity.softening", "0.01"),
            ("output.directory", "\"out/isothermal-collapse\""),
            ("output.snapshots.every_time", "0.1"),
        ],
        omitted: &["sph.gamma", "sph.conductivity", "sph.conductivity_switch"],
    };
    const NEEDS: &'static [Field] = &[Field::Position, Field::Velocity, Field::Mass, Field::Density];

    fn read(section: &mut dyn CaseReader) -> Self {
        Self {
            particles: section.integer("particles"),
            arrangement: section.arrangement(),
            seed: section.integer("seed"),
            time: section.number("time"),
            extent: section.number("extent"),
        }
    }

    fn check(&self, surroundings: &Surroundings, section: &mut dyn CaseReader) {
        section.require_gravity(surroundings);
        if surroundings.sound_speed.is_none() {
            let help = "write equation_of_state = \"isothermal\" and sound_speed in [sph]".into();
            section.report(&["sph.equation_of_state"], "this case needs an isothermal gas".into(), help);
        }
    }

    fn count(&self) -> u64 {
        self.particles
    }

    fn seed(&self) -> u64 {
        self.seed
    }

    fn layout(&self, surroundings: &Surroundings, share: Range<u64>) -> Layout {
        let (speed, constant) = units_of(Some(surroundings));
        let table = self.table(&LarsonPenston::new(self.extent), speed, constant);
        table.layout(self.particles, self.arrangement, self.seed, share)
    }

    fn judge(&self, subject: &Subject) -> Findings {
        let (speed, constant) = units_of(subject.surroundings.as_ref());
        let left = self.time - subject.time;
        let profile = profile(subject.particles, speed);
        let names = ["density", "velocity / c"];
        if left <= 0.0 {
            let why = "the center is singular from that time on";
            let checks = names.map(|name| Check::skipped(name, why)).to_vec();
            return Findings { checks, pictures: Vec::new() };
        }
        let fraction = left / self.time;
        let begin = self.edge();
        let solution = LarsonPenston::new(self.extent / fraction);
        let exact = |radius: f64| {
            let [alpha, w] = solution.at(radius / (speed * left));
            let density = alpha / (4.0 * std::f64::consts::PI * constant * left * left);
            State { density, velocity: speed * w, pressure: speed * speed * density }
        };
        let reach = speed * self.time * solution.wave(begin, fraction);
        let rows: Vec<&Row> = profile.rows.iter().filter(|row| row.at < reach).collect();
        let mean = |deviation: &dyn Fn(&Row) -> f64| {
            let sum: f64 = rows.iter().map(|row| deviation(row).abs()).sum();
            (!rows.is_empty()).then(|| sum / rows.len() as f64)
        };
        let density = mean(&|row| row.state.density / exact(row.at).density - 1.0);
        let velocity = mean(&|row| (row.state.velocity - exact(row.at).velocity) / speed);
        let coarseness = (PARTICLES_OF_GATES / profile.rows.len().max(1) as f64).powf(2.0 / 3.0);
        let gated = |name, figure, gate: f64| match fraction < LEAST_LEFT {
            true => Check::reported(name, figure),
            false => Check::gated(name, figure, gate * coarseness, None),
        };
        let note = format!("mean over {} particles in r < {reach:.3}", rows.len());
        let largest = profile.rows.iter().map(|row| row.state.density).fold(0.0, f64::max);
        let checks = vec![
            gated(names[0], density, GATES[0]).noting(note.clone()),
            gated(names[1], velocity, GATES[1]).noting(note),
            Check::reported("largest density / rho_c − 1", Some((largest / exact(0.0).density - 1.0).abs())),
        ];
        let range = (0.0, 1.2 * reach.max(1e-3 * self.extent * speed * self.time));
        let picture = profile.picture(&title(Self::TITLE, subject), "radius r", range, exact);
        Findings { checks, pictures: vec![("profiles", picture)] }
    }
}

impl IsothermalCollapse {
    /// The solution at the start up to the cut.
    fn table(&self, solution: &LarsonPenston, speed: f64, constant: f64) -> RadialTable {
        let rows: Vec<f64> =
            solution.rows().iter().copied().filter(|&x| x < self.extent).step_by(4).collect();
        let x: Vec<f64> = rows.into_iter().chain([self.extent]).collect();
        let unit = 1.0 / (4.0 * std::f64::consts::PI * constant * self.time * self.time);
        RadialTable {
            radii: x.iter().map(|x| x * speed * self.time).collect(),
            density: x.iter().map(|&x| unit * solution.at(x)[0]).collect(),
            internal_energy: vec![speed * speed; x.len()],
            velocity: x.iter().map(|&x| speed * solution.at(x)[1]).collect(),
        }
    }

    /// x at the start of the innermost gas whose sums know of the cut: a support radius inside it.
    fn edge(&self) -> f64 {
        let table = self.table(&LarsonPenston::new(self.extent), 1.0, 1.0);
        let last = table.density.last().copied().unwrap_or(1.0);
        let mass = table.mass() / self.particles.max(1) as f64;
        let support = (0.75 / std::f64::consts::PI * NEIGHBORS * mass / last).cbrt() / self.time;
        (self.extent - support).max(0.0)
    }
}

/// Speed of sound and gravitational constant.
fn units_of(surroundings: Option<&Surroundings>) -> (f64, f64) {
    let speed = surroundings.and_then(|surroundings| surroundings.sound_speed).unwrap_or(1.0);
    (speed, surroundings.and_then(|surroundings| surroundings.gravity).unwrap_or(1.0))
}

/// Distance from the origin, density and radial velocity of the particles.
fn profile(particles: &Particles, speed: f64) -> Profile {
    let (masses, densities) = (particles.scalar(Field::Mass), particles.scalar(Field::Density));
    let row = |row: usize| {
        let [position, velocity] =
            [Field::Position, Field::Velocity].map(|field| particles.vector_at(field, row));
        let (at, density) = (position.norm(), densities[row]);
        let velocity = if at > 0.0 { velocity.dot(&position) / at } else { 0.0 };
        Row {
            at,
            state: State { density, velocity, pressure: speed * speed * density },
            volume: masses[row] / density,
        }
    };
    Profile { rows: particles.owned().map(row).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases::tools::testing::{NOWHERE, exact, failed, measured, subject};
    use crate::space::Vec3d;

    fn case() -> IsothermalCollapse {
        IsothermalCollapse {
            particles: 4000,
            arrangement: Arrangement::BodyCentered,
            seed: 1,
            time: 2.0,
            extent: 5.0,
        }
    }

    fn surroundings() -> Surroundings {
        Surroundings { gravity: Some(0.5), sound_speed: Some(3.0), ..NOWHERE }
    }

    #[test]
    fn the_start_has_the_mass_of_the_solution() {
        let layout = case().layout(&surroundings(), 0..4000);
        // (c^3 tau / G) (x + w) x^2 alpha
        let [alpha, w] = LarsonPenston::new(5.0).at(5.0);
        let mass = 27.0 * 2.0 / 0.5 * (5.0 + w) * 25.0 * alpha;
        let found = layout.mass.at(0) * 4000.0;
        assert!((found / mass - 1.0).abs() < 1e-3, "{found} {mass}");
        let furthest = layout.positions.iter().map(Vec3d::norm).fold(0.0, f64::max);
        assert!((furthest / 30.0 - 1.0).abs() < 0.02, "{furthest}");
        let (x, v) = (layout.positions[7], layout.velocities.unwrap()[7]);
        assert!(v.dot(&x) < 0.0 && v.cross(&x).norm() < 1e-9);
    }

    #[test]
    fn the_solution_passes_and_a_slow_collapse_fails() {
        let case = case();
        let layout = case.layout(&surroundings(), 0..4000);
        let solution = LarsonPenston::new(5.0);
        let judged = |lag: f64, time: f64| {
            let left = 2.0 - time + lag;
            let particles = exact(&layout, 5.0 / 3.0, |position| {
                let radius = position.norm();
                let [alpha, w] = solution.at(radius / (3.0 * left));
                let density = alpha / (4.0 * std::f64::consts::PI * 0.5 * left * left);
                (density, 3.0 * w / radius * position, density)
            });
            let subject = subject(&particles, time, 5.0 / 3.0);
            case.judge(&Subject { surroundings: Some(surroundings()), ..subject })
        };
        let good = judged(0.0, 0.0);
        assert!(failed(&good).is_empty() && measured(&good, "density") < 1e-6, "{:?}", good.checks);
        assert_eq!(failed(&judged(0.2, 0.0)), ["density", "velocity / c"]);
        let late = judged(0.0, 2.0);
        assert!(late.checks.iter().all(|check| check.measured.is_none()));
    }
}
