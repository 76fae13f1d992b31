//! Gas at rest: uniform density and pressure in a periodic cube. It must stay at rest, and its entropy must
//! not fall. A lattice is displaced at random, so that an unstable one is found.

use std::ops::Range;

use super::case::{ARRANGEMENT, Case, CaseReader, NOISE, PARTICLES, SEED, Surroundings, Template};
use super::tools::pictures::{Panel, draw};
use super::tools::subject::title;
use super::{Check, Findings, Subject};
use crate::layout::cuboid::{Cuboid, filled};
use crate::layout::glass::Tile;
use crate::layout::{Arrangement, Layout, normal, particle_rng};
use crate::particles::Field;
use crate::sections::{Default, Section, between, key, number, section};
use crate::space::Boundary;
use serde::{Deserialize, Serialize};

const GAMMA: f64 = 5.0 / 3.0;
/// Gates of the rms velocity over the speed of sound 1: twice the largest one of the default settings from
/// t = 1 to 20 (`docs/src/gas-settings.md`: 1.0e-3 on lattices, 5.3e-3 in a glass).
const GATE_OF_LATTICES: f64 = 2e-3;
const GATE_OF_GLASS: f64 = 0.011;
/// Time after which displacements of a start have become sound.
const FIRST_TIME: f64 = 1.0;

/// `[start.gas-at-rest]`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GasAtRest {
    /// Number of particles, >= 1; the layout may round it.
    pub particles: u64,
    /// The layout.
    pub arrangement: Arrangement,
    /// Standard deviation of a random displacement per dimension, in mean distances.
    pub jitter: f64,
    /// Seed of the random numbers.
    pub seed: u64,
}

impl GasAtRest {
    fn cube(&self) -> Cuboid {
        Cuboid {
            particles: self.particles,
            lower: [0.0; 3],
            lengths: [1.0; 3],
            arrangement: self.arrangement,
            cells: None,
            seed: self.seed,
        }
    }
}

impl Case for GasAtRest {
    const SECTION: Section = section(
        "start.gas-at-rest",
        "Gas at rest in the unit cube: density 1 and, for an ideal gas, speed of sound 1.",
        &[
            PARTICLES,
            ARRANGEMENT,
            NOISE,
            key(
                "jitter",
                number(between(0.0, 0.5)),
                Default::Value("0.001"),
                "Standard deviation of random displacements, in mean distances of the particles.",
            ),
            SEED,
        ],
    );
    const TITLE: &'static str = "Gas at rest";
    const TEMPLATE: Template = Template {
        title: "Gas at rest",
        sections: &["sph"],
        settings: &[
            ("run.end_time", "20.0"),
            ("start.gas-at-rest.particles", "4_000"),
            ("space.boundary", "\"periodic\""),
            ("output.directory", "\"out/gas-at-rest\""),
            ("output.snapshots.every_time", "5.0"),
        ],
        omitted: &[],
    };

    fn read(section: &mut dyn CaseReader) -> Self {
        Self {
            particles: section.integer("particles"),
            arrangement: section.arrangement(),
            jitter: section.number("jitter"),
            seed: section.integer("seed"),
        }
    }

    fn check(&self, surroundings: &Surroundings, section: &mut dyn CaseReader) {
        section.require_ideal_gas(surroundings);
        section.require_boundary(surroundings, Boundary::Periodic);
    }

    fn corners(&self) -> Option<[[f64; 3]; 2]> {
        Some([[0.0; 3], [1.0; 3]])
    }

    fn requested(&self) -> u64 {
        self.particles
    }

    fn count(&self) -> u64 {
        self.cube().count()
    }

    fn seed(&self) -> u64 {
        self.seed
    }

    fn tiles(&self) -> Vec<Tile> {
        self.cube().tile().into_iter().collect()
    }

    fn layout(&self, surroundings: &Surroundings, share: Range<u64>) -> Layout {
        let gamma = surroundings.gamma_or(GAMMA);
        let cube = self.cube();
        let energy = 1.0 / (gamma * (gamma - 1.0));
        let mut layout = filled(&cube, &cube.quiet_filling(surroundings.noise), 1.0, energy, share.clone());
        let step = self.jitter / (cube.count().max(1) as f64).cbrt();
        if step > 0.0 {
            for (position, id) in layout.positions.iter_mut().zip(share) {
                *position += normal(&mut particle_rng(self.seed, id)) * step;
            }
        }
        layout
    }

