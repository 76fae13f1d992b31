//! Particles of two masses at one spacing and one pressure, at rest in the periodic unit cube: half of them
//! light, half heavy. Shuffled, the density is the noise of the masses; in a step, heavy particles fill half
//! of the cube.
//!
//! The internal energy is that of the pressure at the density m / spacing^3 of each particle, so m u is the
//! same for all. An ideal scheme has the pressure everywhere and no acceleration: every particle takes up the
//! same volume.

use rand::RngExt;
use std::ops::Range;

use super::case::{Case, CaseReader, NOISE, SEED, Surroundings, Template};
use super::tools::keys::side;
use super::tools::pictures::{Panel, draw};
use super::tools::subject::title;
use super::{Check, Findings, Subject};
use crate::layout::cuboid::{Cuboid, Edge, filled};
use crate::layout::glass::Tile;
use crate::layout::{Arrangement, Layout, Values, particle_rng};
use crate::particles::Field;
use crate::sections::{ABOVE_ONE, Default, Kind, POSITIVE, Section, key, number, section};
use crate::space::{Boundary, Vec3d};
use serde::{Deserialize, Serialize};

const GAMMA: f64 = 5.0 / 3.0;
/// Gates of the largest deviation of the pressure, of shuffled masses (with their aim) and of a step.
const GATE_OF_SHUFFLED: f64 = 0.25;
const AIM_OF_SHUFFLED: f64 = 0.15;
const GATE_OF_STEP: f64 = 0.15;
/// Gate of |a| h density / P of shuffled masses.
const GATE_OF_ACCELERATION: f64 = 2.0;
/// Neighbors of the smoothing length of a snapshot without one.
const NEIGHBORS: f64 = 190.0;

choice! {
    /// Where heavy particles are.
    Masses {
        /// Each particle is heavy with the probability 1/2.
        Shuffled = "shuffled",
        /// At 0 < x < 1/2.
        Step = "step",
    }
}

/// `[start.unequal-masses]`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UnequalMasses {
    /// Particles along the edge of the cube.
    pub side: u64,
    /// Mass of a heavy particle over that of a light one, > 1.
    pub ratio: f64,
    /// Where heavy particles are.
    pub masses: Masses,
    /// Pressure, > 0.
    pub pressure: f64,
    /// The layout.
    pub arrangement: Arrangement,
    /// Seed of the random numbers.
    pub seed: u64,
}

impl UnequalMasses {
    fn cube(&self) -> Cuboid {
        let spacing = 1.0 / self.side as f64;
        Cuboid::fitted([0.0; 3], [Edge::Fixed(1.0); 3], spacing, self.arrangement, self.seed)
    }

    fn is_heavy(&self, id: u64, position: &Vec3d) -> bool {
        match self.masses {
            // a stream other than that of independent positions
            Masses::Shuffled => particle_rng(self.seed ^ 0x6d61_7373, id).random::<bool>(),
            Masses::Step => position.x < 0.5,
        }
    }
}

impl Case for UnequalMasses {
    const SECTION: Section = section(
        "start.unequal-masses",
        "Particles of two masses at one spacing and one pressure, at rest in the unit cube.",
        &[
            side("24", "Particles along the edge of the cube."),
            key(
                "ratio",
                number(ABOVE_ONE),
                Default::Value("8.0"),
                "Mass of heavy particles over light ones.",
            )
            .also(&["mass_ratio"]),
            key(
                "masses",
                Kind::Choice(Masses::NAMES),
                Default::Value("\"shuffled\""),
                "Where the heavy half is: anywhere, or at 0 < x < 1/2.",
            ),
            key("pressure", number(POSITIVE), Default::Value("2.5"), "Pressure.").also(&["p"]),
            key(
                "arrangement",
                Kind::Choice(Arrangement::NAMES),
                Default::Value("\"fcc\""),
                "Layout of the particles.",
            ),
            NOISE,
            SEED,
        ],
    );
    const TITLE: &'static str = "Unequal masses";
    const TEMPLATE: Template = Template {
        title: "Unequal masses",
        sections: &["sph"],
        settings: &[
            ("run.end_time", "0.1"),
            ("start.unequal-masses.masses", "\"shuffled\""),
            ("space.boundary", "\"periodic\""),
            ("output.directory", "\"out/unequal-masses\""),
            ("output.snapshots.every_time", "0.1"),
        ],
        omitted: &[],
    };

