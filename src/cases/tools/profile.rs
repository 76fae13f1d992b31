//! Profiles of a gas along a coordinate: norms of the deviation from a solution, pictures.

use super::pictures::{Panel, Picture, draw};
use super::verdict::Check;
use crate::particles::{Field, Particles};
use crate::space::Vec3d;

/// The state of a gas at a place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct State {
    /// Mass density.
    pub density: f64,
    /// Velocity along the coordinate.
    pub velocity: f64,
    /// Pressure.
    pub pressure: f64,
}

/// A particle on the coordinate.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// The coordinate.
    pub at: f64,
    /// Its state.
    pub state: State,
    /// Its volume m / density.
    pub volume: f64,
}

/// The owned particles of a gas along a coordinate.
#[derive(Clone, Debug)]
pub struct Profile {
    /// The particles, in no order.
    pub rows: Vec<Row>,
}

/// Quantities of a [`State`], in the order of the norms.
pub const QUANTITIES: [&str; 3] = ["density", "velocity", "pressure"];

impl Profile {
    /// Puts the particles of an ideal gas on a coordinate. `of` returns the coordinate and the velocity along
    /// it for a position and a velocity. The pressure is (gamma - 1) density u.
    pub fn new(particles: &Particles, gamma: f64, of: impl Fn(Vec3d, Vec3d) -> (f64, f64)) -> Self {
        let scalar = |field| particles.scalar(field);
        let (masses, densities, energies) =
            (scalar(Field::Mass), scalar(Field::Density), scalar(Field::InternalEnergy));
        let row = |row| {
            let (at, velocity) =
                of(particles.vector_at(Field::Position, row), particles.vector_at(Field::Velocity, row));
            let density = densities[row];
            let pressure = (gamma - 1.0) * density * energies[row];
            Row { at, state: State { density, velocity, pressure }, volume: masses[row] / density }
        };
        Self { rows: particles.owned().map(row).collect() }
    }

    /// Distance from `center` and radial velocity.
    pub fn radial(particles: &Particles, gamma: f64, center: Vec3d) -> Self {
        Self::new(particles, gamma, |position, velocity| {
            let outward = position - center;
            let radius = outward.norm();
            (radius, if radius > 0.0 { velocity.dot(&outward) / radius } else { 0.0 })
        })
    }

    /// Returns the number of particles along an edge of length 1 at density 1, from the mean mass.
    pub fn side(&self) -> f64 {
        let mass: f64 = self.rows.iter().map(|row| row.volume * row.state.density).sum();
        (self.rows.len() as f64 / mass).cbrt()
    }

    /// Returns the mean absolute deviations of density, velocity and pressure in a range of the coordinate,
    /// weighted by volume; `None` without particles there.
    pub fn norms(&self, (from, to): (f64, f64), exact: impl Fn(f64) -> State) -> [Option<f64>; 3] {
        let (mut sums, mut volume) = ([0.0; 3], 0.0);
        for row in self.rows.iter().filter(|row| row.at >= from && row.at < to) {
            let exact = exact(row.at).values();
            for (sum, (found, exact)) in sums.iter_mut().zip(row.state.values().into_iter().zip(exact)) {
                *sum += row.volume * (found - exact).abs();
            }
            volume += row.volume;
        }
        sums.map(|sum| (volume > 0.0).then_some(sum / volume))
    }

    /// Returns the picture of density, velocity and pressure with the solution, `range` of the coordinate.
    pub fn picture(
        &self,
        title: &str,
        coordinate: &str,
        range: (f64, f64),
        exact: impl Fn(f64) -> State,
    ) -> Picture {
        const POINTS: usize = 600;
        let curve: Vec<(f64, State)> = (0..=POINTS)
            .map(|k| range.0 + (range.1 - range.0) * k as f64 / POINTS as f64)
            .map(|at| (at, exact(at)))
            .collect();
        let panels = (0..3).map(|k| Panel {
            label: QUANTITIES[k],
            particles: self.rows.iter().map(|row| (row.at, row.state.values()[k])).collect(),
            exact: curve.iter().map(|(at, state)| (*at, state.values()[k])).collect(),
        });
        draw(title, coordinate, range, panels.collect())
    }
}

impl State {
    /// Density, velocity, pressure.
    pub fn values(self) -> [f64; 3] {
        [self.density, self.velocity, self.pressure]
    }
}

/// Returns the checks of the three norms, divided by `units`, against gates.
pub fn norm_checks(
    names: [&'static str; 3],
    norms: [Option<f64>; 3],
    units: [f64; 3],
    gates: [f64; 3],
    note: &str,
) -> [Check; 3] {
    std::array::from_fn(|k| {
        Check::gated(names[k], norms[k].map(|norm| norm / units[k]), gates[k], None).noting(note)
    })
}
