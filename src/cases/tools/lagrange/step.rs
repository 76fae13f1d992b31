//! The time step of the solver.

use super::riemann::contact;
use super::{Geometry, Lagrange, Outside};
use crate::cases::tools::profile::State;

/// Largest step over the time in which sound crosses a cell.
const COURANT: f64 = 0.8;
/// Largest change of a cell's width in a step.
const CHANGE: f64 = 0.2;
/// Smallest value of density and pressure at a face over that of the cell.
const LEAST: f64 = 0.05;
/// Smallest specific internal energy that enters the pressure, over the specific kinetic energy: in cold gas
/// the difference of total and kinetic energy is lost in the truncation error.
const COLDEST: f64 = 1e-12;

/// States in columns, so that loops vectorize.
#[derive(Default)]
struct Columns {
    density: Vec<f64>,
    velocity: Vec<f64>,
    pressure: Vec<f64>,
}

/// Buffers of a step.
#[derive(Default)]
struct Buffers {
    /// Centroids and states of the cells, with a ghost cell before the first and one after the last.
    at: Vec<f64>,
    cells: Columns,
    /// States of the cells at their faces after half a step; those of the ghost cells are mirror images.
    inner: Columns,
    outer: Columns,
    /// Pressure and velocity of the faces.
    pressure: Vec<f64>,
    velocity: Vec<f64>,
    /// Their positions after the step.
    moved: Vec<f64>,
}

impl Lagrange {
    /// Advances the flow to a later time.
    pub fn advance(&mut self, until: f64) {
        let mut buffers = Buffers::new(self.masses.len());
        while self.time < until {
            let step = self.gather(&mut buffers);
            let last = self.time + step >= until;
            let step = if last { until - self.time } else { step };
            self.predict(step, &mut buffers);
            self.solve(&mut buffers);
            self.update(step, &mut buffers);
            self.time = if last { until } else { self.time + step };
            self.steps += 1;
        }
    }

    /// Fills centroids and states, and returns the largest stable step.
    fn gather(&self, buffers: &mut Buffers) -> f64 {
        let (geometry, gamma, count) = (self.setup.geometry, self.setup.gamma, self.masses.len());
        let Buffers { at, cells, .. } = buffers;
        let (masses, energies, velocities) =
            (&self.masses[..], &self.energies[..count], &self.velocities[..count]);
        let (first, second) = (&self.faces[..count], &self.faces[1..=count]);
        {
            let (at, density) = (&mut at[1..=count], &mut cells.density[1..=count]);
            let (velocity, pressure) = (&mut cells.velocity[1..=count], &mut cells.pressure[1..=count]);
            for k in 0..count {
                let (a, b) = (first[k], second[k]);
                at[k] = geometry.centroid(a, b);
                density[k] = masses[k] / (geometry.mean_area(a, b) * (b - a));
                velocity[k] = velocities[k];
                let kinetic = 0.5 * velocities[k] * velocities[k];
                let thermal = (energies[k] - kinetic).max(COLDEST * kinetic + f64::MIN_POSITIVE);
                pressure[k] = (gamma - 1.0) * density[k] * thermal;
            }
        }
        cells.mirror(0, 1);
        cells.mirror(count + 1, count);
        (at[0], at[count + 1]) = (2.0 * self.faces[0] - at[1], 2.0 * self.faces[count] - at[count]);
        if self.setup.outside == Outside::Vacuum {
            // the slope of the velocity is 0 in the last cell
            cells.velocity[count + 1] = cells.velocity[count];
        }
        let mut rate: f64 = 0.0;
        for k in 0..count {
            let sound = (gamma * cells.pressure[k + 1] / cells.density[k + 1]).sqrt();
            let change = (cells.velocity[k + 2] - cells.velocity[k]).abs();
            rate = rate.max((sound / COURANT + 0.5 * change / CHANGE) / (second[k] - first[k]));
        }
        1.0 / rate
    }