    fn judge(&self, subject: &Subject) -> Findings {
        let gamma = subject.gamma.unwrap_or(GAMMA);
        let particles = subject.particles;
        let count = particles.owned().len().max(1) as f64;
        let mean = |of: &dyn Fn(usize) -> f64| particles.owned().map(of).sum::<f64>() / count;
        let velocity = mean(&|row| particles.vector_at(Field::Velocity, row).norm_squared()).sqrt();
        let (density, energy) = (particles.scalar(Field::Density), particles.scalar(Field::InternalEnergy));
        let pressure = |row: usize| (gamma - 1.0) * density[row] * energy[row];
        let middle = mean(&pressure);
        let spread = mean(&|row| (pressure(row) / middle - 1.0).powi(2)).sqrt();
        let gate = match self.arrangement {
            Arrangement::Glass | Arrangement::Random => GATE_OF_GLASS,
            _ => GATE_OF_LATTICES,
        };
        let checks = vec![
            Check::gated("rms velocity / c", Some(velocity), gate, None),
            largest_velocity(subject, gate),
            fall_of_thermal_energy(subject),
            subject.drift_check(1e-4),
            Check::reported("rms pressure / mean − 1", Some(spread)),
            Check::reported("mean density − 1", Some((mean(&|row| density[row]) - 1.0).abs())),
        ];
        let points = particles
            .owned()
            .map(|row| (particles.vector_at(Field::Position, row).x, pressure(row) / middle))
            .collect();
        let panel =
            Panel { label: "pressure over mean", particles: points, exact: vec![(0.0, 1.0), (1.0, 1.0)] };
        let picture = draw(&title(Self::TITLE, subject), "x", (0.0, 1.0), vec![panel]);
        Findings { checks, pictures: vec![("profiles", picture)] }
    }
}

/// The largest rms velocity since the displacements have become sound.
fn largest_velocity(subject: &Subject, gate: f64) -> Check {
    let name = "largest rms velocity / c";
    let Some(history) = subject.history else {
        return Check::skipped(name, "no observables.csv beside the snapshot");
    };
    let rows = history.time.iter().zip(&history.kinetic);
    let within = rows.filter(|(time, _)| (FIRST_TIME..=subject.time * (1.0 + 1e-9)).contains(*time));
    match within.map(|(_, &kinetic)| (2.0 * kinetic).max(0.0).sqrt()).reduce(f64::max) {
        Some(most) => Check::gated(name, Some(most), gate, None).noting(format!("from t = {FIRST_TIME}")),
        None => Check::skipped(name, format!("known from t = {FIRST_TIME}")),
    }
}

/// The relative fall of the thermal energy. At uniform density it is that of the entropy function P /
/// rho^gamma, which never falls.
fn fall_of_thermal_energy(subject: &Subject) -> Check {
    let name = "fall of thermal energy";
    match subject.energy_ratios() {
        Some([_, thermal]) => Check::gated(name, Some((1.0 - thermal).max(0.0)), 1e-4, None)
            .noting(format!("{:+.1e}", thermal - 1.0)),
        None => Check::skipped(name, "no observables.csv beside the snapshot"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases::History;
    use crate::cases::tools::testing::{NOWHERE, exact, failed, measured, subject};
    use crate::space::Vec3d;

    #[test]
    fn rest_passes_and_motion_and_cooling_are_found() {
        let case =
            GasAtRest { particles: 1000, arrangement: Arrangement::SimpleCubic, jitter: 0.001, seed: 1 };
        let layout = case.layout(&NOWHERE, 0..case.count());
        assert_eq!(case.count(), 1000);
        let spread = layout.positions.iter().map(|p| (10.0 * p.x - 0.5 - (10.0 * p.x - 0.5).round()).powi(2));
        assert!((spread.sum::<f64>() / 1000.0).sqrt() < 0.0012);
        let sound = (GAMMA * (GAMMA - 1.0) * layout.internal_energy.at(0)).sqrt();
        assert!((sound - 1.0).abs() < 1e-12);
        let at = |speed: f64| exact(&layout, GAMMA, |_| (1.0, Vec3d::new(speed, 0.0, 0.0), 0.6));
        let still = at(0.0);
        let findings = case.judge(&subject(&still, 5.0, GAMMA));
        assert!(failed(&findings).is_empty());
        assert_eq!(measured(&findings, "rms velocity / c"), 0.0);
        assert!(measured(&findings, "rms pressure / mean − 1") < 1e-12);
        assert_eq!(failed(&case.judge(&subject(&at(0.003), 5.0, GAMMA))), ["rms velocity / c"]);
        // 1e-3 of the thermal energy becomes motion, and is damped
        let history = History {
            time: vec![0.0, 2.0, 5.0],
            kinetic: vec![0.0, 9e-4, 0.0],
            thermal: vec![0.9, 0.899, 0.899],
            potential: vec![0.0; 3],
        };
        let subject = Subject { history: Some(&history), ..subject(&still, 5.0, GAMMA) };
        let expected = ["largest rms velocity / c", "fall of thermal energy", "energy drift"];
        assert_eq!(failed(&case.judge(&subject)), expected);
    }
}
