//! The time step, written once for processors and devices, which implement its operations: leapfrog of a gas
//! ([`leapfrog_step`]) and velocity Verlet ([`verlet_step`]), including recovery from a failed step.
//!
//! The operations act on the owned particles of this rank. A step that fails because of the particles
//! restores their state at its start; after a device error they are undefined.

use crate::comm::Communicator;
use crate::motion::bulk_motion::BulkMotion;
use crate::motion::thermostat::Thermostat;
use crate::space::Vec3d;
use crate::{Error, Result};

/// Operations of a leapfrog step. The forces of a gas depend on velocities and internal energies, which the
/// first half of the step predicts.
pub trait Leapfrog {
    /// A copy of the state.
    type Saved;

    /// The ranks.
    fn comm(&self) -> &Communicator;
    /// Whether [`Leapfrog::undo`] reverts a step of length `dt` to rounding.
    ///
    /// # Errors
    /// Those of the device.
    fn can_undo(&self, dt: f64) -> Result<bool>;
    /// Copies the state.
    ///
    /// # Errors
    /// Those of the device.
    fn save(&self) -> Result<Self::Saved>;
    /// Returns to a saved state.
    fn restore(&mut self, saved: Self::Saved);
    /// First half: half kick, drift, predictions.
    ///
    /// # Errors
    /// Those of the device.
    fn kick_and_drift(&mut self, dt: f64) -> Result<()>;
    /// Evaluates the forces; `dt` is the time since the last evaluation. Collective.
    ///
    /// # Errors
    /// [`Error::State`] with step 0 for positions that are not finite, or a box too small.
    fn evaluate(&mut self, dt: f64) -> Result<()>;
    /// Waits for the forces and checks them. Collective.
    ///
    /// # Errors
    /// [`Error::State`] with step 0 for rates that are not finite.
    fn outcome(&mut self) -> Result<()>;
    /// Second half: corrects the predictions.
    ///
    /// # Errors
    /// Those of the device.
    fn kick(&mut self, dt: f64) -> Result<()>;
    /// Reverts the first half, and resets fields that failed forces may have spoiled.
    ///
    /// # Errors
    /// Those of the device.
    fn undo(&mut self, dt: f64) -> Result<()>;
}

/// Performs a leapfrog step of length `dt` (see [`crate::motion::leapfrog`]). Collective.
///
/// # Errors
/// Those of [`Leapfrog::evaluate`], with the particles back at the start of the step; those of the device.
pub fn leapfrog_step<B: Leapfrog>(backend: &mut B, dt: f64) -> Result<()> {
    let mut lossy = [u64::from(!backend.can_undo(dt)?)];
    // the same on all ranks: particles may change ranks before the forces fail
    backend.comm().all_max(&mut lossy);
    let saved = if lossy[0] > 0 { Some(backend.save()?) } else { None };
    backend.kick_and_drift(dt)?;
    if let Err(error) = backend.evaluate(dt).and_then(|()| backend.outcome()) {
        if concerns_particles(&error) {
            match saved {
                Some(saved) => backend.restore(saved),
                None => backend.undo(dt)?,
            }
        }
        return Err(error);
    }
    backend.kick(dt)
}

/// Result of the first half of a Verlet step: sums and maximum over the rows of a rank, or of all ranks.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FirstHalf {
    /// Rows that did not move, because they would have moved too far.
    pub skipped: u64,
    /// Upper bound of the displacements.
    pub displacement: f64,
    /// Heat added by a thermostat.
    pub heat: f64,
}

impl FirstHalf {
    /// Reduces over all ranks. Collective.
    #[must_use]
    pub fn over_ranks(self, comm: &Communicator) -> Self {
        let (mut sums, mut largest) = ([self.skipped as f64, self.heat], [self.displacement]);
        comm.all_sum_and_max(&mut sums, &mut largest);
        FirstHalf { skipped: sums[0] as u64, displacement: largest[0], heat: sums[1] }
    }
}

/// What a Verlet step has decided, the same on all ranks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Outcome {
    /// The forces at the new positions are known and finite.
    Completed {
        /// Heat added by a thermostat to the particles of all ranks.
        heat: f64,
    },
    /// Particles would have moved too far and stayed. The forces are still those of the step's start.
    MovedTooFar,
}

/// Rows whose first half is reverted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reverted {
    /// All.
    All,
    /// All but the skipped ones.
    Moved,
}