    /// Computes the states of the cells at their faces, half a step later.
    fn predict(&self, step: f64, buffers: &mut Buffers) {
        let (geometry, gamma, gravity) = (self.setup.geometry, self.setup.gamma, self.gravity());
        let count = self.masses.len();
        let half = 0.5 * step;
        let (first, second) = (&self.faces[..count], &self.faces[1..=count]);
        let (before, masses) = (&self.before[..count], &self.masses[..count]);
        let centers = Neighbors::new(&buffers.at, count);
        let densities = Neighbors::new(&buffers.cells.density, count);
        let velocities = Neighbors::new(&buffers.cells.velocity, count);
        let pressures = Neighbors::new(&buffers.cells.pressure, count);
        let inner = buffers.inner.inside(count);
        let outer = buffers.outer.inside(count);
        for k in 0..count {
            let (a, b, at) = (first[k], second[k], centers.own[k]);
            let distances = (1.0 / (at - centers.lower[k]), 1.0 / (centers.upper[k] - at));
            let [slope_density, slope_velocity, slope_pressure] =
                [&densities, &velocities, &pressures].map(|column| column.slope(k, distances));
            let (density, velocity, pressure) = (densities.own[k], velocities.own[k], pressures.own[k]);
            let (speed_a, speed_b) =
                (velocity + slope_velocity * (a - at), velocity + slope_velocity * (b - at));
            let divergence = (geometry.area(b) * speed_b - geometry.area(a) * speed_a)
                / (geometry.mean_area(a, b) * (b - a));
            let pull = gravity * (before[k] + 0.5 * masses[k]) / (at * at).max(f64::MIN_POSITIVE);
            let kick = half * (slope_pressure / density + pull);
            let (thinned, cooled) =
                (density * (1.0 - half * divergence), pressure * (1.0 - half * gamma * divergence));
            let (least, lowest) = (LEAST * density, LEAST * pressure);
            inner.density[k] = (thinned + slope_density * (a - at)).max(least);
            outer.density[k] = (thinned + slope_density * (b - at)).max(least);
            inner.pressure[k] = (cooled + slope_pressure * (a - at)).max(lowest);
            outer.pressure[k] = (cooled + slope_pressure * (b - at)).max(lowest);
            inner.velocity[k] = speed_a - kick;
            outer.velocity[k] = speed_b - kick;
        }
        // mirror images beyond both ends
        for column in [0, 1, 2] {
            let sign = if column == 1 { -1.0 } else { 1.0 };
            buffers.outer.column(column)[0] = sign * buffers.inner.column(column)[1];
            buffers.inner.column(column)[count + 1] = sign * buffers.outer.column(column)[count];
        }
    }

    /// Solves the Riemann problems at the faces.
    fn solve(&self, buffers: &mut Buffers) {
        let (gamma, count) = (self.setup.gamma, self.masses.len());
        let faces = count + 1;
        let left = buffers.outer.shared(0..faces);
        let right = buffers.inner.shared(1..faces + 1);
        let (pressure, velocity) = (&mut buffers.pressure[..faces], &mut buffers.velocity[..faces]);
        for k in 0..faces {
            (pressure[k], velocity[k]) = contact(left.at(k), right.at(k), gamma);
        }
        velocity[0] = 0.0;
        match self.setup.outside {
            Outside::Wall => velocity[count] = 0.0,
            Outside::Vacuum => {
                let last = left.at(count);
                pressure[count] = 0.0;
                velocity[count] = last.velocity + (last.pressure / (gamma * last.density)).sqrt();
            }
        }
    }

    /// Moves the faces, and exchanges momentum and energy through them.
    fn update(&mut self, step: f64, buffers: &mut Buffers) {
        let (geometry, gravity, count) = (self.setup.geometry, self.gravity(), self.masses.len());
        let (pressure, velocity) = (&buffers.pressure[..=count], &buffers.velocity[..=count]);
        let (old, new) = (&self.faces[..=count], &mut buffers.moved[..=count]);
        for k in 0..=count {
            new[k] = old[k] + step * velocity[k];
        }
        // acceleration of a face: the difference quotient of its potential energy
        let pull = |k: usize| match gravity * self.before[k] {
            0.0 => 0.0,
            attraction => attraction / (old[k] * new[k]),
        };
        let work = |k: usize| geometry.mean_area(old[k], new[k]) * pressure[k] * velocity[k];
        let (mut inner_pull, mut inner_work) = (pull(0), work(0));
        for k in 0..count {
            let (outer_pull, outer_work) = (pull(k + 1), work(k + 1));
            let (a, b) = (0.5 * (old[k] + new[k]), 0.5 * (old[k + 1] + new[k + 1]));
            let push = geometry.mean_area(a, b) * (pressure[k] - pressure[k + 1]) / self.masses[k];
            self.velocities[k] += step * (push - 0.5 * (inner_pull + outer_pull));
            let lost = 0.5 * (inner_pull * velocity[k] + outer_pull * velocity[k + 1]);
            self.energies[k] += step * ((inner_work - outer_work) / self.masses[k] - lost);
            (inner_pull, inner_work) = (outer_pull, outer_work);
        }
        std::mem::swap(&mut self.faces, &mut buffers.moved);
    }
}

