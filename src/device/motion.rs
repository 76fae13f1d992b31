//! Motion on a device: velocity Verlet, Langevin thermostat, total momentum and energy. Mirrors
//! [`crate::motion`]; kernels/motion document where results are bitwise equal.
//!
//! Functions launch kernels and return; functions that return numbers wait for the kernels.

use super::arguments::langevin::{LangevinBath, LangevinDriftBackArguments, LangevinKickAndDriftArguments};
use super::arguments::verlet::{
    AccelerateArguments, VerletDriftBackArguments, VerletKickAndDriftArguments, VerletKickArguments,
};
use super::arguments::whole::{ScaleVelocitiesArguments, WholeMotionArguments};
use super::arguments::{DriftReport, Input, MovingColumns, Output};
use super::columns::Columns;
use super::reduction::{
    Findings, ROWS_PER_BLOCK, Sums, THREADS, Vector, first_row, largest, over_blocks, over_rows,
};
use super::{Buffer, Device};
use crate::Result;
use crate::motion::bulk_motion::BulkMotion;
use crate::motion::steps::FirstHalf;
use crate::motion::thermostat::Langevin;
use crate::particles::Field;
use crate::space::Vec3d;
use std::ops::Range;

/// Columns of the particles' motion.
#[derive(Clone, Copy, Debug)]
pub struct Moving<'a> {
    /// Positions.
    pub position: Vector<'a>,
    /// Velocities.
    pub velocity: Vector<'a>,
    /// Accelerations.
    pub acceleration: Vector<'a>,
}

impl<'a> Moving<'a> {
    /// Those of the particles.
    pub fn of(columns: &'a Columns) -> Self {
        Moving {
            position: columns.vector(Field::Position),
            velocity: columns.vector(Field::Velocity),
            acceleration: columns.vector(Field::Acceleration),
        }
    }
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

/// What the kernels of a step have found on this rank.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StepFindings {
    /// Result of the first half.
    pub first_half: FirstHalf,
    /// Whether the displacements are within the bound given to [`Motion::accelerate`].
    pub within_bound: bool,
    /// The first row whose acceleration is not finite.
    pub not_finite: Option<usize>,
}

/// Scratch memory of the motion kernels.
#[derive(Debug)]
pub struct Motion {
    device: Device,
    findings: Findings,
    /// One bit a row: not moved by the last drift.
    left: Buffer<u32>,
    heat: Sums,
    sums: Sums,
    drift: Drift,
    /// Largest square in the accumulator that is within the bound of the last [`Self::accelerate`].
    most_square: f64,
}

/// The last drift.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Drift {
    /// None in this step.
    Nothing,
    /// Of velocity Verlet, for this time: the accumulator holds the largest squared velocity.
    Verlet(f64),
    /// Of the Langevin thermostat: the accumulator holds the largest squared displacement.
    Langevin,
}

