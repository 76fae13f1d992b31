//! The shock tube of Sod (1978, J. Comput. Phys. 27, 1): gas of density 1 and pressure 1 at x < 0, of density
//! 1/8 and pressure 1/10 at x > 0, at rest. A shock and a contact run to the right, a rarefaction to the
//! left.
//!
//! Particles have equal masses. The tube is periodic with 0 < |x| < 1, so a second problem runs at its seam;
//! the norms are those of |x| < 1/2, which its waves reach after t = 0.28. The solution is exact.

use std::ops::Range;

use super::case::{ARRANGEMENT, Case, CaseReader, NOISE, SEED, Surroundings, Template};
use super::tools::keys::{depth, side};
use super::tools::profile::{Profile, State, norm_checks};
use super::tools::riemann::Riemann;
use super::tools::subject::title;
use super::{Check, Findings, Subject};
use crate::layout::cuboid::{Cuboid, Edge};
use crate::layout::glass::Tile;
use crate::layout::tube::{Part, Tube};
use crate::layout::{Arrangement, Layout};
use crate::sections::{Section, section};
use crate::space::Boundary;
use serde::{Deserialize, Serialize};

const LEFT: State = State { density: 1.0, velocity: 0.0, pressure: 1.0 };
const RIGHT: State = State { density: 0.125, velocity: 0.0, pressure: 0.1 };
const GAMMA: f64 = 1.4;
/// Largest |x| of the norms.
const WINDOW: f64 = 0.5;
/// Time at which the waves of the seam reach the window.
const LAST_TIME: f64 = 0.25;
/// Gates at 80 particles along an edge of 1 in the dense gas: 1.2 times the norms of a glass with the
/// default settings (`docs/src/gas-settings.md`); the norms shrink with the distance of the particles.
const GATES: [f64; 3] = [0.0125, 0.042, 0.0125];
const SIDE_OF_GATES: f64 = 80.0;

/// `[start.sod]`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sod {
    /// Particles along an edge of length 1 in the dense gas.
    pub side: u64,
    /// Thickness of the tube in distances of the particles in the dense gas.
    pub depth: u64,
    /// The layout.
    pub arrangement: Arrangement,
    /// Seed of the random numbers.
    pub seed: u64,
}

impl Sod {
    fn tube(&self) -> Tube {
        let spacing = 1.0 / self.side as f64;
        // whole lattice cells of the thin gas, whose distance is twice that of the dense one
        let across = Edge::Distances(0.5 * self.depth as f64);
        let thin = Cuboid::fitted(
            [0.0; 3],
            [Edge::Fixed(1.0), across, across],
            2.0 * spacing,
            self.arrangement,
            self.seed,
        );
        Tube {
            lower: [-1.0, 0.0, 0.0],
            width: [thin.lengths[1], thin.lengths[2]],
            parts: vec![
                Part { length: 1.0, density: LEFT.density },
                Part { length: 1.0, density: RIGHT.density },
            ],
            spacing,
            arrangement: self.arrangement,
            seed: self.seed,
        }
    }
}

impl Case for Sod {
    const SECTION: Section = section(
        "start.sod",
        "Sod's shock tube: density 1 and pressure 1 at x < 0, 1/8 and 1/10 at x > 0, in -1 < x < 1.",
        &[
            side(
                "80",
                "Particles along an edge of length 1 in the dense gas; the thin gas has half as many.",
            ),
            depth("24"),
            ARRANGEMENT,
            NOISE,
            SEED,
        ],
    );
    const TITLE: &'static str = "Sod shock tube";
    const TEMPLATE: Template = Template {
        title: "Sod shock tube",
        sections: &["sph"],
        settings: &[
            ("run.end_time", "0.2"),
            ("start.sod.side", "80"),
            ("space.boundary", "\"periodic\""),
            ("sph.gamma", "1.4"),
            ("output.directory", "\"out/sod\""),
            ("output.snapshots.every_time", "0.1"),
        ],
        omitted: &[],
    };

    fn read(section: &mut dyn CaseReader) -> Self {
        Self {
            side: section.integer("side"),
            depth: section.integer("depth"),
            arrangement: section.arrangement(),
            seed: section.integer("seed"),
        }
    }

    fn check(&self, surroundings: &Surroundings, section: &mut dyn CaseReader) {
        section.require_ideal_gas(surroundings);
        section.require_boundary(surroundings, Boundary::Periodic);
    }

