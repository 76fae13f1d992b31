//! The isobaric cube: a cube of edge 1/2 of dense gas in thinner gas of the same pressure, in the periodic
//! unit cube (Saitoh & Makino 2013, ApJ 768, 44; in two dimensions Hess & Springel 2010, MNRAS 406, 2289).
//! Nothing moves, so the cube keeps its shape; errors at the jump of the density act as a surface tension and
//! make it a ball. Particles have equal masses.
//!
//! The particles of the cube are told by their entropy function P / density^gamma, which is conserved, so
//! that snapshots of other programs can be compared.

use std::ops::Range;

use super::case::{ARRANGEMENT, Case, CaseReader, NOISE, SEED, Surroundings, Template};
use super::tools::keys::side;
use super::tools::pictures::{Panel, draw};
use super::tools::subject::title;
use super::{Check, Findings, Subject};
use crate::layout::blocks::Blocks;
use crate::layout::glass::Tile;
use crate::layout::{Arrangement, Layout};
use crate::particles::Field;
use crate::sections::{ABOVE_ONE, ANY, Default, Kind, POSITIVE, Section, key, number, section};
use crate::space::{Boundary, Vec3d};
use crate::units::Dimension;
use serde::{Deserialize, Serialize};

const GAMMA: f64 = 5.0 / 3.0;
/// <x^4 + y^4 + z^4> / <r^4> of a cube, 9/19; that of a ball is 3/5.
const CUBE: f64 = 9.0 / 19.0;
/// Gate of the shape until t = 2.5; as a ball, it deviates by 0.126.
const GATE_OF_SHAPE: f64 = 0.05;
/// Gate of the pressure's deviation at the start.
const GATE_OF_PRESSURE: f64 = 0.15;

/// `[start.isobaric-cube]`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct IsobaricCube {
    /// Particles along the edge of the box in the thin gas.
    pub side: u64,
    /// Density of the cube over that of the thin gas, 1; > 1.
    pub ratio: f64,
    /// Pressure, > 0.
    pub pressure: f64,
    /// Velocity of all gas.
    pub boost: [f64; 3],
    /// The layout.
    pub arrangement: Arrangement,
    /// Seed of the random numbers.
    pub seed: u64,
}

impl IsobaricCube {
    /// Eight blocks of edge 1/2, of which the first is the cube. Its center is the origin.
    fn blocks(&self) -> Blocks {
        let mut densities = vec![1.0; 8];
        densities[0] = self.ratio;
        Blocks {
            lower: [-0.25; 3],
            edges: [0.5; 3],
            count: [2; 3],
            densities,
            spacing: 1.0 / self.side as f64,
            arrangement: self.arrangement,
            seed: self.seed,
        }
    }

    /// Whether a particle is of the cube: its P / density^gamma is below the geometric mean of both gases.
    fn is_of_cube(&self, pressure: f64, density: f64, gamma: f64) -> bool {
        pressure / density.powf(gamma) < self.pressure * self.ratio.powf(-0.5 * gamma)
    }
}

impl Case for IsobaricCube {
    const SECTION: Section = section(
        "start.isobaric-cube",
        "Isobaric cube: a dense cube of edge 1/2 at rest in gas of density 1 in the unit cube.",
        &[
            side("24", "Particles along the edge of the unit cube in the thin gas."),
            key(
                "ratio",
                number(ABOVE_ONE),
                Default::Value("4.0"),
                "Density of the cube over that around it.",
            )
            .also(&["density_ratio", "contrast"]),
            key("pressure", number(POSITIVE), Default::Value("2.5"), "Pressure of both gases.").also(&["p"]),
            key(
                "boost",
                Kind::Numbers(ANY, Dimension::Code),
                Default::Value("0.0"),
                "Velocity of all gas; the solution does not depend on it.",
            )
            .also(&["velocity"]),
            ARRANGEMENT,
            NOISE,
            SEED,
        ],
    );
    const TITLE: &'static str = "Isobaric cube";
    const TEMPLATE: Template = Template {
        title: "Isobaric cube",
        sections: &["sph"],
        settings: &[
            ("run.end_time", "2.5"),
            ("start.isobaric-cube.side", "24"),
            ("space.boundary", "\"periodic\""),
            ("output.directory", "\"out/isobaric-cube\""),
            ("output.snapshots.every_time", "0.5"),
        ],
        omitted: &[],
    };

