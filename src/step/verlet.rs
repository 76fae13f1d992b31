//! Velocity Verlet on processors: implements [`crate::motion::steps::Verlet`].

use super::state::Velocities;
use super::{Rates, Simulation};
use crate::comm::Communicator;
use crate::faults::{Fault, planted};
use crate::motion::bulk_motion::{self, BulkMotion};
use crate::motion::steps::{self, FirstHalf, Outcome, Reverted};
use crate::motion::thermostat::Thermostat;
use crate::motion::verlet::{self, DriftResult, MAX_DISPLACEMENT, SkippedChunks};
use crate::particles::Field;
use crate::space::Vec3d;
use crate::{Error, Result};

/// A simulation during a step.
struct Stepping<'a> {
    simulation: &'a mut Simulation,
    /// The chunks that the first half skipped.
    skipped: SkippedChunks,
    /// Result of the first half, of all ranks.
    first_half: FirstHalf,
    /// What is known of the rates.
    rates: Rates,
}

impl Simulation {
    /// Performs a velocity Verlet step of length `dt`, or reverts it on an error. The second half kick stays
    /// pending if nothing needs the velocities.
    pub(super) fn advance_verlet(&mut self, dt: f64) -> Result<()> {
        let (remove_drift, step) = (self.removes_drift(), self.step);
        let thermostat = self.thermostat;
        let mut stepping = Stepping {
            simulation: self,
            skipped: SkippedChunks::default(),
            first_half: FirstHalf::default(),
            rates: Rates::Unchecked,
        };
        let heat = steps::verlet_step(&mut stepping, thermostat.as_ref(), remove_drift, dt, step)?;
        self.heat += if planted(Fault::HeatSign) { -heat } else { heat };
        Ok(())
    }

    /// Whether the current step ends by removing the drift of the center of mass.
    pub(super) fn removes_drift(&self) -> bool {
        self.plan.motion.remove_drift.is_some_and(|every| (self.step + 1).is_multiple_of(every))
    }

    /// Completes the pending half kick of the last step, so that velocities and positions have the same time.
    pub(crate) fn synchronize_velocities(&mut self) {
        if planted(Fault::SnapshotVelocity) {
            return;
        }
        if let Some(dt) = self.velocities.take_pending() {
            verlet::kick(&mut self.particles, dt, &SkippedChunks::default());
            self.clock.lap("kick");
        }
    }

    /// Calls `look` with velocities and positions of the same time. A pending half kick is pending afterwards
    /// too, so that looking changes no bit of later steps.
    pub fn with_synchronized_velocities<T>(&mut self, look: impl FnOnce(&mut Self) -> T) -> T {
        let pending = self.velocities;
        let before = (pending != Velocities::Synchronized)
            .then(|| [0, 1, 2].map(|d| self.particles.component(Field::Velocity, d).to_vec()));
        self.synchronize_velocities();
        let seen = look(self);
        if let Some(columns) = before {
            self.particles.put(Field::Velocity, columns.into());
            self.velocities = pending;
        }
        seen
    }

    /// Maximum displacement of a step that can be reverted.
    fn largest_displacement(&self) -> f64 {
        MAX_DISPLACEMENT * self.domain.bx.lengths().max()
    }

    /// Returns the error for a particle that a step would move too far; `None` if it would not.
    fn moved_too_far(&self, row: usize, dt: f64) -> Option<Error> {
        let velocity = self.particles.vector_at(Field::Velocity, row);
        let acceleration = self.particles.vector_at(Field::Acceleration, row);
        let way = verlet::displacement(velocity, acceleration, dt);
        let id = self.particles.id[row];
        (way.is_nan() || way > self.largest_displacement()).then(|| {
            verlet::moved_too_far(id, velocity, acceleration, dt).with_units(self.plan.units.of_numbers())
        })
    }
}

impl steps::Verlet for Stepping<'_> {
    fn comm(&self) -> &Communicator {
        &self.simulation.domain.comm
    }

    fn kick_and_drift(&mut self, dt: f64) -> Result<()> {
        let simulation = &mut *self.simulation;
        let farthest = simulation.largest_displacement();
        let DriftResult { left, farthest: displacement, heat } = match &simulation.thermostat {
            Some(Thermostat::Langevin(langevin)) => {
                langevin.kick_and_drift(&mut simulation.particles, dt, simulation.step, farthest)
            }
            Some(Thermostat::VelocityRescaling(_)) | None => {
                let pending = simulation.velocities.take_pending();
                verlet::kick_and_drift(&mut simulation.particles, pending, dt, farthest)
            }
        };
        let skipped = left.rows(&simulation.particles).count() as u64;
        self.skipped = left;
        self.first_half = FirstHalf { skipped, displacement, heat }.over_ranks(&simulation.domain.comm);
        if self.first_half.skipped == 0 {
            simulation.neighborhood.record_displacement(self.first_half.displacement);
            simulation.clock.lap("drift");
        }
        Ok(())
    }

    fn evaluate(&mut self, dt: f64) -> Result<()> {
        if self.first_half.skipped == 0 {
            self.rates = self.simulation.forces(dt)?;
        }
        Ok(())
    }

    fn outcome(&mut self, _: f64) -> Result<Outcome> {
        if self.first_half.skipped > 0 {
            return Ok(Outcome::MovedTooFar);
        }
        self.simulation.check_rates(self.rates)?;
        Ok(Outcome::Completed { heat: self.first_half.heat })
    }

    fn moved_too_far(&self, dt: f64) -> Result<Error> {
        let mut rows = self.skipped.rows(&self.simulation.particles);
        Ok(rows.find_map(|row| self.simulation.moved_too_far(row, dt)).unwrap_or(Error::Elsewhere))
    }

    fn finish(&mut self, dt: f64) {
        if planted(Fault::HalfKickDropped) {
            return;
        }
        self.simulation.velocities = Velocities::HalfKickPending(dt);
        if self.simulation.thermostat.is_some() {
            self.simulation.synchronize_velocities();
        }
    }

    fn revert_second_half(&mut self, _: f64) -> Result<()> {
        // the second half kick has not been done: it is pending until the next step
        Ok(())
    }

    fn revert_drift(&mut self, dt: f64, rows: Reverted) -> Result<()> {
        let simulation = &mut *self.simulation;
        let skipped = chunks_to_leave(&self.skipped, rows);
        match &simulation.thermostat {
            Some(Thermostat::Langevin(langevin)) => {
                langevin.drift_back(&mut simulation.particles, dt, simulation.step, &skipped);
            }
            Some(Thermostat::VelocityRescaling(_)) | None => {
                verlet::drift_back(&mut simulation.particles, dt, &skipped);
            }
        }
        Ok(())
    }

    fn revert_kick(&mut self, dt: f64, rows: Reverted) -> Result<()> {
        verlet::kick(&mut self.simulation.particles, -dt, &chunks_to_leave(&self.skipped, rows));
        Ok(())
    }

    fn bulk_motion(&mut self) -> Result<BulkMotion> {
        self.simulation.synchronize_velocities();
        Ok(BulkMotion::of(&mut self.simulation.particles, &self.simulation.domain.comm))
    }

    fn scale_velocities(&mut self, factor: f64, offset: Vec3d) -> Result<()> {
        bulk_motion::scale(&mut self.simulation.particles, factor, offset);
        Ok(())
    }
}

/// Returns the chunks to leave out when a half step is reverted.
fn chunks_to_leave(skipped: &SkippedChunks, rows: Reverted) -> SkippedChunks {
    match rows {
        Reverted::All => SkippedChunks::default(),
        Reverted::Moved => skipped.clone(),
    }
}