    fn corners(&self) -> Option<[[f64; 3]; 2]> {
        let tube = self.tube();
        Some([tube.lower, [1.0, tube.width[0], tube.width[1]]])
    }

    fn count(&self) -> u64 {
        self.tube().count()
    }

    fn seed(&self) -> u64 {
        self.seed
    }

    fn tiles(&self) -> Vec<Tile> {
        self.tube().tiles()
    }

    fn layout(&self, surroundings: &Surroundings, share: Range<u64>) -> Layout {
        let gamma = surroundings.gamma_or(GAMMA);
        let energy = |state: State| state.pressure / state.density / (gamma - 1.0);
        self.tube().quiet_layout(surroundings.noise, share, |part| energy([LEFT, RIGHT][part]))
    }

    fn judge(&self, subject: &Subject) -> Findings {
        let gamma = subject.gamma.unwrap_or(GAMMA);
        let profile = Profile::new(subject.particles, gamma, |position, velocity| (position.x, velocity.x));
        let riemann = Riemann::new(LEFT, RIGHT, gamma);
        let exact = |x: f64| match subject.time {
            time if time > 0.0 => riemann.at(x / time),
            _ if x < 0.0 => LEFT,
            _ => RIGHT,
        };
        let names = ["L1 density", "L1 velocity", "L1 pressure"];
        let mut checks = if subject.time > LAST_TIME {
            let why = format!("waves of the seam are in the window after t = {LAST_TIME}");
            names.map(|name| Check::skipped(name, why.clone())).to_vec()
        } else {
            let scale = SIDE_OF_GATES / profile.side();
            let norms = profile.norms((-WINDOW, WINDOW), exact);
            let note = format!("mean of |deviation| by volume, |x| < {WINDOW}");
            norm_checks(names, norms, [1.0; 3], GATES.map(|gate| gate * scale), &note).to_vec()
        };
        checks.push(subject.drift_check(5e-3));
        let picture = profile.picture(&title(Self::TITLE, subject), "x", (-WINDOW, WINDOW), exact);
        Findings { checks, pictures: vec![("profiles", picture)] }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases::tools::testing::{NOWHERE, exact, failed, measured, subject};
    use crate::space::Vec3d;

    fn case() -> Sod {
        Sod { side: 32, depth: 16, arrangement: Arrangement::FaceCentered, seed: 1 }
    }

    #[test]
    fn masses_are_equal_and_energies_give_the_pressures() {
        let case = case();
        let layout = case.layout(&NOWHERE, 0..case.count());
        let [lower, upper] = case.corners().unwrap();
        let section = (upper[1] - lower[1]) * (upper[2] - lower[2]);
        let mass = 1.125 * section / case.count() as f64;
        for row in 0..layout.positions.len() {
            assert!((layout.mass.at(row) / mass - 1.0).abs() < 1e-12);
            let pressure = 0.4 * layout.internal_energy.at(row);
            let expected = if layout.positions[row].x < 0.0 { 1.0 } else { 0.8 };
            assert!((pressure / expected - 1.0).abs() < 1e-12);
        }
    }

    #[test]
    fn the_solution_passes_and_errors_are_found() {
        let case = case();
        let layout = case.layout(&NOWHERE, 0..case.count());
        let riemann = Riemann::new(LEFT, RIGHT, GAMMA);
        let at = |shift: f64| {
            exact(&layout, GAMMA, |position| {
                let state = riemann.at((position.x - shift) / 0.2);
                (state.density, Vec3d::new(state.velocity, 0.0, 0.0), state.pressure)
            })
        };
        let particles = at(0.0);
        let findings = case.judge(&subject(&particles, 0.2, GAMMA));
        assert!(failed(&findings).is_empty());
        for name in ["L1 density", "L1 velocity", "L1 pressure"] {
            assert!(measured(&findings, name) < 1e-12);
        }
        assert_eq!(findings.pictures[0].0, "profiles");
        // waves that are ahead by two particles
        let findings = case.judge(&subject(&at(0.15), 0.2, GAMMA));
        assert_eq!(failed(&findings), ["L1 density", "L1 velocity", "L1 pressure"]);
        let late = case.judge(&subject(&particles, 0.3, GAMMA));
        assert!(late.checks.iter().all(|check| check.measured.is_none()));
    }
}
