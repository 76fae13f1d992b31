//! The implosion of Noh (1987, J. Comput. Phys. 72, 78): cold gas of density 1 falls to the origin with
//! speed 1. A shock moves outward with (gamma - 1) / 2. Behind it the gas is at rest with the density
//! ((gamma + 1) / (gamma - 1))^3 (64 for 5/3); ahead it has the density (1 + t / r)^2.
//!
//! The start is a ball of radius 1 in free space, whose surface is at 1 - t. The solution is exact.

use std::ops::Range;

use super::case::{ARRANGEMENT, Case, CaseReader, NOISE, PARTICLES, SEED, Surroundings, Template};
use super::tools::profile::{Profile, State, norm_checks};
use super::tools::radial::Radial;
use super::tools::subject::title;
use super::{Check, Findings, Subject};
use crate::layout::ball::{Ball, RadialProfile};
use crate::layout::glass::Tile;
use crate::layout::{Arrangement, Layout, Values};
use crate::sections::{Default, POSITIVE, Section, key, number, section};
use crate::space::{Boundary, Vec3d};
use serde::{Deserialize, Serialize};

const GAMMA: f64 = 5.0 / 3.0;
/// Gates at 50^3 particles: relative to the exact density behind the shock, to the speed 1, and to the
/// pressure behind the shock. They are 1.25 times the norms of the default settings, which shrink with the
/// distance of the particles to the powers `ORDERS`.
const GATES: [f64; 3] = [0.1, 0.092, 0.09];
const ORDERS: [f64; 3] = [1.0, 1.5, 1.0];
const PARTICLES_OF_GATES: f64 = 125_000.0;
/// Largest radius of the norms, as a fraction of that of the surface.
const WINDOW: f64 = 0.9;

/// `[start.noh]`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Noh {
    /// Number of particles, >= 1.
    pub particles: u64,
    /// The layout.
    pub arrangement: Arrangement,
    /// Seed of the random numbers.
    pub seed: u64,
    /// Specific internal energy of the falling gas, > 0.
    pub internal_energy: f64,
}

/// A uniform ball.
struct Uniform;

impl RadialProfile for Uniform {
    fn radius(&self, mass_fraction: f64) -> f64 {
        mass_fraction.cbrt()
    }

    fn stretch(&self, _q: f64) -> f64 {
        1.0
    }
}

/// The solution.
#[derive(Clone, Copy, Debug)]
struct Solution {
    time: f64,
    gamma: f64,
}

impl Solution {
    fn shock(&self) -> f64 {
        0.5 * (self.gamma - 1.0) * self.time
    }

    fn inside(&self) -> State {
        let density = ((self.gamma + 1.0) / (self.gamma - 1.0)).powi(3);
        State { density, velocity: 0.0, pressure: 0.5 * (self.gamma - 1.0) * density }
    }

    fn at(&self, radius: f64) -> State {
        if radius < self.shock() {
            return self.inside();
        }
        State { density: (1.0 + self.time / radius).powi(2), velocity: -1.0, pressure: 0.0 }
    }
}

impl Case for Noh {
    const SECTION: Section = section(
        "start.noh",
        "Noh's implosion: a ball of radius 1 and density 1 of cold gas that falls inward with speed 1.",
        &[
            PARTICLES,
            ARRANGEMENT,
            NOISE,
            SEED,
            key(
                "internal_energy",
                number(POSITIVE),
                Default::Value("1e-6"),
                "Specific internal energy of the falling gas.",
            )
            .also(&["u"]),
        ],
    );
    const TITLE: &'static str = "Noh implosion";
    const TEMPLATE: Template = Template {
        title: "Noh implosion",
        sections: &["sph"],
        settings: &[
            ("run.end_time", "0.6"),
            ("start.noh.particles", "100_000"),
            ("output.directory", "\"out/noh\""),
            ("output.snapshots.every_time", "0.1"),
        ],
        omitted: &[],
    };

    fn read(section: &mut dyn CaseReader) -> Self {
        Self {
            particles: section.integer("particles"),
            arrangement: section.arrangement(),
            seed: section.integer("seed"),
            internal_energy: section.number("internal_energy"),
        }
    }

    fn check(&self, surroundings: &Surroundings, section: &mut dyn CaseReader) {
        section.require_ideal_gas(surroundings);
        section.require_boundary(surroundings, Boundary::Open);
    }

    fn count(&self) -> u64 {
        self.particles
    }

    fn seed(&self) -> u64 {
        self.seed
    }

    fn tiles(&self) -> Vec<Tile> {
        Ball::tile(self.particles, self.arrangement, self.seed).into_iter().collect()
    }

    fn layout(&self, surroundings: &Surroundings, share: Range<u64>) -> Layout {
        let positions = Ball::quiet(self.particles, self.arrangement, self.seed, surroundings.noise)
            .positions(&Uniform, share);
        let volume = 4.0 / 3.0 * std::f64::consts::PI / self.particles.max(1) as f64;
        let inward = |position: &Vec3d| -position.try_normalize(0.0).unwrap_or_else(Vec3d::zeros);
        Layout {
            velocities: Some(positions.iter().map(inward).collect()),
            positions,
            mass: Values::Uniform(volume),
            internal_energy: Values::Uniform(self.internal_energy),
            volume_of: Box::new(move |_, neighbors| neighbors * volume),
        }
    }

