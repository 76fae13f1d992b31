//! Motion on a device: velocity Verlet, thermostats, the motion of the whole. Mirrors [`crate::motion`] column for column;
//! kernels/motion say where bits are the same.
//!
//! Functions start kernels and return; those that give numbers wait for them.

use super::arguments::langevin::{LangevinBath, LangevinDriftBackArguments, LangevinKickAndDriftArguments};
use super::arguments::verlet::{
    AccelerateArguments, VerletDriftBackArguments, VerletKickAndDriftArguments, VerletKickArguments,
};
use super::arguments::whole::{ScaleVelocitiesArguments, WholeMotionArguments};
use super::arguments::{DriftReport, Input, MovingColumns, Output};
use super::reduction::{Findings, PIECE, Sums, THREADS, Vector, first_row, largest, over_pieces, over_rows};
use super::{Buffer, Device};
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

impl From<&Moving<'_>> for MovingColumns {
    fn from(moving: &Moving) -> Self {
        Self {
            position: moving.position.map(Output::from),
            velocity: moving.velocity.map(Output::from),
            acceleration: moving.acceleration.map(Input::from),
        }
    }
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
        let arguments = VerletKickAndDriftArguments {
            moving: moving.into(),
            step: dt,
            farthest,
            rows: (&rows).into(),
            report: self.report(),
        };
        over_rows(&self.device, &rows, &arguments)
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
        let heat = self.heat.room(1, rows.len().div_ceil(THREADS as usize))?.into();
        let arguments = LangevinKickAndDriftArguments {
            moving: moving.into(),
            mass: mass.into(),
            id: id.into(),
            step: dt,
            farthest,
            bath: bath(langevin, dt, step),
            rows: (&rows).into(),
            report: self.report(),
            heat,
        };
        over_rows(&self.device, &rows, &arguments)
    }

    /// Nothing found, and room to note which rows are left.
    fn begin(&mut self, rows: &Range<usize>) -> Result<()> {
        self.findings.clear()?;
        self.left.resize(rows.len().div_ceil(32))
    }

    fn report(&self) -> DriftReport {
        DriftReport {
            left: (&self.left).into(),
            refused: self.findings.lower_half(REFUSED),
            largest_square: self.findings.word(SQUARE),
        }
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
        let arguments = VerletKickArguments {
            velocity: moving.velocity.map(Output::from),
            acceleration: moving.acceleration.map(Input::from),
            step: dt,
            rows: (&rows).into(),
            left: but_left.then_some(&self.left).into(),
        };
        over_rows(&self.device, &rows, &arguments)
    }

    /// Take the drift of [`Self::kick_and_drift`] back, to rounding.
    ///
    /// # Errors
    /// Those of the device.
    pub fn drift_back(&self, moving: &Moving, rows: Range<usize>, dt: f64, but_left: bool) -> Result<()> {
        let arguments = VerletDriftBackArguments {
            position: moving.position.map(Output::from),
            velocity: moving.velocity.map(Input::from),
            step: dt,
            rows: (&rows).into(),
            left: but_left.then_some(&self.left).into(),
        };
        over_rows(&self.device, &rows, &arguments)
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
        let arguments = LangevinDriftBackArguments {
            position: moving.position.map(Output::from),
            velocity: moving.velocity.map(Output::from),
            mass: mass.into(),
            id: id.into(),
            step: dt,
            bath: bath(langevin, dt, step),
            rows: (&rows).into(),
            left: but_left.then_some(&self.left).into(),
        };
        over_rows(&self.device, &rows, &arguments)
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
        let arguments = AccelerateArguments {
            force: force.map(Input::from),
            mass: mass.into(),
            acceleration: moving.acceleration.map(Output::from),
            velocity: moving.velocity.map(Output::from),
            step: dt,
            rows: (&rows).into(),
            first_not_finite: self.findings.lower_half(NOT_FINITE),
        };
        over_rows(&self.device, &rows, &arguments)
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
        let arguments = WholeMotionArguments {
            velocity: velocity.map(Input::from),
            mass: mass.into(),
            rows: (&rows).into(),
            partial: self.sums.room(5, rows.len().div_ceil(PIECE))?.into(),
        };
        over_pieces(&self.device, &rows, &arguments)?;
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
        let arguments = ScaleVelocitiesArguments {
            velocity: velocity.map(Output::from),
            scale,
            offset: offset.into(),
            rows: (&rows).into(),
        };
        over_rows(&self.device, &rows, &arguments)
    }
}

/// The bath of one step.
fn bath(langevin: &Langevin, dt: f64, step: u64) -> LangevinBath {
    let [decay, noise] = langevin.decay_and_noise(dt);
    LangevinBath { decay, noise, seed: langevin.seed, number: step }
}

/// A way above what rounding takes from the square root of its square.
fn above(square: f64) -> f64 {
    square.sqrt() * (1.0 + 1e-9)
}