    fn read(section: &mut dyn CaseReader) -> Self {
        Self {
            side: section.integer("side"),
            ratio: section.number("ratio"),
            pressure: section.number("pressure"),
            boost: section.numbers("boost"),
            arrangement: section.arrangement(),
            seed: section.integer("seed"),
        }
    }

    fn check(&self, surroundings: &Surroundings, section: &mut dyn CaseReader) {
        section.require_ideal_gas(surroundings);
        section.require_boundary(surroundings, Boundary::Periodic);
    }

    fn corners(&self) -> Option<[[f64; 3]; 2]> {
        Some([[-0.25; 3], [0.75; 3]])
    }

    fn count(&self) -> u64 {
        self.blocks().count()
    }

    fn seed(&self) -> u64 {
        self.seed
    }

    fn tiles(&self) -> Vec<Tile> {
        self.blocks().tiles()
    }

    fn layout(&self, surroundings: &Surroundings, share: Range<u64>) -> Layout {
        let gamma = surroundings.gamma_or(GAMMA);
        let energy = |density: f64| self.pressure / density / (gamma - 1.0);
        let mut layout = self.blocks().layout(surroundings.noise, share, energy);
        layout.velocities = Some(vec![self.boost.into(); layout.positions.len()]);
        layout
    }

    fn judge(&self, subject: &Subject) -> Findings {
        let gamma = subject.gamma.unwrap_or(GAMMA);
        let particles = subject.particles;
        let (density, energy) = (particles.scalar(Field::Density), particles.scalar(Field::InternalEnergy));
        let pressure = |row: usize| (gamma - 1.0) * density[row] * energy[row];
        let cube: Vec<Vec3d> = particles
            .owned()
            .filter(|&row| self.is_of_cube(pressure(row), density[row], gamma))
            .map(|row| particles.vector_at(Field::Position, row))
            .collect();
        let cube = centered(&cube);
        let mut deviations: Vec<f64> =
            particles.owned().map(|row| (pressure(row) / self.pressure - 1.0).abs()).collect();
        deviations.sort_by(f64::total_cmp);
        let most = |fraction: f64| {
            deviations.get((fraction * deviations.len().saturating_sub(1) as f64) as usize).copied()
        };
        let start = subject.time == 0.0;
        let largest = "largest pressure deviation";
        let checks = vec![
            Check::gated("shape − cube", shape(&cube).map(|shape| (shape - CUBE).abs()), GATE_OF_SHAPE, None)
                .noting(shape(&cube).map_or_else(String::new, |shape| {
                    format!("<x^4 + y^4 + z^4> / <r^4> = {shape:.3}; cube {CUBE:.3}, ball 0.6")
                })),
            if start {
                Check::gated(largest, most(1.0), GATE_OF_PRESSURE, None).noting("|P / P0 − 1| at the start")
            } else {
                Check::reported(largest, most(1.0)).noting("|P / P0 − 1|")
            },
            Check::reported("pressure deviation of 99 %", most(0.99)),
            Check::reported("rms velocity / c", self.noise_of_velocity(subject, gamma))
                .noting("c of the thin gas"),
            subject.drift_check(1e-3),
        ];
        // a slice of the thickness 1/8 through the center
        let slice = cube.iter().filter(|at| at.z.abs() < 0.0625).map(|at| (at.x, at.y)).collect();
        let corners = [(-0.25, -0.25), (0.25, -0.25), (0.25, 0.25), (-0.25, 0.25), (-0.25, -0.25)];
        let panel = Panel { label: "y of the cube's particles", particles: slice, exact: corners.to_vec() };
        let picture = draw(&title(Self::TITLE, subject), "x", (-0.5, 0.5), vec![panel]);
        Findings { checks, pictures: vec![("shape", picture)] }
    }
}

impl IsobaricCube {
    /// The rms velocity relative to the boost, over the speed of sound of the thin gas.
    fn noise_of_velocity(&self, subject: &Subject, gamma: f64) -> Option<f64> {
        let particles = subject.particles;
        let count = particles.owned().len();
        let boost = Vec3d::from(self.boost);
        let square: f64 = particles
            .owned()
            .map(|row| (particles.vector_at(Field::Velocity, row) - boost).norm_squared())
            .sum();
        (count > 0).then(|| (square / count as f64 / (gamma * self.pressure)).sqrt())
    }
}

