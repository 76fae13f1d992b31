//! One-dimensional Lagrangian Godunov solver for an ideal gas: planar, or spherical with optional
//! self-gravity. It makes the reference solutions of cases that have no closed form.
//!
//! Cells move with the gas, so their masses are constant and contacts stay sharp. A step follows Colella &
//! Woodward (1984, J. Comput. Phys. 54, 174) with piecewise linear profiles: limited slopes (van Leer 1977),
//! states at the faces advanced by half a step (Hancock), two-shock Riemann problems, conservative updates.
//! The total energy, with the potential energy, is conserved to rounding: each face exchanges the work of the
//! pressure between its cells, and its gravity is the difference quotient of the potential energy.

mod riemann;
mod step;
#[cfg(test)]
mod tests;

use super::profile::State;
use std::f64::consts::PI;

/// Symmetry of the flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Geometry {
    /// Layers of area 1.
    Planar,
    /// Whole shells about r = 0.
    Spherical,
}

/// What is beyond the last face. Before the first face there is always a reflecting wall; in spherical
/// symmetry it may be the center.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outside {
    /// A reflecting wall.
    Wall,
    /// Vacuum: the pressure at the last face is 0.
    Vacuum,
}

/// Settings of a flow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Setup {
    /// Symmetry.
    pub geometry: Geometry,
    /// Adiabatic exponent, > 1.
    pub gamma: f64,
    /// Gravitational constant of the self-gravity, >= 0; used in spherical symmetry only.
    pub gravity: f64,
    /// What is beyond the last face.
    pub outside: Outside,
}

/// A cell at one time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cell {
    /// Centroid of its volume.
    pub at: f64,
    /// Mass of all cells before it and of half of itself.
    pub enclosed: f64,
    /// Its mean state.
    pub state: State,
}

/// A flow in n cells at one time.
#[derive(Clone, Debug)]
pub struct Lagrange {
    setup: Setup,
    time: f64,
    steps: u64,
    /// Positions of the n + 1 faces, increasing.
    faces: Vec<f64>,
    /// Mass before each face.
    before: Vec<f64>,
    /// Masses of the cells.
    masses: Vec<f64>,
    velocities: Vec<f64>,
    /// Kinetic and thermal energy per mass.
    energies: Vec<f64>,
}

impl Geometry {
    /// Volume between two coordinates over their distance: the mean area.
    fn mean_area(self, a: f64, b: f64) -> f64 {
        match self {
            Self::Planar => 1.0,
            Self::Spherical => 4.0 / 3.0 * PI * (a * a + a * b + b * b),
        }
    }

    /// Centroid of the volume between two coordinates.
    fn centroid(self, a: f64, b: f64) -> f64 {
        match self {
            Self::Planar => 0.5 * (a + b),
            Self::Spherical => 0.75 * (a + b) * (a * a + b * b) / (a * a + a * b + b * b),
        }
    }
}

impl Lagrange {
    /// Creates a flow at t = 0. `faces` are increasing, in spherical symmetry from 0 on; `state` returns the
    /// mean state of the cell between two faces. Densities and pressures are positive.
    pub fn new(setup: Setup, faces: Vec<f64>, state: impl Fn(f64, f64) -> State) -> Self {
        let (mut masses, mut velocities, mut energies) = (Vec::new(), Vec::new(), Vec::new());
        let (mut before, mut mass) = (vec![0.0], 0.0);
        for pair in faces.windows(2) {
            let State { density, velocity, pressure } = state(pair[0], pair[1]);
            masses.push(density * setup.geometry.mean_area(pair[0], pair[1]) * (pair[1] - pair[0]));
            velocities.push(velocity);
            energies.push(pressure / density / (setup.gamma - 1.0) + 0.5 * velocity * velocity);
            mass += masses[masses.len() - 1];
            before.push(mass);
        }
        Self { setup, time: 0.0, steps: 0, faces, before, masses, velocities, energies }
    }

    /// Returns the time.
    pub fn time(&self) -> f64 {
        self.time
    }

    /// Returns the number of steps since t = 0.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// Returns the positions of the faces.
    pub fn faces(&self) -> &[f64] {
        &self.faces
    }

    /// Returns the cells, outward.
    pub fn cells(&self) -> Vec<Cell> {
        let cell = |k: usize| {
            let (a, b) = (self.faces[k], self.faces[k + 1]);
            Cell {
                at: self.setup.geometry.centroid(a, b),
                enclosed: self.before[k] + 0.5 * self.masses[k],
                state: self.state(k),
            }
        };
        (0..self.masses.len()).map(cell).collect()
    }

    /// Mean state of a cell.
    fn state(&self, k: usize) -> State {
        let (a, b) = (self.faces[k], self.faces[k + 1]);
        let density = self.masses[k] / (self.setup.geometry.mean_area(a, b) * (b - a));
        let velocity = self.velocities[k];
        let thermal = (self.energies[k] - 0.5 * velocity * velocity).max(f64::MIN_POSITIVE);
        State { density, velocity, pressure: (self.setup.gamma - 1.0) * density * thermal }
    }

    /// Returns kinetic, thermal and potential energy, of the whole shells in spherical symmetry. The
    /// potential energy is the sum of -G M m / r over faces that carry half of the mass of either cell.
    pub fn energies(&self) -> [f64; 3] {
        let [mut kinetic, mut total, mut potential] = [0.0; 3];
        for (k, mass) in self.masses.iter().enumerate() {
            kinetic += 0.5 * mass * self.velocities[k] * self.velocities[k];
            total += mass * self.energies[k];
            for face in [k, k + 1] {
                let distance = self.faces[face].max(f64::MIN_POSITIVE);
                potential -= 0.5 * mass * self.gravity() * self.before[face] / distance;
            }
        }
        [kinetic, total - kinetic, potential]
    }

    /// Gravitational constant; 0 in planar symmetry.
    fn gravity(&self) -> f64 {
        match self.setup.geometry {
            Geometry::Planar => 0.0,
            Geometry::Spherical => self.setup.gravity,
        }
    }
}

/// Returns `cells` + 1 faces at equal distances.
pub fn uniform(from: f64, to: f64, cells: usize) -> Vec<f64> {
    (0..=cells).map(|k| from + (to - from) * k as f64 / cells as f64).collect()
}
