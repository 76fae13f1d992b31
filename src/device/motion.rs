//! Motion on a device: velocity Verlet, thermostats, the motion of the whole. Mirrors [`crate::motion`] column for column;
//! kernels/motion say where bits are the same.
//!
//! Functions start kernels and return; those that give numbers wait for them.

use super::reduction::{
    Findings, PIECE, Sums, THREADS, Vector, bounds, first_row, largest, map_blocks, over_rows,
};
use super::{Argument, Buffer, Device};
use crate::Result;
use crate::motion::thermostat::Langevin;
use crate::motion::whole::Whole;
use crate::space::Vec3d;
use std::ops::Range;

/// Where particles are and how they move.
#[derive(Clone, Copy, Debug)]
pub struct Moving<'a> {
    /// Positions.
    pub position: Vector<'a>,
    /// Velocities.
    pub velocity: Vector<'a>,
    /// Accelerations.
    pub acceleration: Vector<'a>,
}

/// What a drift did.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Drifted {
    /// Rows that were left as they were, because they would have moved too far or to no place.
    pub refused: u32,
    /// No particle came farther than this.
    pub farthest: f64,
    /// Heat that a thermostat gave meanwhile.
    pub heat: f64,
}

/// What the kernels of motion need beside the particles.
#[derive(Debug)]
pub struct Motion {
    device: Device,
    findings: Findings,
    /// A bit a row that the last drift left.
    left: Buffer<u32>,
    heat: Sums,
    sums: Sums,
}

/// Words of what was found: refused rows, the largest square, the first row that is not finite.
const REFUSED: usize = 0;
const SQUARE: usize = 1;
const NOT_FINITE: usize = 2;
const WORDS: usize = 3;

impl Motion {
    /// For the particles of a device.
    ///
    /// # Errors
    /// Those of the device.
    pub fn new(device: &Device) -> Result<Self> {
        Ok(Self {
            device: device.clone(),
            findings: Findings::new(device, WORDS)?,
            left: Buffer::new(device, 0)?,
            heat: Sums::new(device)?,
            sums: Sums::new(device)?,
        })
    }

    /// First half of a step of velocity Verlet of length `dt`: half a kick, and the drift; no particle moves farther than
    /// `farthest` in any direction. [`Self::drifted`] tells what it did.
    ///
    /// # Errors
    /// Those of the device.
    pub fn kick_and_drift(
        &mut self,
        moving: &Moving,
        rows: Range<usize>,
        dt: f64,
        farthest: f64,
    ) -> Result<()> {
        self.begin(&rows)?;
        let Moving { position: [x, y, z], velocity: [u, v, w], acceleration: [a, b, c] } = *moving;
        let [begin, end] = bounds(&rows);
        let (refused, square) = (self.findings.at(REFUSED), self.findings.at(SQUARE));
        let arguments: [&dyn Argument; 16] =
            [x, y, z, u, v, w, a, b, c, &dt, &farthest, &begin, &end, &self.left, &refused, &square];
        over_rows(&self.device, "motion/verlet.cu", "verlet_kick_and_drift", &rows, &arguments)
    }

    /// First half of step number `step` with the Langevin thermostat, which needs masses and ids: half a kick, half a drift,
    /// friction and noise, half a drift. [`Self::drifted_heated`] tells what it did.
    ///
    /// # Errors
    /// Those of the device.
    #[allow(clippy::too_many_arguments)]
    pub fn langevin_kick_and_drift(
        &mut self,
        langevin: &Langevin,
        moving: &Moving,
        mass: &Buffer<f64>,
        id: &Buffer<u64>,
        rows: Range<usize>,
        dt: f64,
        step: u64,
        farthest: f64,
    ) -> Result<()> {
        self.begin(&rows)?;
        let Moving { position: [x, y, z], velocity: [u, v, w], acceleration: [a, b, c] } = *moving;
        let [begin, end] = bounds(&rows);
        let [decay, noise] = langevin.decay_and_noise(dt);
        let (refused, square) = (self.findings.at(REFUSED), self.findings.at(SQUARE));
        let heat = self.heat.room(1, rows.len().div_ceil(THREADS as usize))?;
        let arguments: [&dyn Argument; 23] = [
            x,
            y,
            z,
            u,
            v,
            w,
            a,
            b,
            c,
            mass,
            id,
            &dt,
            &farthest,
            &decay,
            &noise,
            &langevin.seed,
            &step,
            &begin,
            &end,
            &self.left,
            &refused,
            &square,
            heat,
        ];
        over_rows(&self.device, "motion/langevin.cu", "langevin_kick_and_drift", &rows, &arguments)
    }

    /// Nothing found, and room to note which rows are left.
    fn begin(&mut self, rows: &Range<usize>) -> Result<()> {
        self.findings.clear()?;
        self.left.resize(rows.len().div_ceil(32))
    }

    /// What the last [`Self::kick_and_drift`], a step of length `dt`, did.
    ///
    /// # Errors
    /// Those of the device.
    pub fn drifted(&self, dt: f64) -> Result<Drifted> {
        let words = self.findings.read()?;
        let square = largest(words[SQUARE]).unwrap_or(0.0) * dt * dt;
        Ok(Drifted { refused: words[REFUSED] as u32, farthest: above(square), heat: 0.0 })
    }

    /// What the last [`Self::langevin_kick_and_drift`] did.
    ///
    /// # Errors
    /// Those of the device.
    pub fn drifted_heated(&self) -> Result<Drifted> {
        let words = self.findings.read()?;
        let square = largest(words[SQUARE]).unwrap_or(0.0);
        let heat = self.heat.finish()?[0];
        Ok(Drifted { refused: words[REFUSED] as u32, farthest: above(square), heat })
    }