/// Positions in the periodic unit cube relative to their center, which is that of their phases, so that it
/// does not depend on the place of the box or on the boost.
fn centered(positions: &[Vec3d]) -> Vec<Vec3d> {
    const TURN: f64 = 2.0 * std::f64::consts::PI;
    let center = Vec3d::from_fn(|d, _| {
        let (sine, cosine) = positions.iter().fold((0.0, 0.0), |(sine, cosine), at| {
            (sine + (TURN * at[d]).sin(), cosine + (TURN * at[d]).cos())
        });
        f64::atan2(sine, cosine) / TURN
    });
    positions.iter().map(|at| (at - center).map(|x| x - x.round())).collect()
}

/// <x^4 + y^4 + z^4> / <r^4>; `None` without positions.
fn shape(positions: &[Vec3d]) -> Option<f64> {
    let axes: f64 = positions.iter().map(|at| at.map(|x| x.powi(4)).sum()).sum();
    let radial: f64 = positions.iter().map(|at| at.norm_squared().powi(2)).sum();
    (radial > 0.0).then(|| axes / radial)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases::tools::testing::{NOWHERE, exact, failed, measured, subject};

    fn case() -> IsobaricCube {
        IsobaricCube {
            side: 16,
            ratio: 4.0,
            pressure: 2.5,
            boost: [0.3, 0.0, 0.0],
            arrangement: Arrangement::SimpleCubic,
            seed: 1,
        }
    }

    /// The state at a place in the start.
    fn at(case: &IsobaricCube, position: &Vec3d) -> (f64, Vec3d, f64) {
        let inside = position.iter().all(|x| x.abs() < 0.25);
        (if inside { case.ratio } else { 1.0 }, case.boost.into(), case.pressure)
    }

    #[test]
    fn the_start_is_isobaric_with_equal_masses() {
        let case = case();
        let layout = case.layout(&NOWHERE, 0..case.count());
        let particles = exact(&layout, GAMMA, |position| at(&case, position));
        for row in 0..layout.positions.len() {
            let energy = particles.scalar(Field::InternalEnergy)[row];
            assert!((layout.internal_energy.at(row) / energy - 1.0).abs() < 1e-12);
            assert!((layout.mass.at(row) / layout.mass.at(0) - 1.0).abs() < 0.05);
        }
        let total: f64 = (0..layout.positions.len()).map(|row| layout.mass.at(row)).sum();
        assert!((total - 1.375).abs() < 1e-12);
        let findings = case.judge(&subject(&particles, 0.0, GAMMA));
        assert!(failed(&findings).is_empty(), "{:?}", findings.checks);
        assert!(measured(&findings, "shape − cube") < 5e-3);
        assert!(measured(&findings, "largest pressure deviation") < 1e-12);
        assert!(measured(&findings, "rms velocity / c") < 1e-12);
    }

    #[test]
    fn a_moved_cube_passes_and_a_ball_fails() {
        let case = case();
        let layout = case.layout(&NOWHERE, 0..case.count());
        let moved = |to_ball: bool| {
            let mut particles = exact(&layout, GAMMA, |position| at(&case, position));
            for (row, position) in layout.positions.iter().enumerate() {
                // a cube becomes the ball of equal volume along its rays, denser towards its corners
                let furthest = position.amax().max(1e-12);
                let ball =
                    position * (furthest / position.norm().max(1e-12) * (6.0 / std::f64::consts::PI).cbrt());
                let inside = to_ball && furthest < 0.25;
                let place = (if inside { ball } else { *position }) + Vec3d::new(0.4, 0.1, 0.7);
                particles.set_vector(Field::Position, row, place.map(|x| x.rem_euclid(1.0)));
            }
            particles
        };
        assert!(failed(&case.judge(&subject(&moved(false), 2.5, GAMMA))).is_empty());
        let findings = case.judge(&subject(&moved(true), 2.5, GAMMA));
        assert_eq!(failed(&findings), ["shape − cube"]);
        assert!((measured(&findings, "shape − cube") - (0.541 - CUBE)).abs() < 0.01, "{:?}", findings.checks);
        // one particle out of balance, at the start
        let mut particles = moved(false);
        particles.scalar_mut(Field::InternalEnergy)[3] *= 1.2;
        let findings = case.judge(&subject(&particles, 0.0, GAMMA));
        assert_eq!(failed(&findings), ["largest pressure deviation"]);
    }
}