/// Operations of a velocity Verlet step, for forces that depend on positions only.
///
/// [`Verlet::kick_and_drift`] and [`Verlet::evaluate`] may return before their work is done. What they find
/// is read by [`Verlet::outcome`], once a step: a device enqueues the whole step before the host waits for
/// it.
pub trait Verlet {
    /// The ranks.
    fn comm(&self) -> &Communicator;
    /// First half: half kick and drift, including a Langevin thermostat's exchange of heat.
    ///
    /// # Errors
    /// Those of the device.
    fn kick_and_drift(&mut self, dt: f64) -> Result<()>;
    /// Refreshes the list and evaluates the forces at the current positions, unless particles would have
    /// moved too far. A device also does the second half kick of a step of length `dt` here. Collective.
    ///
    /// # Errors
    /// [`Error::State`] with step 0 for positions that are not finite, or a box too small.
    fn evaluate(&mut self, dt: f64) -> Result<()>;
    /// Waits for the step of length `dt`, and returns what it has decided. Collective.
    ///
    /// # Errors
    /// [`Error::State`] with step 0 for rates that are not finite.
    fn outcome(&mut self, dt: f64) -> Result<Outcome>;
    /// The error that names a particle of this rank that would move too far; [`Error::Elsewhere`] without
    /// one.
    ///
    /// # Errors
    /// Those of the device.
    fn moved_too_far(&self, dt: f64) -> Result<Error>;
    /// Completes the second half of a step, or leaves it pending.
    fn finish(&mut self, dt: f64);
    /// Reverts the second half kick after failed forces, if [`Verlet::evaluate`] did it.
    ///
    /// # Errors
    /// Those of the device.
    fn revert_second_half(&mut self, dt: f64) -> Result<()>;
    /// Moves the particles back to the start of the step.
    ///
    /// # Errors
    /// Those of the device.
    fn revert_drift(&mut self, dt: f64, rows: Reverted) -> Result<()>;
    /// Reverts the first half kick, with the forces at the start of the step.
    ///
    /// # Errors
    /// Those of the device.
    fn revert_kick(&mut self, dt: f64, rows: Reverted) -> Result<()>;
    /// Mass, momentum and kinetic energy of all particles with synchronized velocities. Collective.
    ///
    /// # Errors
    /// Those of the device.
    fn bulk_motion(&mut self) -> Result<BulkMotion>;
    /// Replaces velocities v by `factor v + offset`.
    ///
    /// # Errors
    /// Those of the device.
    fn scale_velocities(&mut self, factor: f64, offset: Vec3d) -> Result<()>;
}

/// Performs velocity Verlet step number `step`, of length `dt` (see [`crate::motion::verlet`]). Returns the
/// heat added to the particles of all ranks by the thermostat and the removal of drift. Collective.
///
/// # Errors
/// [`Error::State`] with step 0 for a particle that would move too far, and those of [`Verlet::evaluate`],
/// with the particles back at the start of the step; those of the device.
pub fn verlet_step<B: Verlet>(
    backend: &mut B,
    thermostat: Option<&Thermostat>,
    remove_drift: bool,
    dt: f64,
    step: u64,
) -> Result<f64> {
    backend.kick_and_drift(dt)?;
    let outcome = backend.evaluate(dt).and_then(|()| backend.outcome(dt));
    let mut heat = match outcome {
        Ok(Outcome::Completed { heat }) => heat,
        Ok(Outcome::MovedTooFar) => {
            let error = backend.moved_too_far(dt)?;
            backend.revert_drift(dt, Reverted::Moved)?;
            backend.revert_kick(dt, Reverted::Moved)?;
            return Err(error);
        }
        Err(error) => {
            if concerns_particles(&error) {
                backend.revert_second_half(dt)?;
                backend.revert_drift(dt, Reverted::All)?;
                // restores the forces at the start of the step, which were finite
                let _ = backend.evaluate(0.0);
                backend.revert_kick(dt, Reverted::All)?;
            }
            return Err(error);
        }
    };
    backend.finish(dt);
    if let Some(Thermostat::VelocityRescaling(rescaling)) = thermostat {
        let whole = backend.bulk_motion()?;
        if let Some((factor, added)) = rescaling.factor_and_heat(&whole, dt, step) {
            backend.scale_velocities(factor, whole.drift() * (1.0 - factor))?;
            heat += added;
        }
    }
    if remove_drift {
        let whole = backend.bulk_motion()?;
        backend.scale_velocities(1.0, -whole.drift())?;
        heat -= whole.center_of_mass_energy();
    }
    Ok(heat)
}

/// Whether an error concerns the particles, so that the step can be reverted; after a device error it cannot.
fn concerns_particles(error: &Error) -> bool {
    !matches!(error, Error::Device { .. })
}
