//! The operations of a velocity Verlet step on a device ([`crate::motion::steps::Verlet`]).

use super::Verlet;
use crate::clock::Clock;
use crate::comm::Communicator;
use crate::device::motion::{Moving, StepFindings};
use crate::motion::bulk_motion::BulkMotion;
use crate::motion::steps::{self, FirstHalf, Outcome, Reverted};
use crate::motion::thermostat::Thermostat;
use crate::motion::verlet::MAX_DISPLACEMENT;
use crate::particles::Field;
use crate::space::Vec3d;
use crate::{Error, Result};

/// State of a step: the backend of [`steps::verlet_step`].
pub(super) struct Stepping<'a> {
    pub(super) verlet: &'a mut Verlet,
    pub(super) thermostat: Option<&'a Thermostat>,
    pub(super) step: u64,
    pub(super) clock: &'a mut Clock,
    /// Result of the first half on all ranks, if the host has waited for it.
    known: Option<FirstHalf>,
    /// Whether the forces of this step did the second half kick of rows with finite acceleration.
    kicked: bool,
    /// What the enqueued step has found, if it was enqueued in a batch.
    enqueued: Option<StepFindings>,
}

impl<'a> Stepping<'a> {
    /// For step number `step`.
    pub(super) fn new(
        verlet: &'a mut Verlet,
        thermostat: Option<&'a Thermostat>,
        step: u64,
        clock: &'a mut Clock,
    ) -> Self {
        Stepping { verlet, thermostat, step, clock, known: None, kicked: false, enqueued: None }
    }

    /// For a step whose kick and drift, and forces that may lack pairs, were enqueued in a batch.
    pub(super) fn after_first_half(self, found: StepFindings) -> Self {
        Stepping { enqueued: Some(found), ..self }
    }
}

impl Stepping<'_> {
    /// Records the first half of this rank and, if no row was refused, evaluates the forces with the list
    /// that the displacements need.
    fn evaluate_after(&mut self, first_half: FirstHalf, dt: f64) -> Result<()> {
        let first_half = first_half.over_ranks(self.verlet.exchange.comm());
        self.known = Some(first_half);
        if first_half.skipped > 0 {
            return Ok(());
        }
        self.verlet.record_displacement(first_half.displacement, dt);
        self.clock.lap("drift");
        self.verlet.forces(dt, self.clock)?;
        self.kicked = true;
        Ok(())
    }
}

impl steps::Verlet for Stepping<'_> {
    fn comm(&self) -> &Communicator {
        self.verlet.exchange.comm()
    }

    fn kick_and_drift(&mut self, dt: f64) -> Result<()> {
        if self.enqueued.is_some() {
            return Ok(());
        }
        let Verlet { columns, motion, bx, .. } = &mut *self.verlet;
        let (rows, farthest) = (columns.owned(), MAX_DISPLACEMENT * bx.lengths().max());
        let all = Moving::of(columns);
        match self.thermostat {
            Some(Thermostat::Langevin(langevin)) => {
                let (mass, id) = (columns.scalar(Field::Mass), &columns.id);
                motion.langevin_kick_and_drift(langevin, &all, mass, id, rows, dt, self.step, farthest)
            }
            Some(Thermostat::VelocityRescaling(_)) | None => motion.kick_and_drift(&all, rows, dt, farthest),
        }
    }

    fn evaluate(&mut self, dt: f64) -> Result<()> {
        if self.known.is_some() {
            // after a failed step, back at its start
            return self.verlet.forces(dt, self.clock);
        }
        if self.enqueued.is_some() {
            return Ok(());
        }
        if let Some(most) = self.verlet.expected_displacement(dt) {
            return self.verlet.enqueue_forces(dt, most, Some(self.clock));
        }
        let first_half = self.verlet.motion.findings()?.first_half;
        self.evaluate_after(first_half, dt)
    }

    fn outcome(&mut self, dt: f64) -> Result<Outcome> {
        let mut findings = match self.enqueued.take() {
            Some(found) => found,
            None => self.verlet.motion.findings()?,
        };
        let first_half = match self.known {
            Some(first_half) => first_half,
            // one rank
            None if findings.first_half.skipped > 0 => return Ok(Outcome::MovedTooFar),
            None => {
                let StepFindings { first_half, within_bound, .. } = findings;
                if within_bound {
                    self.kicked = true;
                    self.verlet.record_displacement(first_half.displacement, dt);
                    self.known = Some(first_half);
                } else {
                    self.verlet.repeats += 1;
                    self.evaluate_after(first_half, dt)?;
                    findings = self.verlet.motion.findings()?;
                }
                first_half
            }
        };
        if first_half.skipped > 0 {
            return Ok(Outcome::MovedTooFar);
        }
        self.verlet.check(findings.not_finite)?;
        Ok(Outcome::Completed { heat: first_half.heat })
    }

    fn moved_too_far(&self, dt: f64) -> Result<Error> {
        let skipped = self.verlet.motion.left_rows(self.verlet.columns.owned())?;
        skipped.first().map_or(Ok(Error::Elsewhere), |&row| self.verlet.moved_too_far(row, dt))
    }

    fn finish(&mut self, _: f64) {
        // the force evaluation did the second half kick
    }

    fn revert_second_half(&mut self, dt: f64) -> Result<()> {
        if self.kicked {
            self.verlet.kick_back(dt, false)?;
        }
        self.verlet.neighborhood.invalidate();
        Ok(())
    }

    fn revert_drift(&mut self, dt: f64, rows: Reverted) -> Result<()> {
        let Verlet { columns, motion, .. } = &mut *self.verlet;
        let (owned, all, but_skipped) = (columns.owned(), Moving::of(columns), rows == Reverted::Moved);
        match self.thermostat {
            Some(Thermostat::Langevin(langevin)) => {
                let (mass, id) = (columns.scalar(Field::Mass), &columns.id);
                motion.langevin_drift_back(langevin, &all, mass, id, owned, dt, self.step, but_skipped)
            }
            Some(Thermostat::VelocityRescaling(_)) | None => motion.drift_back(&all, owned, dt, but_skipped),
        }
    }

    fn revert_kick(&mut self, dt: f64, rows: Reverted) -> Result<()> {
        self.verlet.kick_back(dt, rows == Reverted::Moved)
    }

    fn bulk_motion(&mut self) -> Result<BulkMotion> {
        let Verlet { columns, motion, exchange, .. } = &mut *self.verlet;
        let (mass, velocity) = (columns.scalar(Field::Mass), columns.vector(Field::Velocity));
        let own = motion.whole(velocity, mass, columns.owned())?;
        Ok(own.over_ranks(exchange.comm()))
    }

    fn scale_velocities(&mut self, factor: f64, offset: Vec3d) -> Result<()> {
        let columns = &self.verlet.columns;
        self.verlet.motion.scale(columns.vector(Field::Velocity), columns.owned(), factor, offset)
    }
}
