//! What the unit tests of cases share.

use crate::cases::case::GAS;
use crate::cases::{Check, Findings, Outcome, Subject, Surroundings};
use crate::layout::Layout;
use crate::particles::{Field, Particles};
use crate::space::{Boundary, Vec3d};

/// No gas, no gravity, an open boundary without a box.
pub const NOWHERE: Surroundings = Surroundings {
    gas: false,
    gamma: None,
    sound_speed: None,
    gravity: None,
    softening: None,
    point_mass: None,
    fixed_step: None,
    corners: None,
    boundary: [Boundary::Open; 3],
    noise: None,
};

/// The particles of a layout as a snapshot has them, with density, velocity and pressure of `state` at each
/// position, for an adiabatic exponent.
pub fn exact(layout: &Layout, gamma: f64, state: impl Fn(&Vec3d) -> (f64, Vec3d, f64)) -> Particles {
    let mut particles = Particles::new(&[GAS, &[Field::SmoothingLength]].concat(), layout.positions.len());
    for (row, position) in layout.positions.iter().enumerate() {
        let (density, velocity, pressure) = state(position);
        particles.id[row] = row as u64;
        particles.set_vector(Field::Position, row, *position);
        particles.set_vector(Field::Velocity, row, velocity);
        particles.scalar_mut(Field::Mass)[row] = layout.mass.at(row);
        particles.scalar_mut(Field::Density)[row] = density;
        particles.scalar_mut(Field::InternalEnergy)[row] = pressure / density / (gamma - 1.0);
        let volume = 100.0 * layout.mass.at(row) / density;
        particles.scalar_mut(Field::SmoothingLength)[row] =
            0.5 * (0.75 * volume / std::f64::consts::PI).cbrt();
    }
    particles
}

/// The subject of particles without a history.
pub fn subject(particles: &Particles, time: f64, gamma: f64) -> Subject<'_> {
    Subject { particles, time, gamma: Some(gamma), history: None, surroundings: None }
}

/// Names of the checks that failed.
pub fn failed(findings: &Findings) -> Vec<&'static str> {
    let failed = |check: &&Check| check.outcome == Outcome::Failed;
    findings.checks.iter().filter(failed).map(|check| check.name).collect()
}

/// Measured figure of a check.
pub fn measured(findings: &Findings, name: &str) -> f64 {
    findings.checks.iter().find(|check| check.name == name).unwrap().measured.unwrap()
}