    fn read(section: &mut dyn CaseReader) -> Self {
        Self {
            side: section.integer("side"),
            ratio: section.number("ratio"),
            masses: Masses::named(section.choice("masses")).unwrap_or(Masses::Shuffled),
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
        Some([[0.0; 3], [1.0; 3]])
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
        let mut layout = filled(&cube, &cube.quiet_filling(surroundings.noise), 1.0, 0.0, share.clone());
        let light = layout.mass.at(0);
        let masses: Vec<f64> = layout
            .positions
            .iter()
            .zip(share)
            .map(|(position, id)| if self.is_heavy(id, position) { light * self.ratio } else { light })
            .collect();
        // the density of a light particle is 1
        let energies = masses.iter().map(|mass| self.pressure / (gamma - 1.0) * light / mass).collect();
        layout.mass = Values::PerParticle(masses);
        layout.internal_energy = Values::PerParticle(energies);
        layout
    }

    fn judge(&self, subject: &Subject) -> Findings {
        let gamma = subject.gamma.unwrap_or(GAMMA);
        let particles = subject.particles;
        let (density, energy) = (particles.scalar(Field::Density), particles.scalar(Field::InternalEnergy));
        let ratio = |row: usize| (gamma - 1.0) * density[row] * energy[row] / self.pressure;
        let mut ratios: Vec<f64> = particles.owned().map(ratio).collect();
        ratios.sort_by(f64::total_cmp);
        let mut deviations: Vec<f64> = ratios.iter().map(|ratio| (ratio - 1.0).abs()).collect();
        deviations.sort_by(f64::total_cmp);
        let range = match (ratios.first(), ratios.last()) {
            (Some(least), Some(most)) => format!("P / P0 from {least:.3} to {most:.3}"),
            _ => String::new(),
        };
        let (gate, aim) = match self.masses {
            Masses::Shuffled => (GATE_OF_SHUFFLED, Some(AIM_OF_SHUFFLED)),
            Masses::Step => (GATE_OF_STEP, None),
        };
        let checks = vec![
            Check::gated("largest pressure deviation", deviations.last().copied(), gate, aim).noting(range),
            Check::reported(
                "pressure deviation of 99 %",
                deviations.get(deviations.len().saturating_sub(1) * 99 / 100).copied(),
            ),
            self.acceleration_check(subject, gamma),
            subject.drift_check(1e-3),
        ];
        let at = |row: usize| (particles.vector_at(Field::Position, row).x, ratio(row));
        let panel = Panel {
            label: "P / P0",
            particles: particles.owned().map(at).collect(),
            exact: vec![(0.0, 1.0), (1.0, 1.0)],
        };
        let picture = draw(&title(Self::TITLE, subject), "x", (0.0, 1.0), vec![panel]);
        Findings { checks, pictures: vec![("pressure", picture)] }
    }
}

impl UnequalMasses {
    /// The largest |a| h density / P: pressure differences across a smoothing length, over the pressure.
    fn acceleration_check(&self, subject: &Subject, gamma: f64) -> Check {
        let name = "largest |a| h density / P";
        let particles = subject.particles;
        if !particles.has(Field::Acceleration) {
            return Check::skipped(name, "the snapshot has no accelerations");
        }
        let masses = particles.scalar(Field::Mass);
        let length = |row: usize| match particles.has(Field::SmoothingLength) {
            true => particles.scalar(Field::SmoothingLength)[row],
            false => {
                let volume = NEIGHBORS * masses[row] / particles.scalar(Field::Density)[row];
                0.5 * (volume * 0.75 / std::f64::consts::PI).cbrt()
            }
        };
        // density / P = 1 / ((gamma - 1) u)
        let force = |row: usize| {
            let acceleration = particles.vector_at(Field::Acceleration, row).norm();
            acceleration * length(row) / ((gamma - 1.0) * particles.scalar(Field::InternalEnergy)[row])
        };
        let most = particles.owned().map(force).reduce(f64::max);
        match self.masses {
            Masses::Shuffled => Check::gated(name, most, GATE_OF_ACCELERATION, None),
            Masses::Step => Check::reported(name, most),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases::case::GAS;
    use crate::cases::tools::testing::{NOWHERE, failed, measured, subject};
    use crate::particles::Particles;

    fn case(masses: Masses) -> UnequalMasses {
        UnequalMasses {
            side: 12,
            ratio: 8.0,
            masses,
            pressure: 2.5,
            arrangement: Arrangement::SimpleCubic,
            seed: 1,
        }
    }

    /// The start with the pressure of its volumes, times `factor` for the first particle.
    fn state(layout: &Layout, factor: f64, acceleration: f64) -> Particles {
        let mut particles = Particles::new(
            &[GAS, &[Field::SmoothingLength, Field::Acceleration]].concat(),
            layout.positions.len(),
        );
        for (row, position) in layout.positions.iter().enumerate() {
            particles.id[row] = row as u64;
            particles.set_vector(Field::Position, row, *position);
            particles.scalar_mut(Field::Mass)[row] = layout.mass.at(row);
            particles.scalar_mut(Field::Density)[row] = layout.mass.at(row) * 1728.0;
            particles.scalar_mut(Field::InternalEnergy)[row] = layout.internal_energy.at(row);
            particles.scalar_mut(Field::SmoothingLength)[row] = 0.15;
        }
        particles.scalar_mut(Field::Density)[0] *= factor;
        particles.set_vector(Field::Acceleration, 1, Vec3d::new(0.0, acceleration, 0.0));
        particles
    }

    #[test]
    fn half_of_the_particles_are_heavy() {
        for masses in [Masses::Shuffled, Masses::Step] {
            let case = case(masses);
            let layout = case.layout(&NOWHERE, 0..case.count());
            let light = 1.0 / 1728.0;
            let heavy: Vec<usize> =
                (0..1728).filter(|&row| (layout.mass.at(row) / light - 8.0).abs() < 1e-9).collect();
            assert!(heavy.len().abs_diff(864) <= if masses == Masses::Step { 0 } else { 80 }, "{masses:?}");
            let left = heavy.iter().filter(|&&row| layout.positions[row].x < 0.5).count();
            match masses {
                Masses::Step => assert_eq!(left, 864),
                Masses::Shuffled => assert!(left.abs_diff(432) < 80, "{left}"),
            }
            let part = case.layout(&NOWHERE, 100..200);
            assert!((0..100).all(|row| part.mass.at(row) == layout.mass.at(100 + row)));
        }
    }

    #[test]
    fn uniform_pressure_passes_and_deviations_are_found() {
        let names = ["largest pressure deviation", "largest |a| h density / P"];
        for masses in [Masses::Shuffled, Masses::Step] {
            let case = case(masses);
            let layout = case.layout(&NOWHERE, 0..case.count());
            let judged = |factor, acceleration| {
                case.judge(&subject(&state(&layout, factor, acceleration), 0.0, GAMMA))
            };
            let findings = judged(1.0, 0.1);
            assert!(failed(&findings).is_empty(), "{:?}", findings.checks);
            assert!(measured(&findings, names[0]) < 1e-12);
            // P / density of a light particle is 2.5, of a heavy one 2.5 / 8
            let density = layout.mass.at(1) * 1728.0;
            assert!((measured(&findings, names[1]) - 0.1 * 0.15 * density / 2.5).abs() < 1e-12);
            let findings = judged(0.7, 1000.0);
            let found = failed(&findings);
            assert_eq!(found, if masses == Masses::Step { &names[..1] } else { &names[..] });
        }
    }
}
