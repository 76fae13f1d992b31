//! Energy minimization before the first step; the moves are in [`crate::motion::minimize`].

use super::Simulation;
use crate::Result;
use crate::motion::minimize::{self, Survey};
use crate::particles::Field;
use crate::plan::MinimizePlan;

/// Overlapping particles are separated while the largest force exceeds this multiple of the typical one; in a
/// liquid the ratio is about 10.
const OVERLAP_RATIO: f64 = 100.0;
/// Maximum number of separation steps while all forces are finite.
const MAX_SEPARATION_STEPS: u64 = 200;

// Constants of FIRE as recommended by Guenole et al. 2020: maximum and minimum step relative to the first;
// steps with positive power before the step grows; growth and decrease factors of the step; initial mixing
// and its decrease factor.
const LONGEST: f64 = 10.0;
const SHORTEST: f64 = 0.02;
const DELAY: u64 = 20;
const GROWTH: f64 = 1.1;
const FALL: f64 = 0.5;
const MIXING: f64 = 0.25;
const MIXING_FALL: f64 = 0.99;

/// Result of a minimization.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Minimized {
    /// Number of steps.
    pub steps: u64,
    /// Potential energy of all particles before; infinite or NaN if particles coincided.
    pub energy_before: f64,
    /// Potential energy after.
    pub energy: f64,
    /// Largest force on a particle.
    pub largest_force: f64,
    /// Whether it is at most the requested value.
    pub converged: bool,
}

impl Simulation {
    /// Moves the particles to a nearby minimum of the energy; velocities are unchanged. `None` without
    /// `[minimize]`. Evaluate the forces afterwards. Collective.
    ///
    /// # Errors
    /// Those of neighbor lists and gravity, on all ranks. Forces that are not finite are no error here.
    pub fn minimize(&mut self) -> Result<Option<Minimized>> {
        let Some(plan) = self.plan.motion.minimize else { return Ok(None) };
        self.particles.add(&[Field::Descent]);
        let outcome = self.search(&plan);
        self.particles.remove(&[Field::Descent]);
        outcome.map(Some)
    }

    fn search(&mut self, plan: &MinimizePlan) -> Result<Minimized> {
        let mut fire = Fire::new(self.plan.time_step.fixed.unwrap_or(self.next_step));
        let (mut steps, mut separating) = (0, true);
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
            separating = separating
                && (found.largest > OVERLAP_RATIO * typical && steps < MAX_SEPARATION_STEPS)
                || found.largest.is_infinite();
            if separating {
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

/// State of FIRE.
struct Fire {
    longest: f64,
    shortest: f64,
    dt: f64,
    mixing: f64,
    /// Consecutive steps with positive power.
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
            // at the start, from rest, zero power does not mean that the step is too long
            if self.steps > DELAY {
                self.dt = (self.dt * FALL).max(self.shortest);
                self.mixing = MIXING;
            }
        }
        minimize::descend(particles, self.dt, self.mixing, turn, farthest);
    }
}
