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
    /// Whether the displacements are within what the step was allowed: by [`Motion::accelerate`], or in a
    /// batch by what the earlier steps left.
    pub within_bound: bool,
    /// The first row whose acceleration is not finite.
    pub not_finite: Option<usize>,
}

impl StepFindings {
    /// Whether the forces after the drift are complete and finite.
    pub fn is_complete(&self) -> bool {
        self.first_half.skipped == 0 && self.within_bound && self.not_finite.is_none()
    }
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
    /// What the last [`Self::accelerate`] allowed the drift of a single step.
    most: f64,
    /// The step of the batch that the accumulators are used for; 0 of single steps.
    slot: usize,
    /// Steps and allowed displacement of the batch in progress.
    batch: Option<(usize, f64)>,
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

impl Drift {
    /// Displacement over the root of the accumulated square.
    fn scale(self) -> f64 {
        match self {
            Drift::Verlet(dt) => dt,
            Drift::Nothing | Drift::Langevin => 1.0,
        }
    }
}

/// Accumulators of a step: refused rows, largest squared velocity or displacement, first row that is not
/// finite; the displacement that a step of a batch may have.
const REFUSED: usize = 0;
const SQUARE: usize = 1;
const NOT_FINITE: usize = 2;
const ALLOWED: usize = 3;
const WORDS: usize = 4;

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
            most: f64::INFINITY,
            slot: 0,
            batch: None,
        })
    }

    /// Begins a batch of `count` steps that are enqueued before the host knows what the first has found:
    /// [`Self::enter`] each, then drift and accelerate. A step does nothing if an earlier one of the batch
    /// moved rows farther than what remains of the displacement `most`, refused rows, or found accelerations
    /// that are not finite.
    ///
    /// # Errors
    /// Those of the device.
    pub fn begin_batch(&mut self, count: usize, most: f64) -> Result<()> {
        self.findings.resize(count * WORDS)?;
        self.clear()?;
        self.batch = Some((count, most));
        Ok(())
    }

    /// Enters a step of the batch.
    pub fn enter(&mut self, step: usize) {
        self.slot = step;
    }

    /// What the steps of the batch have found, up to the first that was not completed. Ends the batch; that
    /// step can be resumed, with its own accumulators. Waits for the kernels.
    ///
    /// # Errors
    /// Those of the device.
    pub fn end_batch(&mut self) -> Result<Vec<StepFindings>> {
        let Some((count, _)) = self.batch.take() else { return Ok(Vec::new()) };
        let words = self.findings.read()?;
        let heat = self.heat_of_steps()?;
        let mut found = Vec::with_capacity(count);
        for slot in 0..count {
            let own = &words[WORDS * slot..][..WORDS];
            let step = self.interpret(own, f64::from_bits(own[ALLOWED]), heat.get(slot).copied());
            found.push(step);
            if !step.is_complete() {
                self.slot = slot;
                break;
            }
        }
        Ok(found)
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
        let arguments = self.drift_arguments(moving, rows.clone(), dt, farthest)?;
        over_rows(&self.device, &rows, &arguments)
    }

    /// Begins a drift and returns the arguments of its kernel.
    pub(super) fn drift_arguments(
        &mut self,
        moving: &Moving,
        rows: Range<usize>,
        dt: f64,
        farthest: f64,
    ) -> Result<VerletKickAndDriftArguments> {
        self.begin(&rows, Drift::Verlet(dt))?;
        Ok(VerletKickAndDriftArguments {
            moving: moving.into(),
            step: dt,
            farthest,
            rows: (&rows).into(),
            report: self.report(),
        })
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
        let (steps, blocks) =
            (self.batch.map_or(1, |(count, _)| count), rows.len().div_ceil(THREADS as usize));
        let heat = Output::at(self.heat.room(steps, blocks)?, self.slot * blocks);
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
        if self.batch.is_none() {
            self.clear()?;
        }
        self.drift = drift;
        self.left.resize(rows.len().div_ceil(32))
    }

    /// Resets the findings. [`Self::kick_and_drift`] and [`Self::langevin_kick_and_drift`] do it themselves.
    ///
    /// # Errors
    /// Those of the device.
    pub fn clear(&mut self) -> Result<()> {
        (self.drift, self.most, self.slot) = (Drift::Nothing, f64::INFINITY, 0);
        self.findings.clear()
    }

    fn report(&self) -> DriftReport {
        let first = WORDS * self.slot;
        let (allowed, most) = match self.batch {
            Some((_, most)) => (self.findings.number(first + ALLOWED), most),
            None => (Output::NULL, self.most),
        };
        let follows = self.batch.is_some() && self.slot > 0;
        DriftReport {
            left: (&self.left).into(),
            refused: self.findings.lower_half(first + REFUSED),
            largest_square: self.findings.word(first + SQUARE),
            scale: self.drift.scale(),
            allowed,
            previous: if follows { self.findings.input(first - WORDS) } else { Input::NULL },
            most,
        }
    }

    fn first_not_finite(&self) -> Output<u32> {
        self.findings.lower_half(WORDS * self.slot + NOT_FINITE)
    }

    /// What the kernels of the step have found. Waits for them.
    ///
    /// # Errors
    /// Those of the device.
    pub fn findings(&self) -> Result<StepFindings> {
        let words = self.findings.read()?;
        let heat = self.heat_of_steps()?;
        let own = &words[WORDS * self.slot..][..WORDS];
        Ok(self.interpret(own, self.most, heat.get(self.slot).copied()))
    }

    /// Heat of the steps of a batch, or of a single step; empty without a thermostat.
    fn heat_of_steps(&self) -> Result<Vec<f64>> {
        match self.drift {
            Drift::Langevin => self.heat.finish(),
            Drift::Nothing | Drift::Verlet(_) => Ok(Vec::new()),
        }
    }

    fn interpret(&self, words: &[u64], allowed: f64, heat: Option<f64>) -> StepFindings {
        let displacement = above(largest(words[SQUARE]).unwrap_or(0.0), self.drift.scale());
        StepFindings {
            first_half: FirstHalf {
                skipped: words[REFUSED] & u64::from(u32::MAX),
                displacement,
                heat: heat.unwrap_or(0.0),
            },
            within_bound: displacement <= allowed,
            not_finite: first_row(words[NOT_FINITE]),
        }
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
        self.half_kick(moving, rows, dt, None, self.first_not_finite())
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
    /// acceleration. Does nothing if the last drift refused rows or moved any farther than `most`, or in a
    /// batch farther than what remains there: the forces may lack pairs then. [`Self::findings`] returns the
    /// first row whose acceleration is not finite.
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
        let arguments = self.accelerate_arguments(force, mass, moving, rows.clone(), dt, most);
        over_rows(&self.device, &rows, &arguments)
    }

    /// The arguments of [`Self::accelerate`].
    pub(super) fn accelerate_arguments(
        &mut self,
        force: Vector,
        mass: &Buffer<f64>,
        moving: &Moving,
        rows: Range<usize>,
        dt: f64,
        most: f64,
    ) -> AccelerateArguments {
        self.most = most;
        AccelerateArguments {
            force: force.map(Input::from),
            mass: mass.into(),
            acceleration: moving.acceleration.map(Output::from),
            velocity: moving.velocity.map(Output::from),
            step: dt,
            rows: (&rows).into(),
            report: self.report(),
            first_not_finite: self.first_not_finite(),
        }
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

/// An upper bound of a displacement; kernels/motion/verlet.cuh computes the same.
fn above(square: f64, scale: f64) -> f64 {
    (square * scale * scale).sqrt() * (1.0 + 1e-9)
}
