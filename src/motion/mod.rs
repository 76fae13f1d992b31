//! Motion: how velocities and positions are advanced, and by which time step.

pub mod leapfrog;
pub mod minimize;
pub mod random;
pub mod thermostat;
pub mod time_step;
pub mod verlet;
pub mod whole;
