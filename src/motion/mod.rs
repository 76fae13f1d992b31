//! Time integration: integrators, thermostats and the time step.

pub mod bulk_motion;
pub mod leapfrog;
pub mod minimize;
pub mod random;
pub mod steps;
pub mod thermostat;
pub mod time_step;
pub mod verlet;
