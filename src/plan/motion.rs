//! Plan of the motion of molecules.

use serde::{Deserialize, Serialize};

/// `[thermostat.<name>]`
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ThermostatPlan {
    /// Langevin dynamics: friction and noise on every particle.
    Langevin {
        /// Temperature, > 0.
        temperature: f64,
        /// Friction coefficient (damping rate of velocities), > 0; at most 5 per `fixed` time step.
        friction: f64,
        /// Seed of the noise.
        seed: u64,
    },
    /// Stochastic velocity rescaling (Bussi, Donadio & Parrinello 2007): one random factor for all
    /// velocities.
    VelocityRescaling {
        /// Temperature, > 0.
        temperature: f64,
        /// Relaxation time of the kinetic energy, > 0.
        time_constant: f64,
        /// Seed of the factors.
        seed: u64,
    },
}

/// `[minimize]`
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct MinimizePlan {
    /// Convergence threshold: largest force on a particle, > 0.
    pub largest_force: f64,
    /// Largest number of steps.
    pub most_steps: u64,
    /// Largest displacement of a particle in a step, > 0.
    pub largest_displacement: f64,
}

/// Motion of molecules; without an interaction nothing is set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MotionPlan {
    /// Thermostat; `None`: the energy is conserved.
    pub thermostat: Option<ThermostatPlan>,
    /// Interval in steps at which the velocity of the center of mass is removed.
    pub remove_drift: Option<u64>,
    /// Energy minimization before the first step.
    pub minimize: Option<MinimizePlan>,
}

impl MotionPlan {
    /// Whether thermostat or drift removal change the energy of the particles.
    pub fn exchanges_heat(&self) -> bool {
        self.thermostat.is_some() || self.remove_drift.is_some()
    }
}
