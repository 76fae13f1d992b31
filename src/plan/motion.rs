//! How molecules move.

use serde::{Deserialize, Serialize};

/// `[thermostat.<name>]`
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ThermostatPlan {
    /// Friction and noise on every particle.
    Langevin {
        /// Temperature, > 0.
        temperature: f64,
        /// Rate at which velocities are forgotten, > 0; at most 5 in a `fixed` time step.
        friction: f64,
        /// Seed of the noise.
        seed: u64,
    },
    /// Velocities rescaled by a random factor.
    VelocityRescaling {
        /// Temperature, > 0.
        temperature: f64,
        /// Time in which the kinetic energy forgets a deviation, > 0.
        time_constant: f64,
        /// Seed of the factors.
        seed: u64,
    },
}

/// `[minimize]`
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct MinimizePlan {
    /// The search ends when no particle's force is larger, > 0.
    pub largest_force: f64,
    /// Or after so many steps.
    pub most_steps: u64,
    /// Farthest that a particle is moved in a step, > 0.
    pub largest_displacement: f64,
}

/// How molecules move; only with an interaction is anything here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MotionPlan {
    /// The thermostat; without one the energy is constant.
    pub thermostat: Option<ThermostatPlan>,
    /// Steps after which the center of mass is brought to rest again.
    pub remove_drift: Option<u64>,
    /// The search for a minimum of the energy before the first step.
    pub minimize: Option<MinimizePlan>,
}

impl MotionPlan {
    /// Whether something beside the interaction changes the energy of the particles.
    pub fn exchanges_heat(&self) -> bool {
        self.thermostat.is_some() || self.remove_drift.is_some()
    }
}
