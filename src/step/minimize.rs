//! The search for a minimum of the energy, before the first step.

use super::Simulation;
use crate::Result;
use crate::motion::minimize::{self, Survey};
use crate::particles::Field;
use crate::plan::MinimizePlan;

/// Particles part for as long as a force is so many times the typical one; in a liquid the ratio is about 10.
const OVERLAPPING: f64 = 100.0;
/// But not for longer than so many steps, where all forces are finite.
const MOST_PARTING: u64 = 200;

/// The constants of FIRE as Guenole et al. recommend them: longest and shortest step, over the first; steps with positive
/// power before the step grows; its growth and its fall; first mixing and its fall.
const LONGEST: f64 = 10.0;
const SHORTEST: f64 = 0.02;
const DELAY: u64 = 20;
const GROWTH: f64 = 1.1;
const FALL: f64 = 0.5;
const MIXING: f64 = 0.25;
const MIXING_FALL: f64 = 0.99;

/// How a search ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Minimized {
    /// Steps of it.
    pub steps: u64,
    /// Potential energy of all particles before; infinite or not a number where particles lay on top of each other.
    pub energy_before: f64,
    /// And after.
    pub energy: f64,
    /// The largest force on a particle.
    pub largest_force: f64,
    /// Whether that is as small as was asked for.
    pub converged: bool,
}

impl Simulation {
    /// Move the particles to a minimum of the energy near by; velocities stay what they are. Without `[minimize]` nothing is
    /// done. Collective. The forces must be evaluated anew.
    ///
    /// # Errors
    /// What neighbor lists and gravity can fail with, on all ranks; forces that are not finite are no error here.
    pub fn minimize(&mut self) -> Result<Option<Minimized>> {
        let Some(plan) = self.plan.motion.minimize else { return Ok(None) };
        self.particles.add(&[Field::Descent]);
        let outcome = self.search(&plan);
        self.particles.remove(&[Field::Descent]);
        outcome.map(Some)
    }

    fn search(&mut self, plan: &MinimizePlan) -> Result<Minimized> {
        let mut fire = Fire::new(self.plan.time_step.fixed.unwrap_or(self.next_step));
        let (mut steps, mut parting) = (0, true);
        self.forces(0.0)?;
        let energy_before = self.observe(0.0).potential;
        loop {
            let found = minimize::survey(&mut self.particles, &self.domain.comm);
            let converged = found.largest <= plan.largest_force;
            if converged || steps == plan.most_steps {
                self.clock.lap("minimize");
                let energy = self.observe(0.0).potential;
                return Ok(Minimized {
                    steps,
                    energy_before,
                    energy,
                    largest_force: found.largest,
                    converged,
                });
            }
            let typical = found.typical.max(plan.largest_force);
            parting = parting && (found.largest > OVERLAPPING * typical && steps < MOST_PARTING)
                || found.largest.is_infinite();
            if parting {
                minimize::part(&mut self.particles, typical, plan.largest_displacement, steps);
            } else {
                fire.step(self, &found, plan.largest_displacement);
            }
            steps += 1;
            self.clock.lap("minimize");
            self.forces(0.0)?;
        }
    }
}

/// What FIRE remembers from step to step.
struct Fire {
    longest: f64,
    shortest: f64,
    dt: f64,
    mixing: f64,
    /// Steps with positive power since it was not.
    downhill: u64,
    steps: u64,
}

impl Fire {
    fn new(dt: f64) -> Self {
        Fire { longest: LONGEST * dt, shortest: SHORTEST * dt, dt, mixing: MIXING, downhill: 0, steps: 0 }
    }

    fn step(&mut self, simulation: &mut Simulation, found: &Survey, farthest: f64) {
        let particles = &mut simulation.particles;
        let mut turn = found.turn;
        self.steps += 1;
        if found.power > 0.0 {
            self.downhill += 1;
            if self.downhill > DELAY {
                self.dt = (self.dt * GROWTH).min(self.longest);
                self.mixing *= MIXING_FALL;
            }
        } else {
            self.downhill = 0;
            minimize::stop(particles, self.dt);
            turn = 0.0;
            // the start, at rest, is no sign of a step too long
            if self.steps > DELAY {
                self.dt = (self.dt * FALL).max(self.shortest);
                self.mixing = MIXING;
            }
        }
        minimize::descend(particles, self.dt, self.mixing, turn, farthest);
    }
}
