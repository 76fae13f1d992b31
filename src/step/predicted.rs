//! The step of a gas, whose forces depend on velocities and internal energies: these are predicted for them.

use super::Simulation;
use crate::Result;
use crate::motion::leapfrog;
use crate::sph;

impl Simulation {
    /// A leapfrog step of length `dt`, or none.
    pub(super) fn advance_predicted(&mut self, dt: f64) -> Result<()> {
        let reach = self.domain.bx.lengths().max();
        let mut lost = [u64::from(!leapfrog::can_undo(&self.particles, dt, reach))];
        // all ranks alike: the forces may move particles to other ranks before they fail
        self.domain.comm.all_max(&mut lost);
        let before = (lost[0] > 0).then(|| self.particles.clone());
        leapfrog::kick_and_drift(&mut self.particles, dt);
        self.clock.lap("drift");
        if let Err(error) = self.evaluate_forces(dt) {
            match before {
                Some(before) => self.particles = before,
                None => {
                    leapfrog::undo(&mut self.particles, dt);
                    self.mend();
                }
            }
            return Err(error);
        }
        leapfrog::kick(&mut self.particles, dt);
        Ok(())
    }

    /// Replace what failed forces have spoiled of the state that a next step finds anew from a first guess.
    fn mend(&mut self) {
        let viscosity = self.plan.sph.as_ref().map_or(0.0, |sph| sph.viscosity.alpha_max);
        for (field, guess) in sph::first_guesses(viscosity) {
            if self.particles.has(field) {
                let column = self.particles.scalar_mut(field);
                column.iter_mut().filter(|value| !value.is_finite()).for_each(|value| *value = guess);
            }
        }
    }
}