    fn judge(&self, subject: &Subject) -> Findings {
        let gamma = subject.gamma.unwrap_or(GAMMA);
        let solution = Solution { time: subject.time, gamma };
        let profile = Profile::radial(subject.particles, gamma, Vec3d::zeros());
        let names = ["L1 density", "L1 velocity", "L1 pressure"];
        let scale = (PARTICLES_OF_GATES / profile.rows.len().max(1) as f64).cbrt();
        let outer = WINDOW * (1.0 - subject.time);
        let mut checks = if outer < 1.2 * solution.shock() {
            names.map(|name| Check::skipped(name, "the shock is at the surface")).to_vec()
        } else {
            let units = [solution.inside().density, 1.0, solution.inside().pressure];
            let gates = std::array::from_fn(|k| GATES[k] * scale.powf(ORDERS[k]));
            let norms = profile.norms((0.0, outer), |radius| solution.at(radius));
            let note = format!("by volume, r < {outer:.3}, over the values behind the shock");
            norm_checks(names, norms, units, gates, &note).to_vec()
        };
        checks.push(shock_check(subject, gamma, &solution));
        checks.push(subject.drift_check(5e-3));
        let range = (0.0, (1.0 - subject.time).max(0.1));
        let picture =
            profile.picture(&title(Self::TITLE, subject), "radius r", range, |radius| solution.at(radius));
        Findings { checks, pictures: vec![("profiles", picture)] }
    }
}

/// The distance of the shock from the exact one, in smoothing lengths.
fn shock_check(subject: &Subject, gamma: f64, solution: &Solution) -> Check {
    let name = "shock radius / h";
    let expected = solution.shock();
    if expected < 0.02 {
        return Check::skipped(name, "the shock has hardly formed");
    }
    let found = Radial::new(subject.particles, gamma).shock((0.3 * expected, 2.0 * expected));
    let check = Check::gated(name, found.map(|(radius, h)| (radius - expected).abs() / h), 1.5, None);
    match found {
        Some((radius, h)) => check.noting(format!("at {radius:.4}, exact {expected:.4}, h {h:.4}")),
        None => check,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases::tools::testing::{NOWHERE, exact, failed, measured, subject};

    #[test]
    fn the_solution_keeps_mass_momentum_and_energy_at_the_shock() {
        for gamma in [1.4, GAMMA, 2.0] {
            let solution = Solution { time: 0.6, gamma };
            let speed = solution.shock() / 0.6;
            let (behind, ahead) = (solution.inside(), solution.at(solution.shock() * (1.0 + 1e-12)));
            let flux = ahead.density * (speed + 1.0);
            assert!((behind.density * speed / flux - 1.0).abs() < 1e-9);
            assert!((behind.pressure / flux - 1.0).abs() < 1e-9);
            // the thermal energy behind is the kinetic energy ahead
            let energy = behind.pressure / behind.density / (gamma - 1.0);
            assert!((energy - 0.5).abs() < 1e-12);
        }
        let inside = Solution { time: 0.6, gamma: GAMMA }.inside();
        assert!((inside.density - 64.0).abs() < 1e-9 && (inside.pressure - 64.0 / 3.0).abs() < 1e-9);
    }

    #[test]
    fn the_solution_passes_and_errors_are_found() {
        let case =
            Noh { particles: 20_000, arrangement: Arrangement::FaceCentered, seed: 1, internal_energy: 1e-6 };
        let mut layout = case.layout(&NOWHERE, 0..case.count());
        let mass: f64 = (0..layout.positions.len()).map(|row| layout.mass.at(row)).sum();
        assert!((mass / (4.0 / 3.0 * std::f64::consts::PI) - 1.0).abs() < 1e-12);
        // each shell where it is at t = 0.6: M(<r) is 64 r^3 inside the shock, (r + t)^3 outside
        for position in &mut layout.positions {
            let start = position.norm();
            let radius = if start < 0.8 { start / 4.0 } else { start - 0.6 };
            *position *= radius / start.max(1e-12);
        }
        let at = |time: f64| {
            let solution = Solution { time, gamma: GAMMA };
            exact(&layout, GAMMA, |position| {
                let state = solution.at(position.norm());
                let direction = position.try_normalize(0.0).unwrap_or_else(Vec3d::zeros);
                (state.density, direction * state.velocity, state.pressure)
            })
        };
        let findings = case.judge(&subject(&at(0.6), 0.6, GAMMA));
        assert!(failed(&findings).is_empty(), "{:?}", findings.checks);
        for name in ["L1 density", "L1 velocity", "L1 pressure"] {
            assert!(measured(&findings, name) < 1e-12, "{name}");
        }
        let findings = case.judge(&subject(&at(0.2), 0.6, GAMMA));
        assert!(failed(&findings).contains(&"L1 density"), "{:?}", findings.checks);
        assert!(failed(&findings).contains(&"shock radius / h"), "{:?}", findings.checks);
    }
}