    /// The rows that the last drift left.
    ///
    /// # Errors
    /// Those of the device.
    pub fn left_rows(&self, rows: Range<usize>) -> Result<Vec<usize>> {
        let words = self.left.download()?;
        let left = |row: &usize| {
            let place = row - rows.start;
            words[place / 32] >> (place % 32) & 1 == 1
        };
        Ok(rows.clone().filter(left).collect())
    }

    /// Half a kick with the step `dt`, of `-dt` to take such a kick back; with `but_left` not of the rows that the last
    /// drift left.
    ///
    /// # Errors
    /// Those of the device.
    pub fn kick(&self, moving: &Moving, rows: Range<usize>, dt: f64, but_left: bool) -> Result<()> {
        let Moving { velocity: [u, v, w], acceleration: [a, b, c], .. } = *moving;
        let ([begin, end], left) = (bounds(&rows), but_left.then_some(&self.left));
        let arguments: [&dyn Argument; 10] = [u, v, w, a, b, c, &dt, &begin, &end, &left];
        over_rows(&self.device, "motion/verlet.cu", "verlet_kick", &rows, &arguments)
    }

    /// Take the drift of [`Self::kick_and_drift`] back, to rounding.
    ///
    /// # Errors
    /// Those of the device.
    pub fn drift_back(&self, moving: &Moving, rows: Range<usize>, dt: f64, but_left: bool) -> Result<()> {
        let Moving { position: [x, y, z], velocity: [u, v, w], .. } = *moving;
        let ([begin, end], left) = (bounds(&rows), but_left.then_some(&self.left));
        let arguments: [&dyn Argument; 10] = [x, y, z, u, v, w, &dt, &begin, &end, &left];
        over_rows(&self.device, "motion/verlet.cu", "verlet_drift_back", &rows, &arguments)
    }

    /// Take drift, friction and noise of [`Self::langevin_kick_and_drift`] back, to the rounding that the friction makes
    /// larger.
    ///
    /// # Errors
    /// Those of the device.
    #[allow(clippy::too_many_arguments)]
    pub fn langevin_drift_back(
        &self,
        langevin: &Langevin,
        moving: &Moving,
        mass: &Buffer<f64>,
        id: &Buffer<u64>,
        rows: Range<usize>,
        dt: f64,
        step: u64,
        but_left: bool,
    ) -> Result<()> {
        let Moving { position: [x, y, z], velocity: [u, v, w], .. } = *moving;
        let ([begin, end], left) = (bounds(&rows), but_left.then_some(&self.left));
        let [decay, noise] = langevin.decay_and_noise(dt);
        let arguments: [&dyn Argument; 16] =
            [x, y, z, u, v, w, mass, id, &dt, &decay, &noise, &langevin.seed, &step, &begin, &end, &left];
        over_rows(&self.device, "motion/langevin.cu", "langevin_drift_back", &rows, &arguments)
    }

    /// Accelerations from forces and masses; with a step other than 0 the second half of its kick too, but not where the
    /// acceleration is not finite. [`Self::first_not_finite`] tells of these.
    ///
    /// # Errors
    /// Those of the device.
    pub fn accelerate(
        &mut self,
        force: Vector,
        mass: &Buffer<f64>,
        moving: &Moving,
        rows: Range<usize>,
        dt: f64,
    ) -> Result<()> {
        self.findings.clear()?;
        let Moving { velocity: [u, v, w], acceleration: [a, b, c], .. } = *moving;
        let ([f, g, h], [begin, end], first) = (force, bounds(&rows), self.findings.at(NOT_FINITE));
        let arguments: [&dyn Argument; 14] = [f, g, h, mass, a, b, c, u, v, w, &dt, &begin, &end, &first];
        over_rows(&self.device, "motion/verlet.cu", "accelerate", &rows, &arguments)
    }

    /// The first row to which [`Self::accelerate`] gave an acceleration that is not finite.
    ///
    /// # Errors
    /// Those of the device.
    pub fn first_not_finite(&self) -> Result<Option<usize>> {
        Ok(first_row(self.findings.read()?[NOT_FINITE]))
    }

    /// Mass, momentum and kinetic energy of these rows: the same bits in every run.
    ///
    /// # Errors
    /// Those of the device.
    pub fn whole(&mut self, velocity: Vector, mass: &Buffer<f64>, rows: Range<usize>) -> Result<Whole> {
        let ([u, v, w], [begin, end]) = (velocity, bounds(&rows));
        let partial = self.sums.room(5, rows.len().div_ceil(PIECE))?;
        let arguments: [&dyn Argument; 7] = [u, v, w, mass, &begin, &end, partial];
        map_blocks(&self.device, "motion/whole.cu", "whole_motion", &rows, &arguments)?;
        let sums = self.sums.finish()?;
        Ok(Whole {
            particles: rows.len() as u64,
            mass: sums[0],
            momentum: Vec3d::new(sums[1], sums[2], sums[3]),
            kinetic: sums[4],
        })
    }

    /// Let every velocity v become `v scale + offset`.
    ///
    /// # Errors
    /// Those of the device.
    pub fn scale(&self, velocity: Vector, rows: Range<usize>, scale: f64, offset: Vec3d) -> Result<()> {
        let ([u, v, w], [begin, end]) = (velocity, bounds(&rows));
        let arguments: [&dyn Argument; 9] = [u, v, w, &scale, &offset.x, &offset.y, &offset.z, &begin, &end];
        over_rows(&self.device, "motion/whole.cu", "scale_velocities", &rows, &arguments)
    }
}

/// A way above what rounding takes from the square root of its square.
fn above(square: f64) -> f64 {
    square.sqrt() * (1.0 + 1e-9)
}
