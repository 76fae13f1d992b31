//! Leapfrog of a gas on processors: implements [`crate::motion::steps::Leapfrog`].

use super::{Rates, Simulation};
use crate::Result;
use crate::comm::Communicator;
use crate::motion::leapfrog;
use crate::motion::steps::Leapfrog;
use crate::particles::Particles;
use crate::sph;

impl Leapfrog for Simulation {
    type Saved = Particles;

    fn comm(&self) -> &Communicator {
        &self.domain.comm
    }

    fn can_undo(&self, dt: f64) -> Result<bool> {
        Ok(leapfrog::can_undo(&self.particles, dt, self.domain.bx.lengths().max()))
    }

    fn save(&self) -> Result<Particles> {
        Ok(self.particles.clone())
    }

    fn restore(&mut self, saved: Particles) {
        self.particles = saved;
    }

    fn kick_and_drift(&mut self, dt: f64) -> Result<()> {
        leapfrog::kick_and_drift(&mut self.particles, dt);
        self.clock.lap("drift");
        Ok(())
    }

    fn evaluate(&mut self, dt: f64) -> Result<()> {
        self.forces(dt).map(drop)
    }

    fn outcome(&mut self) -> Result<()> {
        self.check_rates(Rates::Unchecked)
    }

    fn kick(&mut self, dt: f64) -> Result<()> {
        leapfrog::kick(&mut self.particles, dt);
        Ok(())
    }

    fn undo(&mut self, dt: f64) -> Result<()> {
        leapfrog::undo(&mut self.particles, dt);
        let viscosity = self.plan.sph.as_ref().map_or(0.0, |sph| sph.viscosity.alpha_max);
        for (field, guess) in sph::reset_values(viscosity) {
            if self.particles.has(field) {
                let column = self.particles.scalar_mut(field);
                column.iter_mut().filter(|value| !value.is_finite()).for_each(|value| *value = guess);
            }
        }
        Ok(())
    }
}