/// Accumulators: refused rows, largest squared velocity or displacement, first row that is not finite.
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
            drift: Drift::Nothing,
            most_square: f64::INFINITY,
        })
    }

    /// First half of a velocity Verlet step of length `dt`: half kick and drift. Particles that would move
    /// farther than `farthest` along an axis stay. [`Self::findings`] returns the outcome.
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
        self.begin(&rows, Drift::Verlet(dt))?;
        let arguments = VerletKickAndDriftArguments {
            moving: moving.into(),
            step: dt,
            farthest,
            rows: (&rows).into(),
            report: self.report(),
        };
        over_rows(&self.device, &rows, &arguments)
    }

    /// First half of step number `step` with the Langevin thermostat: half kick, half drift, friction and
    /// noise, half drift. [`Self::findings`] returns the outcome.
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
        self.begin(&rows, Drift::Langevin)?;
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

    /// Resets the accumulators and sizes the bits of rows.
    fn begin(&mut self, rows: &Range<usize>, drift: Drift) -> Result<()> {
        self.clear()?;
        self.drift = drift;
        self.left.resize(rows.len().div_ceil(32))
    }

    /// Resets the findings. [`Self::kick_and_drift`] and [`Self::langevin_kick_and_drift`] do it themselves.
    ///
    /// # Errors
    /// Those of the device.
    pub fn clear(&mut self) -> Result<()> {
        (self.drift, self.most_square) = (Drift::Nothing, f64::INFINITY);
        self.findings.clear()
    }

    fn report(&self) -> DriftReport {
        DriftReport {
            left: (&self.left).into(),
            refused: self.findings.lower_half(REFUSED),
            largest_square: self.findings.word(SQUARE),
        }
    }

    /// What the kernels of the step have found. Waits for them.
    ///
    /// # Errors
    /// Those of the device.
    pub fn findings(&self) -> Result<StepFindings> {
        let words = self.findings.read()?;
        let square = largest(words[SQUARE]).unwrap_or(0.0);
        let (displacement, heat) = match self.drift {
            Drift::Nothing => (0.0, 0.0),
            Drift::Verlet(dt) => (above(square * dt * dt), 0.0),
            Drift::Langevin => (above(square), self.heat.finish()?[0]),
        };
        Ok(StepFindings {
            first_half: FirstHalf { skipped: words[REFUSED] & u64::from(u32::MAX), displacement, heat },
            within_bound: square <= self.most_square,
            not_finite: first_row(words[NOT_FINITE]),
        })
    }

    /// The rows that the last drift did not move.
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

    /// Half kick of length `dt`, or `-dt` to revert one. With `but_left` without the rows that the last drift
    /// did not move.
    ///
    /// # Errors
    /// Those of the device.
    pub fn kick(&self, moving: &Moving, rows: Range<usize>, dt: f64, but_left: bool) -> Result<()> {
        let left = but_left.then_some(&self.left);
        self.half_kick(moving, rows, dt, left, Output::NULL)
    }

    /// Half kick of length `dt` of the rows whose acceleration is finite. [`Self::findings`] returns the
    /// first other row.
    ///
    /// # Errors
    /// Those of the device.
    pub fn kick_finite(&self, moving: &Moving, rows: Range<usize>, dt: f64) -> Result<()> {
        self.half_kick(moving, rows, dt, None, self.findings.lower_half(NOT_FINITE))
    }

    fn half_kick(
        &self,
        moving: &Moving,
        rows: Range<usize>,
        dt: f64,
        left: Option<&Buffer<u32>>,
        first_not_finite: Output<u32>,
    ) -> Result<()> {
        let arguments = VerletKickArguments {
            velocity: moving.velocity.map(Output::from),
            acceleration: moving.acceleration.map(Input::from),
            step: dt,
            rows: (&rows).into(),
            left: left.into(),
            first_not_finite,
        };
        over_rows(&self.device, &rows, &arguments)
    }

    /// Reverts the drift of [`Self::kick_and_drift`], to rounding.
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

    /// Reverts drift, friction and noise of [`Self::langevin_kick_and_drift`], to rounding errors amplified
    /// by friction.
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

    /// Accelerations from forces and masses and, if `dt` is not 0, the second half kick of rows with finite
    /// acceleration. Does nothing if the last drift refused rows or moved any farther than `most`: the forces
    /// may lack pairs then. [`Self::findings`] returns the first row whose acceleration is not finite.
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
        most: f64,
    ) -> Result<()> {
        // margin: `above` rounds displacements up
        self.most_square = match self.drift {
            Drift::Nothing => f64::INFINITY,
            Drift::Verlet(dt) => (most / dt * (1.0 - 1e-8)).powi(2),
            Drift::Langevin => (most * (1.0 - 1e-8)).powi(2),
        };
        let arguments = AccelerateArguments {
            force: force.map(Input::from),
            mass: mass.into(),
            acceleration: moving.acceleration.map(Output::from),
            velocity: moving.velocity.map(Output::from),
            step: dt,
            most_square: self.most_square,
            rows: (&rows).into(),
            report: self.report(),
            first_not_finite: self.findings.lower_half(NOT_FINITE),
        };
        over_rows(&self.device, &rows, &arguments)
    }

    /// Mass, momentum and kinetic energy of these rows, reproducible bit for bit.
    ///
    /// # Errors
    /// Those of the device.
    pub fn whole(&mut self, velocity: Vector, mass: &Buffer<f64>, rows: Range<usize>) -> Result<BulkMotion> {
        let arguments = WholeMotionArguments {
            velocity: velocity.map(Input::from),
            mass: mass.into(),
            rows: (&rows).into(),
            partial: self.sums.room(5, rows.len().div_ceil(ROWS_PER_BLOCK))?.into(),
        };
        over_blocks(&self.device, &rows, &arguments)?;
        let sums = self.sums.finish()?;
        Ok(BulkMotion {
            particles: rows.len() as u64,
            mass: sums[0],
            momentum: Vec3d::new(sums[1], sums[2], sums[3]),
            kinetic: sums[4],
        })
    }

    /// Replaces every velocity v by `v scale + offset`.
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

/// An upper bound of a displacement from its rounded square.
fn above(square: f64) -> f64 {
    square.sqrt() * (1.0 + 1e-9)
}