/// A column of the cells, shifted to either side.
struct Neighbors<'a> {
    lower: &'a [f64],
    own: &'a [f64],
    upper: &'a [f64],
}

impl<'a> Neighbors<'a> {
    /// `column` has a ghost cell at either end.
    fn new(column: &'a [f64], count: usize) -> Self {
        Self { lower: &column[..count], own: &column[1..=count], upper: &column[2..count + 2] }
    }

    /// Slope in a cell: the harmonic mean of the slopes to either side if they have the same sign, else 0
    /// (van Leer 1977). `inverse` are the inverse distances of the neighbors.
    #[inline(always)]
    fn slope(&self, k: usize, inverse: (f64, f64)) -> f64 {
        let inner = (self.own[k] - self.lower[k]) * inverse.0;
        let outer = (self.upper[k] - self.own[k]) * inverse.1;
        let product = (inner * outer).max(0.0);
        let sum = inner + outer;
        2.0 * product * sum / (sum * sum + f64::MIN_POSITIVE)
    }
}

/// Columns borrowed.
struct Shared<'a> {
    density: &'a [f64],
    velocity: &'a [f64],
    pressure: &'a [f64],
}

impl Shared<'_> {
    #[inline(always)]
    fn at(&self, k: usize) -> State {
        State { density: self.density[k], velocity: self.velocity[k], pressure: self.pressure[k] }
    }
}

/// Columns borrowed for writing.
struct Exclusive<'a> {
    density: &'a mut [f64],
    velocity: &'a mut [f64],
    pressure: &'a mut [f64],
}

impl Columns {
    fn new(rows: usize) -> Self {
        Self { density: vec![0.0; rows], velocity: vec![0.0; rows], pressure: vec![0.0; rows] }
    }

    /// Fills a ghost cell with the mirror image of a cell at a wall.
    fn mirror(&mut self, ghost: usize, cell: usize) {
        self.density[ghost] = self.density[cell];
        self.velocity[ghost] = -self.velocity[cell];
        self.pressure[ghost] = self.pressure[cell];
    }

    fn column(&mut self, k: usize) -> &mut [f64] {
        match k {
            0 => &mut self.density,
            1 => &mut self.velocity,
            _ => &mut self.pressure,
        }
    }

    fn shared(&self, rows: std::ops::Range<usize>) -> Shared<'_> {
        Shared {
            density: &self.density[rows.clone()],
            velocity: &self.velocity[rows.clone()],
            pressure: &self.pressure[rows],
        }
    }

    /// The rows between the ghost cells.
    fn inside(&mut self, count: usize) -> Exclusive<'_> {
        Exclusive {
            density: &mut self.density[1..=count],
            velocity: &mut self.velocity[1..=count],
            pressure: &mut self.pressure[1..=count],
        }
    }
}

impl Buffers {
    fn new(count: usize) -> Self {
        let rows = count + 2;
        Self {
            at: vec![0.0; rows],
            cells: Columns::new(rows),
            inner: Columns::new(rows),
            outer: Columns::new(rows),
            pressure: vec![0.0; count + 1],
            velocity: vec![0.0; count + 1],
            moved: vec![0.0; count + 1],
        }
    }
}

impl Geometry {
    /// Area at a coordinate.
    #[inline(always)]
    fn area(self, at: f64) -> f64 {
        self.mean_area(at, at)
    }
}
