//! The step of particles whose forces depend on their positions alone, at constant energy or with a thermostat.

use super::Simulation;
use crate::motion::thermostat::Thermostat;
use crate::motion::verlet::{self, Drifted, FARTHEST, Left};
use crate::motion::whole;
use crate::particles::Field;
use crate::{Error, Result};

impl Simulation {
    /// A step of velocity Verlet of length `dt`, or none; the last half of its kick is left open where nobody needs velocities.
    pub(super) fn advance_verlet(&mut self, dt: f64) -> Result<()> {
        let heat = self.first_half(dt)?;
        self.clock.lap("drift");
        if let Err(error) = self.evaluate_forces(dt) {
            self.drift_back(dt, &Left::default());
            // they were finite there before
            let _ = self.evaluate_forces(0.0);
            verlet::kick(&mut self.particles, -dt, &Left::default());
            return Err(error);
        }
        self.open_kick = Some(dt);
        self.heat += heat + self.after_second_half(dt);
        Ok(())
    }

    /// Velocities become those of the present time: the half of a kick that the last step left open is done.
    pub(crate) fn close_kick(&mut self) {
        if let Some(dt) = self.open_kick.take() {
            verlet::kick(&mut self.particles, dt, &Left::default());
            self.clock.lap("kick");
        }
    }

    /// Half a kick and the drift, with what a thermostat does meanwhile; returns the heat that it gave. Collective.
    fn first_half(&mut self, dt: f64) -> Result<f64> {
        let farthest = FARTHEST * self.domain.bx.lengths().max();
        let Drifted { left, farthest: way, heat } = match &self.thermostat {
            Some(Thermostat::Langevin(langevin)) => {
                langevin.kick_and_drift(&mut self.particles, dt, self.step, farthest)
            }
            Some(Thermostat::VelocityRescaling(_)) | None => {
                verlet::kick_and_drift(&mut self.particles, self.open_kick.take(), dt, farthest)
            }
        };
        let (mut sums, mut farthest_of_all) = ([f64::from(!left.none()), heat], [way]);
        self.domain.comm.all_sum_and_max(&mut sums, &mut farthest_of_all);
        let [refused, heat] = sums;
        if refused == 0.0 {
            self.neighborhood.drifted(farthest_of_all[0]);
            return Ok(heat);
        }
        let thrown = left.rows(&self.particles).find_map(|row| self.thrown(row, dt, farthest));
        self.drift_back(dt, &left);
        verlet::kick(&mut self.particles, -dt, &left);
        Err(thrown.unwrap_or(Error::Elsewhere))
    }

    fn drift_back(&mut self, dt: f64, left: &Left) {
        match &self.thermostat {
            Some(Thermostat::Langevin(langevin)) => {
                langevin.drift_back(&mut self.particles, dt, self.step, left);
            }
            Some(Thermostat::VelocityRescaling(_)) | None => {
                verlet::drift_back(&mut self.particles, dt, left);
            }
        }
    }

    /// What is done with the velocities of the end of a step; returns the heat that it gave. Collective.
    fn after_second_half(&mut self, dt: f64) -> f64 {
        let remove_drift =
            self.plan.motion.remove_drift.is_some_and(|every| (self.step + 1).is_multiple_of(every));
        if remove_drift || self.thermostat.is_some() {
            self.close_kick();
        }
        let comm = &self.domain.comm;
        let mut heat = 0.0;
        if let Some(Thermostat::VelocityRescaling(rescaling)) = &self.thermostat {
            heat += rescaling.rescale(&mut self.particles, comm, dt, self.step);
        }
        if remove_drift {
            heat -= whole::remove_drift(&mut self.particles, comm);
        }
        heat
    }

    /// The error that names a particle that a step would throw too far.
    fn thrown(&self, row: usize, dt: f64, farthest: f64) -> Option<Error> {
        let velocity = self.particles.vector_at(Field::Velocity, row);
        let acceleration = self.particles.vector_at(Field::Acceleration, row);
        let way = verlet::way(velocity, acceleration, dt);
        let id = self.particles.id[row];
        (way.is_nan() || way > farthest)
            .then(|| verlet::thrown(id, velocity, acceleration, dt).with_units(self.plan.units.of_numbers()))
    }
}
